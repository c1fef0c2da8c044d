import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { frameHeadBytes, parseFrameHead } from '../../extension/src/vault/core/frames.ts';
import { rowLengthAt } from '../../extension/src/vault/core/rows.ts';

/** The parts of a vault's log as bytes, for whoever changes them behind the vault's back. */
export interface FrameBytes {
  readonly head: Buffer;
  readonly index: Buffer;
  readonly rows: readonly Buffer[];
}

export function logPath(folder: string): string {
  const header = JSON.parse(readFileSync(join(folder, 'vault.json'), 'utf8')) as { head: { log: number } };
  return join(folder, `rows-${header.head.log}`);
}

export function readLog(folder: string): FrameBytes[] {
  const bytes = readFileSync(logPath(folder));
  const frames: FrameBytes[] = [];
  for (let at = 0; at < bytes.length;) {
    const head = parseFrameHead(bytes.subarray(at));
    if (!head) throw new Error('no frame');
    const indexAt = at + frameHeadBytes;
    const rowsAt = indexAt + head.indexBytes;
    const rows: Buffer[] = [];
    for (let rowAt = rowsAt; rowAt < rowsAt + head.rowsBytes;) {
      const length = rowLengthAt(bytes, rowAt) ?? NaN;
      rows.push(bytes.subarray(rowAt, rowAt + length));
      rowAt += length;
    }
    frames.push({ head: bytes.subarray(at, indexAt), index: bytes.subarray(indexAt, rowsAt), rows });
    at = rowsAt + head.rowsBytes;
  }
  return frames;
}

/** Writes frames as they are, with the lengths that their rows have. */
export function writeLog(folder: string, frames: readonly FrameBytes[]): void {
  const pieces = frames.flatMap(({ head, index, rows }) => {
    const counted = Buffer.from(head);
    counted.writeUInt32BE(
      rows.reduce((sum, row) => sum + row.length, 0),
      12,
    );
    return [counted, index, ...rows];
  });
  writeFileSync(logPath(folder), Buffer.concat(pieces));
}

/** Changes the text of `vault.json`. */
export function editHeader(folder: string, edit: (text: string) => string): void {
  const path = join(folder, 'vault.json');
  writeFileSync(path, edit(readFileSync(path, 'utf8')));
}
