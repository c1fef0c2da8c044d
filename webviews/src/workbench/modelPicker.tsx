import type { Connection, ConversationSummary } from '../../../protocol/src/agent.ts';
import { showHidden } from '../../../protocol/src/text.ts';
import { useClient } from './workbenchClient.ts';
import { workbenchWords as words } from './workbenchWords.ts';

export interface ModelPickerProps {
  readonly connections: readonly Connection[];
  readonly summary: ConversationSummary | null;
}

/** The models of the connections that a person made, by connection. */
export function ModelPicker({ connections, summary }: ModelPickerProps) {
  const client = useClient();
  const options = connections.flatMap((connection) =>
    connection.models.map((model) => ({ connection: connection.id, model: model.id })),
  );
  // A conversation that is made with its first message begins with the first model.
  const current =
    summary === null
      ? Math.min(0, options.length - 1)
      : options.findIndex((each) => each.connection === summary.connection && each.model === summary.model);
  return (
    <select
      className="pick"
      aria-label={words.model}
      title={words.model}
      value={current}
      onChange={(event) => {
        const chosen = options[Number(event.target.value)];
        if (chosen) client.configure(chosen);
      }}
    >
      {current < 0 ? <option value={-1}>{words.noModel}</option> : null}
      {connections.map((connection) => (
        <optgroup key={connection.id} label={showHidden(connection.name)}>
          {connection.models.map((model) => (
            <option
              key={model.id}
              value={options.findIndex(
                (each) => each.connection === connection.id && each.model === model.id,
              )}
            >
              {showHidden(model.name)}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  );
}

/** What is known of the model that answers; undefined where none is chosen. */
export function modelOf(connections: readonly Connection[], summary: ConversationSummary | null) {
  return connections
    .find(({ id }) => id === summary?.connection)
    ?.models.find(({ id }) => id === summary?.model);
}
