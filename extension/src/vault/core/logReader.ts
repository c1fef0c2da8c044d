import { Buffer } from 'node:buffer';
import {
  firstDigest,
  frameHeadBytes,
  nextDigest,
  openIndex,
  parseFrameHead,
  type Frame,
  type FrameHead,
} from './frames.ts';
import type { Keyring } from './keyring.ts';
import type { VaultFiles } from './vaultFiles.ts';
import type { Head } from './vaultHeader.ts';
import { VaultError } from './vaultState.ts';
import { isEqual } from './digests.ts';

/** An open log: its frames begin `base` bytes into the file. */
export interface LogFile {
  readonly files: VaultFiles;
  readonly handle: number;
  readonly base: number;
}

/** How far a log was read. */
export interface LogPosition {
  readonly bytes: number;
  readonly frames: number;
  readonly digest: Buffer;
}

export function logBeginning(vaultId: string, log: number): LogPosition {
  return { bytes: 0, frames: 0, digest: firstDigest(vaultId, log) };
}

/** A frame and where it is. `rows` is lent until the next one is asked for. */
export interface PlacedFrame {
  readonly frame: Frame;
  /** Where its rows begin, from the log's beginning. */
  readonly rowsAt: number;
  readonly rows: Buffer;
}

/** The log is not what its head says. `diagnose` tells what was done to it. */
export class BrokenLog extends Error {
  constructor() {
    super('The log is not what its head says');
    this.name = 'BrokenLog';
  }
}

/**
 * The frames from a position to the head. Throws `BrokenLog` where they are not the ones that the head counts: nothing
 * of what was yielded may be kept then.
 */
export function* readFrames(
  log: LogFile,
  keyring: Keyring,
  head: Head,
  from: LogPosition,
): Generator<PlacedFrame> {
  let { bytes: at, frames, digest } = from;
  const room = new Room();
  while (frames < head.frames) {
    const bytes = readFrame(log, at, head.bytes, room);
    const { indexBytes } = bytes.head;
    if (bytes.head.sequence !== frames) throw new BrokenLog();
    digest = nextDigest(digest, bytes.whole);
    const rows = bytes.whole.subarray(frameHeadBytes + indexBytes);
    const frame = opened(keyring, head.log, frames, bytes.whole, indexBytes);
    if (frame.items.reduce((sum, { rowLength }) => sum + rowLength, 0) !== rows.length) throw new BrokenLog();
    yield { frame, rowsAt: at + frameHeadBytes + indexBytes, rows };
    at += bytes.whole.length;
    frames++;
  }
  if (at !== head.bytes || !isEqual(digest, head.digest)) throw new BrokenLog();
}

/** The bytes of one row. Throws `BrokenLog` where the file ends before. */
export function readRow(log: LogFile, at: number, length: number): Buffer {
  return readExactly(log, at, length);
}

/** Throws `BrokenLog` where the file ends before. The bytes are the caller's, unless a room is given. */
export function readExactly(log: LogFile, at: number, length: number, room?: Room): Buffer {
  const { files, handle, base } = log;
  const bytes = room ? room.of(length) : Buffer.allocUnsafeSlow(length);
  for (let done = 0; done < length;) {
    const read = files.readSync(handle, bytes, done, length - done, base + at + done);
    if (read === 0) throw new BrokenLog();
    done += read;
  }
  return bytes;
}

/** Memory that one frame after the other is read into. */
class Room {
  #bytes = Buffer.allocUnsafeSlow(256 * 1024);

  of(length: number): Buffer {
    if (length > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(length);
    return this.#bytes.subarray(0, length);
  }
}

function readFrame(log: LogFile, at: number, end: number, room: Room): { head: FrameHead; whole: Buffer } {
  if (at + frameHeadBytes > end) throw new BrokenLog();
  const head = parseFrameHead(readExactly(log, at, frameHeadBytes, room));
  if (!head) throw new BrokenLog();
  const length = frameHeadBytes + head.indexBytes + head.rowsBytes;
  if (at + length > end) throw new BrokenLog();
  return { head, whole: readExactly(log, at, length, room) };
}

function opened(keyring: Keyring, log: number, sequence: number, whole: Buffer, indexBytes: number): Frame {
  try {
    return openIndex(keyring, { log, sequence }, whole.subarray(frameHeadBytes, frameHeadBytes + indexBytes));
  } catch (error) {
    if (error instanceof VaultError) throw error;
    throw new BrokenLog();
  }
}
