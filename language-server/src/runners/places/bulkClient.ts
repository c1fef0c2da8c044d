import { closeSync, openSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import * as z from 'zod/mini';
import { bulkCodes, bulkErrorBytes, bulkHeadBytes } from '../../../../protocol/src/bulkTransfer.ts';
import { isErrorCode, UserError } from '../../../../protocol/src/errors.ts';
import type { BlobStore, StoredBlob } from '../../../../remote-agent/src/files/blobStore.ts';
import { ByteReader } from '../../../../remote-agent/src/files/byteReader.ts';
import { toFileError } from '../../../../remote-agent/src/files/fileError.ts';
import { IncomingBlob } from '../../../../remote-agent/src/files/incomingBlob.ts';
import { sendFile, ShorterFile } from '../../../../remote-agent/src/files/sendFile.ts';
import { StreamEnded, StreamWriter } from '../../../../remote-agent/src/files/streamWriter.ts';
import { listingLimitBytes } from '../../../../remote-agent/src/files/treePath.ts';

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
    const writer = new StreamWriter(stream, failed.signal);
    for (const blob of blobs) {
      sent += await sendBlob(writer, store, blob, onSent, failed.signal);
      if (failed.signal.aborted) break;
    }
    await writer.flush().catch((error: unknown) => {
      throw closed(error);
    });
  } catch (error) {
    // What the runner said comes first: it is why the stream ended. About what failed here it says nothing.
    if (error instanceof UserError && error.code === 'closed') await answers;
    throw error;
  }
  await answers;
  return sent;
}

async function sendBlob(
  writer: StreamWriter,
  store: BlobStore,
  { digest }: StoredBlob,
  onSent: (bytes: number) => void,
  signal: AbortSignal,
): Promise<number> {
  let descriptor: number;
  try {
    descriptor = openSync(store.pathOf(digest), 'r');
  } catch (error) {
    throw new UserError('not-found', `The stored result ${digest} was removed`, { digest }, { cause: error });
  }
  try {
    return await sendFile(writer, descriptor, { head: (size) => putHead(digest, size), onSent, signal });
  } catch (error) {
    if (error instanceof StreamEnded) throw closed(error);
    if (error instanceof ShorterFile)
      throw new UserError('store-damaged', `${digest} became shorter`, { digest }, { cause: error });
    throw toFileError(error, 'read the stored result', store.pathOf(digest));
  } finally {
    closeSync(descriptor);
  }
}

function putHead(digest: string, size: number): Buffer {
  const head = Buffer.alloc(bulkHeadBytes.put);
  head[0] = bulkCodes.put;
  head.write(digest, 1, 'hex');
  head.writeBigUInt64BE(BigInt(size), 33);
  return head;
}

/** A blob to fetch; of a listing only the largest size is known beforehand. */
export interface WantedBlob {
  readonly digest: string;
  readonly sizeBytes: number | 'listing';
}

/** How many gets are asked for ahead of the answers: requests are small, and a far host answers late. */
const askedAhead = 1024;

/**
 * Fetches blobs from a served runner into the store, each checked against its digest before it is kept. A blob of
 * another size than `sizeBytes` says is refused before its bytes are taken: what a runner says is not trusted with the
 * disk. `letGo` gets the pieces of the stream that nobody needs any more. Throws `store-damaged`, `disk-full`,
 * `not-found`, `closed`.
 */
export async function getBlobs(
  stream: Duplex,
  store: BlobStore,
  blobs: readonly WantedBlob[],
  letGo?: (piece: Uint8Array) => void,
): Promise<void> {
  const reader = new ByteReader(stream);
  let asked = 0;
  for (const [index, blob] of blobs.entries()) {
    if (asked - index <= askedAhead / 2) {
      const next = blobs.slice(asked, index + askedAhead);
      asked += next.length;
      // Never waited for: a runner that waits for its answers to be read would wait for ever.
      if (next.length > 0) stream.write(Buffer.concat(next.map(({ digest }) => getHead(digest))));
    }
    await receiveBlob(reader, store, blob, letGo);
  }
}

function getHead(digest: string): Buffer {
  const head = Buffer.alloc(bulkHeadBytes.get);
  head[0] = bulkCodes.get;
  head.write(digest, 1, 'hex');
  return head;
}

async function receiveBlob(
  reader: ByteReader,
  store: BlobStore,
  wanted: WantedBlob,
  letGo: ((piece: Uint8Array) => void) | undefined,
): Promise<void> {
  const { digest, sizeBytes } = wanted;
  const code = await need(reader, 1);
  if (code[0] !== bulkCodes.data) throw await refusal(reader, code, `Failed to fetch ${digest}`);
  const size = Number((await need(reader, 8)).readBigUInt64BE());
  if (sizeBytes === 'listing' ? size > listingLimitBytes : size !== sizeBytes)
    throw new UserError(
      'store-damaged',
      `What came for the result ${digest} is not that: ${size} bytes instead of ${sizeBytes}`,
      { digest },
    );
  const blob = new IncomingBlob(store, digest, letGo);
  try {
    for await (const piece of reader.pieces(size)) await blob.add(piece);
    await blob.keep();
  } catch (error) {
    await blob.drop();
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
