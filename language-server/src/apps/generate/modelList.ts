import type { Connection } from '../../../../protocol/src/agent.ts';
import { BridgeError } from '../../../../protocol/src/bridge.ts';
import type { GenerateKind } from '../../../../protocol/src/manifests.ts';
import { showHidden } from '../../../../protocol/src/text.ts';

export interface ListedModel {
  /** What a call names: the connection's id and the model's. */
  readonly id: string;
  readonly name: string;
  readonly kind: GenerateKind;
}

export interface ChosenModel {
  readonly connection: Connection;
  readonly modelId: string;
  /** As apps see it. */
  readonly id: string;
}

/** What the connections that a person made offer to apps. No address and no key is in it. */
export interface ModelList {
  list(kind?: GenerateKind): ListedModel[];
  voices(): { id: string; name: string }[];
  /** The one that is named, or the first of its kind. Throws `BridgeError` `no-model`. */
  choose(kind: GenerateKind, id: string | undefined): ChosenModel;
}

/** `connections` is asked at each call, so that what a person changes holds at once. */
export function createModelList(connections: () => readonly Connection[]): ModelList {
  const all = () =>
    connections().flatMap((connection) =>
      connection.models.map((model) => ({
        connection,
        modelId: model.id,
        id: `${connection.id}/${model.id}`,
        name: showHidden(`${model.name} (${connection.name})`).slice(0, 200),
        kind: kindOf(connection, model.id),
      })),
    );
  return {
    list: (kind) =>
      all()
        .filter((each) => (kind === undefined || each.kind === kind) && each.id.length <= 200)
        .slice(0, mostListed)
        .map(({ id, name, kind: own }) => ({ id, name, kind: own })),
    voices: () =>
      all().some(({ kind }) => kind === 'speech')
        ? voiceNames.map((id) => ({ id, name: `${id.slice(0, 1).toUpperCase()}${id.slice(1)}` }))
        : [],
    choose: (kind, id) => {
      const found = all().find((each) => each.kind === kind && (id === undefined || each.id === id));
      if (found) return found;
      throw new BridgeError(
        'no-model',
        id === undefined
          ? `No connected model makes ${kind}. A person adds one with “Sallyport: Manage Connections”.`
          : `No connected model of that name makes ${kind}.`,
      );
    },
  };
}

const mostListed = 2000;

/** Wire formats that have more than text tell what a model is for only by its name. */
export function kindOf({ kind }: Pick<Connection, 'kind'>, modelId: string): GenerateKind {
  if (kind === 'anthropic' || kind === 'vscode') return 'text';
  if (/embed|^(bge|gte|e5)[-_]|minilm/i.test(modelId)) return 'embedding';
  if (kind === 'ollama') return 'text';
  if (/(^|[/-])(gpt-image|chatgpt-image|dall-e)/i.test(modelId)) return 'image';
  return /(^|[/-])tts(-|$)/i.test(modelId) ? 'speech' : 'text';
}

/** The voices of OpenAI's speech API, which those that are compatible with it take too. */
const voiceNames = [
  'alloy',
  'ash',
  'ballad',
  'coral',
  'echo',
  'fable',
  'nova',
  'onyx',
  'sage',
  'shimmer',
  'verse',
];
