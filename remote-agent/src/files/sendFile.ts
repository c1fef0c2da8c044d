import { fstatSync, read, readSync } from 'node:fs';
import { promisify } from 'node:util';
import type { StreamWriter } from './streamWriter.ts';

const readAt = promisify(read);
/** Few large reads: each costs a trip to the thread pool. */
const readBytes = 1024 * 1024;
/** A file of at most this size is read at once, without that trip. */
const smallBytes = 64 * 1024;

export interface SendFileOptions {
  /** What is sent before the file's bytes. */
  readonly head: (sizeBytes: number) => Uint8Array;
  readonly onSent?: (bytes: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Sends an open file from its start and resolves with its size once all bytes are the stream's. Memory stays the same
 * whatever the size. Throws where the file becomes shorter meanwhile, and where the stream has ended.
 */
export async function sendFile(
  writer: StreamWriter,
  descriptor: number,
  { head, onSent = () => undefined, signal }: SendFileOptions,
): Promise<number> {
  const { size } = fstatSync(descriptor);
  if (size <= smallBytes) {
    const bytes = Buffer.allocUnsafe(size);
    for (let at = 0; at < size;) at += whole(readSync(descriptor, bytes, at, size - at, at));
    await writer.write(Buffer.concat([head(size), bytes]));
    onSent(size);
    return size;
  }
  await writer.write(head(size));
  // Two buffers in turns: one is filled while the stream has the other, and nothing is left for the collector.
  const turns: Turn[] = [newTurn(size), newTurn(size)];
  for (let at = 0; at < size && !signal?.aborted;) {
    const turn = turns.shift() ?? newTurn(size);
    turns.push(turn);
    await turn.free;
    const wanted = Math.min(turn.buffer.length, size - at);
    const bytesRead = whole((await readAt(descriptor, turn.buffer, 0, wanted, at)).bytesRead);
    await writer.flush();
    turn.free = writer.lend(turn.buffer.subarray(0, bytesRead));
    at += bytesRead;
    onSent(bytesRead);
  }
  await Promise.all(turns.map(({ free }) => free));
  return size;
}

/** A buffer, and when it is free again. */
interface Turn {
  readonly buffer: Buffer;
  free: Promise<void>;
}

function newTurn(size: number): Turn {
  return { buffer: Buffer.allocUnsafeSlow(Math.min(size, readBytes)), free: Promise.resolve() };
}

function whole(bytesRead: number): number {
  if (bytesRead === 0) throw new ShorterFile('the file became shorter while it was read');
  return bytesRead;
}

/** The file has fewer bytes than it had at the start. */
export class ShorterFile extends Error {}
