import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, read } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { bulkCodes, bulkErrorBytes } from '../../../../protocol/src/bulkTransfer.ts';
import { isErrorCode, UserError } from '../../../../protocol/src/errors.ts';
import type { BlobStore, StoredBlob } from '../../../../remote-agent/src/files/blobStore.ts';
import { ByteReader } from '../../../../remote-agent/src/files/byteReader.ts';
import { openIncomingFile } from '../../../../remote-agent/src/files/incomingFile.ts';
import { listingLimitBytes } from '../../../../remote-agent/src/files/treePath.ts';

const readAt = promisify(read);
/** One write of this size keeps a fast link busy and a slow one responsive. */
const chunkBytes = 256 * 1024;

/**
 * Copies blobs to a served runner over one bulk stream, many operations on the way at once. Resolves with the number of
 * bytes when all are stored there. Throws what the runner answered (`disk-full`, …), and `closed` where the stream
 * ended before: what was stored by then stays there.
 */
export async function putBlobs(
  stream: Duplex,
  store: BlobStore,
  blobs: readonly StoredBlob[],
  onSent: (bytes: number) => void = () => undefined,
): Promise<number> {
  const reader = new ByteReader(stream);
  const failed = new AbortController();
  const answers = (async () => {
    for (const { digest } of blobs) {
      const code = await need(reader, 1);
      if (code[0] === bulkCodes.stored) continue;
      throw await refusal(reader, code, `Failed to copy ${digest}`);
    }
  })();
  answers.catch(() => failed.abort());
  let sent = 0;
  try {
    const writer = new Writer(stream, failed.signal);
    for (const blob of blobs) {
      sent += await sendBlob(writer, store, blob, onSent);
      if (failed.signal.aborted) break;
    }
    await writer.flush();
  } catch (error) {
    // What the runner said comes first: it is why the stream ended.
    await answers;
    throw error;
  }
  await answers;
  return sent;
}

async function sendBlob(
  writer: Writer,
  store: BlobStore,
  { digest }: StoredBlob,
  onSent: (bytes: number) => void,
): Promise<number> {
  let descriptor: number;
  try {
    descriptor = openSync(store.pathOf(digest), 'r');
  } catch (error) {
    throw new UserError('not-found', `The stored result ${digest} was removed`, { digest }, { cause: error });
  }
  try {
    const { size } = fstatSync(descriptor);
    const head = Buffer.alloc(41);
    head[0] = bulkCodes.put;
    head.write(digest, 1, 'hex');
    head.writeBigUInt64BE(BigInt(size), 33);
    await writer.write(head);
    // Two buffers in turns: one is filled while the stream has the other, and nothing is left for the collector.
    const turns: Turn[] = [newTurn(size), newTurn(size)];
    for (let at = 0; at < size;) {
      const turn = turns.shift() ?? newTurn(size);
      turns.push(turn);
      await turn.free;
      const { bytesRead } = await readAt(
        descriptor,
        turn.buffer,
        0,
        Math.min(turn.buffer.length, size - at),
        at,
      );
      if (bytesRead === 0) throw new UserError('store-damaged', `${digest} became shorter`, { digest });
      await writer.flush();
      turn.free = writer.lend(turn.buffer.subarray(0, bytesRead));
      at += bytesRead;
      onSent(bytesRead);
    }
    await Promise.all(turns.map(({ free }) => free));
    return size;
  } finally {
    closeSync(descriptor);
  }
}

/** A blob to fetch; of a listing only the largest size is known beforehand. */
export interface WantedBlob {
  readonly digest: string;
  readonly sizeBytes: number | 'listing';
}

/** A buffer, and when it is free again. */
interface Turn {
  readonly buffer: Buffer;
  free: Promise<void>;
}

function newTurn(size: number): Turn {
  return { buffer: Buffer.allocUnsafeSlow(Math.min(size, chunkBytes)), free: Promise.resolve() };
}

/** How many gets are asked for ahead of the answers. */
const askedAhead = 64;

/**
 * Fetches blobs from a served runner into the store, each checked against its digest before it is kept. A blob of
 * another size than `sizeBytes` says is refused before its bytes are taken: what a runner says is not trusted with the
 * disk. Throws `store-damaged`, `disk-full`, `not-found`, `closed`.
 */
