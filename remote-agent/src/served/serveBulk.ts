import { closeSync, constants, openSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { bulkCodes, bulkErrorBytes, bulkHeadBytes } from '../../../protocol/src/bulkTransfer.ts';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import type { BlobStore } from '../files/blobStore.ts';
import type { ByteReader } from '../files/byteReader.ts';
import { IncomingBlob } from '../files/incomingBlob.ts';
import { sendFile } from '../files/sendFile.ts';
import { StreamWriter } from '../files/streamWriter.ts';

/**
 * Answers the operations of one bulk stream (protocol/src/bulkTransfer.ts) until it ends. Throws where the stream does
 * not keep the framing: such a stream can't be read further.
 */
export async function serveBulk(stream: Duplex, reader: ByteReader, store: BlobStore): Promise<void> {
  const writer = new StreamWriter(stream);
  for (;;) {
    // The answers to many small operations that came together leave together.
    if (reader.heldBytes === 0) await writer.flush();
    const code = await reader.read(1);
    if (!code) break;
    const digest = (await need(reader, 32)).toString('hex');
    if (code[0] === bulkCodes.put) {
      const sizeBytes = Number((await need(reader, 8)).readBigUInt64BE());
      await writer.write(await receive(reader, store, digest, sizeBytes));
    } else if (code[0] === bulkCodes.get) await give(writer, store, digest);
    else throw new Error('not an operation of a bulk stream');
  }
  await writer.flush();
}

/** Takes the bytes of a put and returns the answer. What can't be stored is read all the same. */
async function receive(
  reader: ByteReader,
  store: BlobStore,
  digest: string,
  sizeBytes: number,
): Promise<Buffer> {
  let blob: IncomingBlob | undefined;
  let refusal: unknown;
  const refuse = async (error: unknown): Promise<void> => {
    refusal = error;
    await blob?.drop();
    blob = undefined;
  };
  try {
    blob = new IncomingBlob(store, digest);
  } catch (error) {
    refusal = error;
  }
  try {
    for await (const piece of reader.pieces(sizeBytes)) await blob?.add(piece).catch(refuse);
  } catch (error) {
    await blob?.drop();
    throw error;
  }
  await blob?.keep().catch(refuse);
  return refusal === undefined ? Buffer.of(bulkCodes.stored) : failed(refusal);
}

async function give(writer: StreamWriter, store: BlobStore, digest: string): Promise<void> {
  let descriptor: number;
  try {
    descriptor = openSync(store.pathOf(digest), constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    await writer.write(failed(new UserError('not-found', `There is no result ${digest}`, { digest })));
    return;
  }
  try {
    await sendFile(writer, descriptor, { head: dataHead });
  } finally {
    closeSync(descriptor);
  }
}

function dataHead(sizeBytes: number): Buffer {
  const head = Buffer.alloc(bulkHeadBytes.data);
  head[0] = bulkCodes.data;
  head.writeBigUInt64BE(BigInt(sizeBytes), 1);
  return head;
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
