import { useRef, type ReactNode } from 'react';
import { agentModes, type Connection, type ConversationSummary } from '../../../protocol/src/agent.ts';
import { ModelPicker } from './modelPicker.tsx';
import { QuietButton } from './quietButton.tsx';
import { useClient } from './workbenchClient.ts';
import { workbenchWords as words } from './workbenchWords.ts';

export interface ComposerBarProps {
  readonly connections: readonly Connection[];
  readonly summary: ConversationSummary | null;
  readonly onFiles: (files: FileList) => void;
  readonly end: ReactNode;
}

/** What a conversation begins with (`WorkbenchController`). */
const firstMode = 'act';

/** Below what is typed: mode, model, pictures, send. */
export function ComposerBar({ connections, summary, onFiles, end }: ComposerBarProps) {
  const client = useClient();
  const files = useRef<HTMLInputElement>(null);
  return (
    <div className="composer-bar">
      <div className="modes" role="group" aria-label={words.mode}>
        {agentModes.map((mode) => (
          <button
            key={mode}
            type="button"
            title={words.modeHints[mode]}
            aria-pressed={(summary?.mode ?? firstMode) === mode}
            onClick={() => client.configure({ mode })}
          >
            {words.modes[mode]}
          </button>
        ))}
      </div>
      <ModelPicker connections={connections} summary={summary} />
      <span className="spring" />
      <QuietButton icon="attach" label={words.attach} onClick={() => files.current?.click()} />
      <input
        ref={files}
        type="file"
        hidden
        multiple
        accept="image/png,image/jpeg,image/webp,image/gif"
        aria-label={words.attach}
        onChange={(event) => {
          if (event.target.files) onFiles(event.target.files);
          event.target.value = '';
        }}
      />
      {end}
    </div>
  );
}
