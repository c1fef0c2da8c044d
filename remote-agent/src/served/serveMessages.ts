import { Channel, type Transport } from '../../../protocol/src/channel.ts';
import type { RequestHandlers, ResultOf } from '../../../protocol/src/contract.ts';
import { servedEvents, servedSide } from '../../../protocol/src/servedRunner.ts';
import type { BlobStore } from '../files/blobStore.ts';

type Requests = (typeof servedSide)['requests'];
export type ServedHandlers = RequestHandlers<Requests>;

/** One engine's connection, while it lasts. */
export interface ServedMessages {
  readonly channel: Channel<typeof servedSide, typeof servedEvents>;
  /** Aborted when it has closed. */
  readonly gone: AbortSignal;
  /** Resolves when it has closed. */
  readonly closed: Promise<void>;
}

/** Speaks the messages of a served runner (protocol/src/servedRunner.ts) over this transport. */
export function serveMessages(
  transport: Transport,
  handlers: ServedHandlers,
  onProblem: (doing: string, error: unknown) => void,
): ServedMessages {
  const gone = new AbortController();
  const closed = new Promise<void>((resolve) => {
    gone.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const channel: ServedMessages['channel'] = new Channel(transport, servedEvents, {
    local: servedSide,
    requestHandlers: handlers,
    notificationHandlers: {},
    onBadMessage: (method, problem) => onProblem(`understand ${method}`, problem),
    onClose: () => gone.abort(),
  });
  return { channel, gone: gone.signal, closed };
}

/** The answer to `blob/missing`: which of these are not there in full. */
export function missingOf(
  store: Pick<BlobStore, 'sizeOf'>,
  blobs: readonly { readonly digest: string; readonly sizeBytes: number }[],
): ResultOf<Requests['blob/missing']> {
  const missing = blobs.filter(({ digest, sizeBytes }) => store.sizeOf(digest) !== sizeBytes);
  return { missing: missing.map(({ digest }) => digest) };
}

/**
 * The answer to `job/submit`: what is missing, or that the job was accepted. `follow` is called after the answer, which
 * says that there is something to hear.
 */
export function submitAnswer(
  missing: Iterable<string> | undefined,
  follow: () => void,
): ResultOf<Requests['job/submit']> {
  if (missing) return { kind: 'missing', blobs: [...missing] };
  setImmediate(follow);
  return { kind: 'accepted' };
}
