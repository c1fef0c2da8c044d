import type { Connection } from '../../../../protocol/src/agent.ts';
import type { Json } from '../../../../protocol/src/canonicalJson.ts';
import type { Act } from '../../gate/act.ts';
import type { EgressRecord } from '../../../../protocol/src/runner.ts';
import type { Gate } from '../../gate/gate.ts';
import type { SentRecords } from '../conversations/sentRecords.ts';
import type { StoredConversation } from '../conversations/conversationRecords.ts';
import { openModel } from '../providers/models.ts';
import type { ConnectedModel } from '../providers/models.ts';
import type { BrokerWatch } from '../providers/brokerFetch.ts';
import { connectionEgress, connectionTarget } from '../providers/connectionFacts.ts';
import { isPassing, ProviderFailure, toFailure } from '../providers/failures.ts';
import type { ModelTool, Prompt } from '../providers/model.ts';
import type { PersonSide } from '../providers/personSide.ts';
import { readAnswer, type Answer, type AnswerListener, type WireState } from './answer.ts';

/** How often one request is tried in all, and how long a wait may be that a provider asks for. */
const mostTries = 3;
const longestWaitMs = 60_000;
/** A first byte later than this is told; nothing at all for the second is given up. */
const slowMs = 20_000;
const silentMs = 300_000;

export interface RequestParts {
  readonly gate: Gate;
  readonly person: PersonSide;
  readonly sent: SentRecords;
  /** One line of the egress log; `project` is what history hangs on. */
  readonly logEgress: (project: string, record: EgressRecord) => void;
  readonly createId: () => string;
  readonly now: () => number;
  readonly setTimer: (run: () => void, ms: number) => () => void;
}

export interface ModelRequest {
  readonly conversation: StoredConversation;
  readonly connection: Connection;
  readonly model: string;
  readonly prompt: (connected: ConnectedModel) => Prompt;
  readonly tools: (connected: ConnectedModel) => readonly ModelTool[];
  readonly listener: AnswerListener;
  /** Nothing has come for a while. */
  readonly onSlow: () => void;
  /** It failed before anything of the answer came, and is tried again after this time. */
  readonly onRetry: (failure: ProviderFailure, waitMs: number) => void;
}

/**
 * One answer of a model. Each try is an act of its own that passes the gate and leaves a receipt. It is tried again,
 * few times, where the failure may pass and nothing of an answer had come, so nothing can be done twice. Rejects with
 * `ProviderFailure` or the signal's reason.
 */
export async function requestAnswer(
  parts: RequestParts,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Answer> {
  for (let tried = 1; ; tried++) {
    const wire: WireState = { hasOutput: false, tail: null };
    try {
      return await tryOnce(parts, request, wire, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const failure = toFailure(error);
      const waitMs = failure.retryAfterMs ?? 1000 * 2 ** (tried - 1);
      if (!isPassing(failure) || wire.hasOutput || tried >= mostTries || waitMs > longestWaitMs)
        throw failure;
      request.onRetry(failure, waitMs);
      await pause(parts, waitMs, signal);
    }
  }
}

async function tryOnce(
  parts: RequestParts,
  request: ModelRequest,
  wire: WireState,
  signal: AbortSignal,
): Promise<Answer> {
  let answer: Answer | undefined;
  let failure: ProviderFailure | undefined;
  const result = await parts.gate.pass(
    providerAct(parts, request),
    async (each): Promise<Json> => {
      try {
        answer = await ask(parts, request, wire, each);
        return { finish: answer.finish };
      } catch (error) {
        if (!each.aborted) failure = toFailure(error);
        throw error;
      }
    },
    signal,
  );
  if (answer && result.kind === 'done') return answer;
  if (failure) throw failure;
  if (signal.aborted) throw signal.reason;
  throw new ProviderFailure('connection', 'reason' in result ? result.reason : 'The request did not end');
}

async function ask(
  { person, sent, logEgress, now, setTimer }: RequestParts,
  request: ModelRequest,
  wire: WireState,
  signal: AbortSignal,
): Promise<Answer> {
  const { conversation, connection, listener } = request;
  const silence = new AbortController();
  const record = { id: 0, at: now(), status: null as number | null, sent: 0, received: 0 };
  let stopSilence: () => void = () => undefined;
  const rewind = () => {
    stopSilence();
    stopSilence = setTimer(() => silence.abort(new ProviderFailure('silent', '')), silentMs);
  };
  const stopSlow = setTimer(() => request.onSlow(), slowMs);
  const watch: BrokerWatch = {
    sent: ({ path, body }) => {
      record.sent = Buffer.byteLength(body);
      record.id = sent.begin(conversation.num, now(), connection.name, path, body);
    },
    answered: (status) => {
      record.status = status;
    },
    received: (bytes) => {
      if (bytes > 0) stopSlow();
      record.received += bytes;
      rewind();
    },
    ended: (tail) => {
      if (connection.kind !== 'vscode') wire.tail = tail;
    },
  };
  const either = AbortSignal.any([signal, silence.signal]);
  rewind();
  try {
    const connected = await openModel(person, connection, request.model, watch);
    return await readAnswer(
      connected,
      request.prompt(connected),
      request.tools(connected),
      wire,
      listener,
      either,
    );
  } finally {
    stopSlow();
    stopSilence();
    if (record.id !== 0) {
      sent.end(record.id, record.status, record.received);
      const line = connectionEgress(connection, record);
      if (line) logEgress(conversation.scope, line);
    }
  }
}

function providerAct({ createId }: RequestParts, { conversation, connection, model }: ModelRequest): Act {
  const id = createId();
  return {
    opId: `provider:${id}`,
    principal: 'agent',
    conversation: conversation.id,
    root: conversation.root,
    scope: conversation.scope,
    callId: id,
    tool: 'provider',
    effect: 'provider',
    args: { connection: connection.id, model },
    permissions: [],
    measure: async () => [connectionTarget(connection)],
    describe: () => ({ title: `Send this conversation to ${connection.name}`, lines: [], fullText: null }),
  };
}

function pause({ setTimer }: RequestParts, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      stop();
      reject(signal.reason as Error);
    };
    const stop = setTimer(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
