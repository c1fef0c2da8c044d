import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, read } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { bulkCodes, bulkErrorBytes } from '../../../protocol/src/bulkTransfer.ts';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import type { BlobStore } from '../files/blobStore.ts';
import { openIncomingFile } from '../files/incomingFile.ts';
import type { ByteReader } from '../files/byteReader.ts';

const readAt = promisify(read);
const chunkBytes = 256 * 1024;
/** Few large writes: each costs a trip to the thread pool. */
const writeBytes = 1024 * 1024;

/**
 * Answers the operations of one bulk stream (protocol/src/bulkTransfer.ts) until it ends. Throws where the stream does
 * not keep the framing: such a stream can't be read further.
 */
export async function serveBulk(stream: Duplex, reader: ByteReader, store: BlobStore): Promise<void> {
  for (let code = await reader.read(1); code; code = await reader.read(1)) {
    const digest = (await need(reader, 32)).toString('hex');
    if (code[0] === bulkCodes.put) {
      const sizeBytes = Number((await need(reader, 8)).readBigUInt64BE());
      await send(stream, await receive(reader, store, digest, sizeBytes));
    } else if (code[0] === bulkCodes.get) await give(stream, store, digest);
    else throw new Error('not an operation of a bulk stream');
  }
}

/** Takes the bytes of a put and returns the answer. What can't be stored is read all the same. */
async function receive(
  reader: ByteReader,
  store: BlobStore,
  digest: string,
  sizeBytes: number,
): Promise<Buffer> {
  let refusal: unknown;
  let file: ReturnType<typeof openIncomingFile> | undefined;
  const sum = createHash('sha256');
  try {
    file = openIncomingFile(join(store.folder, 'incoming'));
  } catch (error) {
    refusal = error;
  }
  /** The write that goes on while more is read and hashed. */
  let writing = Promise.resolve();
  let held: Buffer[] = [];
  let heldBytes = 0;
  const flush = async (): Promise<void> => {
    await writing;
    const bytes = held.length === 1 ? held[0] : Buffer.concat(held);
    [held, heldBytes] = [[], 0];
    if (refusal || !bytes) return;
    writing = (file?.append(bytes) ?? Promise.resolve()).catch((error: unknown) => {
      refusal ??= error;
    });
  };
  try {
    for await (const piece of reader.pieces(sizeBytes)) {
      if (refusal) continue;
      sum.update(piece);
      held.push(piece);
      heldBytes += piece.length;
      if (heldBytes >= writeBytes) await flush();
    }
    await flush();
    await writing;
  } catch (error) {
    await writing;
    file?.drop();
    throw error;
  }
  if (!refusal && sum.digest('hex') !== digest)
    refusal = new UserError('store-damaged', `The bytes that came are not those of ${digest}`, { digest });
  if (refusal) {
    file?.drop();
    return failed(refusal);
  }
  try {
    file?.keep(store.pathOf(digest));
    return Buffer.of(bulkCodes.stored);
  } catch (error) {
    return failed(error);
  }
}

async function give(stream: Duplex, store: BlobStore, digest: string): Promise<void> {
  let descriptor: number;
  try {
    descriptor = openSync(store.pathOf(digest), constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    await send(stream, failed(new UserError('not-found', `There is no result ${digest}`, { digest })));
    return;
  }
  try {
    const { size } = fstatSync(descriptor);
    const head = Buffer.alloc(9);
    head[0] = bulkCodes.data;
    head.writeBigUInt64BE(BigInt(size), 1);
    await send(stream, head);
    for (let at = 0; at < size;) {
      const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, size - at));
      const { bytesRead } = await readAt(descriptor, chunk, 0, chunk.length, at);
      if (bytesRead === 0) throw new Error(`${digest} became shorter while it was read`);
      at += bytesRead;
      await send(stream, chunk.subarray(0, bytesRead));
    }
  } finally {
    closeSync(descriptor);
  }
}

function failed(error: unknown): Buffer {
  const code = error instanceof UserError ? error.code : 'internal';
  const text = Buffer.from(JSON.stringify({ code, message: errorMessage(error) })).subarray(
    0,
    bulkErrorBytes,
  );
  const head = Buffer.alloc(5);
  head[0] = bulkCodes.failed;
  head.writeUInt32BE(text.length, 1);
  return Buffer.concat([head, text]);
}

async function need(reader: ByteReader, count: number): Promise<Buffer> {
  const bytes = await reader.read(count);
  if (!bytes) throw new Error('the stream ended within an operation');
  return bytes;
}

/** Resolves when there is room for more, so that a slow reader is never overrun. */
function send(stream: Duplex, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    if (stream.destroyed) {
      reject(new Error('the stream ended'));
      return;
    }
    if (stream.write(bytes)) {
      resolve();
      return;
    }
    const done = () => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.once('drain', done).once('close', done);
  });
}