export async function getBlobs(
  stream: Duplex,
  store: BlobStore,
  blobs: readonly WantedBlob[],
): Promise<void> {
  const reader = new ByteReader(stream);
  const writer = new Writer(stream, new AbortController().signal);
  let asked = 0;
  for (const [index, blob] of blobs.entries()) {
    for (; asked < Math.min(blobs.length, index + askedAhead); asked++) {
      const head = Buffer.alloc(33);
      head[0] = bulkCodes.get;
      head.write(blobs[asked]?.digest ?? '', 1, 'hex');
      await writer.write(head);
    }
    await writer.flush();
    await receiveBlob(reader, store, blob);
  }
}

async function receiveBlob(reader: ByteReader, store: BlobStore, blob: WantedBlob): Promise<void> {
  const { digest, sizeBytes } = blob;
  const code = await need(reader, 1);
  if (code[0] !== bulkCodes.data) throw await refusal(reader, code, `Failed to fetch ${digest}`);
  const size = Number((await need(reader, 8)).readBigUInt64BE());
  if (sizeBytes === 'listing' ? size > listingLimitBytes : size !== sizeBytes)
    throw damaged(digest, `${size} bytes instead of ${sizeBytes}`);
  const file = openIncomingFile(join(store.folder, 'incoming'));
  try {
    const sum = createHash('sha256');
    for await (const piece of reader.pieces(size)) {
      sum.update(piece);
      await file.append(piece);
    }
    if (sum.digest('hex') !== digest) throw damaged(digest, 'other bytes');
    file.keep(store.pathOf(digest));
  } catch (error) {
    file.drop();
    throw error instanceof UserError ? error : closed(error);
  }
}

const refusalText = z.object({ code: z.string(), message: z.string() });

async function refusal(reader: ByteReader, code: Buffer, doing: string): Promise<UserError> {
  if (code[0] !== bulkCodes.failed) return new UserError('bad-message', `${doing}: the answer is none`);
  const length = (await need(reader, 4)).readUInt32BE();
  if (length > bulkErrorBytes) return new UserError('bad-message', `${doing}: the answer is too long`);
  const text = (await need(reader, length)).toString('utf8');
  const parsed = refusalText.safeParse(parseJson(text));
  if (!parsed.success) return new UserError('bad-message', `${doing}: the answer has no form`);
  const known = isErrorCode(parsed.data.code) ? parsed.data.code : 'internal';
  return new UserError(known, `${doing} over there: ${parsed.data.message}`);
}

async function need(reader: ByteReader, count: number): Promise<Buffer> {
  let bytes: Buffer | undefined;
  try {
    bytes = await reader.read(count);
  } catch (error) {
    throw closed(error);
  }
  if (!bytes) throw closed(undefined);
  return bytes;
}

/** Gathers small writes, and waits where the stream is full, has ended, or is no longer wanted. */
class Writer {
  readonly #stream: Duplex;
  readonly #stop: AbortSignal;
  #held: Uint8Array[] = [];
  #heldBytes = 0;

  constructor(stream: Duplex, stop: AbortSignal) {
    this.#stream = stream;
    this.#stop = stop;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes >= chunkBytes) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#heldBytes === 0 || this.#stop.aborted) return;
    const bytes = this.#held.length === 1 ? (this.#held[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    if (this.#stream.destroyed || this.#stream.writableEnded) throw closed(undefined);
    if (!this.#stream.write(bytes)) await this.#room();
  }

  /** Gives these bytes to the stream as they are. Settles when they are the caller's again, whatever became of them. */
  lend(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#stream.off('close', done);
        this.#stop.removeEventListener('abort', done);
        resolve();
      };
      if (this.#stop.aborted || this.#stream.destroyed || this.#stream.writableEnded) {
        resolve();
        return;
      }
      this.#stream.once('close', done);
      this.#stop.addEventListener('abort', done, { once: true });
      this.#stream.write(bytes, done);
    });
  }

  #room(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#stream.off('drain', done).off('close', done);
        this.#stop.removeEventListener('abort', done);
        resolve();
      };
      this.#stream.once('drain', done).once('close', done);
      this.#stop.addEventListener('abort', done, { once: true });
    });
  }
}

function damaged(digest: string, found: string): UserError {
  return new UserError('store-damaged', `What came for the result ${digest} is not that: ${found}`, {
    digest,
  });
}

function closed(cause: unknown): UserError {
  return new UserError('closed', 'The connection was lost while a result was copied', {}, { cause });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
