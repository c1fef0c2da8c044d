import { BridgeError } from '../../../../protocol/src/bridge.ts';
import type { Json } from '../../../../protocol/src/canonicalJson.ts';
import type { Principal } from '../../../../protocol/src/gate.ts';
import type { GenerateKind } from '../../../../protocol/src/manifests.ts';
import type { EgressRecord } from '../../../../protocol/src/runner.ts';
import type { BrokerWatch } from '../../agent/providers/brokerFetch.ts';
import { connectionEgress, connectionTarget } from '../../agent/providers/connectionFacts.ts';
import { ProviderFailure, toFailure } from '../../agent/providers/failures.ts';
import type { PersonSide } from '../../agent/providers/personSide.ts';
import type { Act } from '../../gate/act.ts';
import type { Gate } from '../../gate/gate.ts';
import type { Generate, GenerateOptions, GenerateParams, GenerateResult } from '../../plugins/generate.ts';
import { askEmbedding, askImage, askSpeech } from './askProvider.ts';
import { askText } from './askText.ts';
import type { ChosenModel, ModelList } from './modelList.ts';

export interface GenerateParts {
  readonly models: ModelList;
  readonly person: PersonSide;
  /** The gate is opened when the first model is asked. */
  readonly gate: () => Promise<Gate>;
  readonly recordEgress: (by: Principal, record: EgressRecord) => void;
  readonly createId: () => string;
  readonly now: () => number;
  readonly timeoutMs?: number;
}

/** What one request needs beside its parameters. */
export interface ProviderCall {
  readonly chosen: ChosenModel;
  readonly person: PersonSide;
  readonly watch: BrokerWatch;
  readonly signal: AbortSignal;
  readonly onText: ((piece: string) => void) | undefined;
}

type Ask<K extends GenerateKind> = (
  params: GenerateParams<K>,
  call: ProviderCall,
) => Promise<GenerateResult<K>>;
const asks: { readonly [K in GenerateKind]: Ask<K> } = {
  text: askText,
  image: askImage,
  speech: askSpeech,
  embedding: askEmbedding,
};

/**
 * Asks models for apps and plugins. Each request is an act that passes the gate and leaves a receipt and a line of the
 * egress log; the extension makes it, so that key and address stay there.
 */
export function createGenerate(parts: GenerateParts): Generate {
  return async (by, kind, params, { signal, onText }) => {
    const chosen = parts.models.choose(kind, params.model);
    const either = AbortSignal.any([signal, AbortSignal.timeout(parts.timeoutMs ?? longestMs)]);
    let value: GenerateResult<typeof kind> | undefined;
    let failure: unknown;
    const result = await (
      await parts.gate()
    ).pass(
      providerAct(by, kind, chosen, parts.createId()),
      async (each): Promise<Json> => {
        try {
          value = await send(parts, by, kind, params, { chosen, signal: each, onText });
          return { model: chosen.id };
        } catch (error) {
          failure = error;
          throw error;
        }
      },
      either,
    );
    if (signal.aborted) throw new BridgeError('cancelled', 'Cancelled.');
    if (either.aborted) throw new BridgeError('timeout', 'The model took too long.');
    if (value !== undefined && result.kind === 'done') return value;
    if (failure !== undefined) throw toBridgeError(failure);
    throw new BridgeError('not-allowed', 'reason' in result ? result.reason : 'The request did not end.');
  };
}

const longestMs = 5 * 60_000;

async function send<K extends GenerateKind>(
  { person, recordEgress, now }: GenerateParts,
  by: Principal,
  kind: K,
  params: GenerateParams<K>,
  { chosen, signal, onText }: { chosen: ChosenModel } & GenerateOptions,
): Promise<GenerateResult<K>> {
  const record = { at: now(), status: null as number | null, sent: 0, received: 0 };
  const watch: BrokerWatch = {
    sent: ({ body }) => void (record.sent = Buffer.byteLength(body)),
    answered: (status) => void (record.status = status),
    received: (bytes) => void (record.received += bytes),
    ended: () => undefined,
  };
  try {
    return await (asks[kind] as unknown as Ask<K>)(params, { chosen, person, watch, signal, onText });
  } finally {
    const line = connectionEgress(chosen.connection, record);
    if (line) recordEgress(by, line);
  }
}

/** Apps belong to no project; their acts stand under a scope of their own. */
function providerAct(
  by: Principal,
  kind: GenerateKind,
  { connection, modelId }: ChosenModel,
  id: string,
): Act {
  return {
    opId: `provider:${id}`,
    principal: by,
    conversation: null,
    root: '',
    scope: by,
    callId: id,
    tool: `generate.${kind}`,
    effect: 'provider',
    args: { connection: connection.id, model: modelId, kind },
    permissions: [],
    measure: async () => [connectionTarget(connection)],
    describe: () => ({ title: `Ask ${connection.name} for ${kind}`, lines: [], fullText: null }),
  };
}

/** In words that hold nothing of the provider's answer. */
function toBridgeError(error: unknown): BridgeError {
  if (error instanceof BridgeError) return error;
  const { kind } = error instanceof ProviderFailure ? error : toFailure(error);
  switch (kind) {
    case 'rate-limit':
    case 'overloaded':
      return new BridgeError('too-many', 'The model takes no more requests for now. Try again in a while.');
    case 'too-long':
      return new BridgeError('too-large', 'The request is longer than the model reads.');
    case 'key':
    case 'connection':
      return new BridgeError(
        'no-model',
        'The connection to the model can’t be used. A person looks at it with “Sallyport: Manage Connections”.',
      );
    case 'rejected':
      return new BridgeError('bad-params', 'The model refused the request.');
    default:
      return new BridgeError('unavailable', 'The model did not answer whole. Try again in a while.');
  }
}
