import type { Buffer } from 'node:buffer';
import { frameHeadBytes, openIndex, parseFrameHead, type Frame } from './frames.ts';
import type { Keyring } from './keyring.ts';
import { readExactly, type LogFile } from './logReader.ts';
import { claimOf, isAuthenticRow, itemMark, rowLengthAt } from './rows.ts';
import type { Head } from './vaultHeader.ts';
import { VaultError, type Tampering } from './vaultState.ts';

export interface Diagnosis {
  readonly what: Tampering;
  /** The item that it was done to, where one can be named. */
  readonly item?: string;
}

/** What was done to a log that is not what its head says. Reads it as far as it can be read, and uses nothing of it. */
export function diagnose(log: LogFile, keyring: Keyring, head: Head): Diagnosis {
  const size = log.files.fstatSync(log.handle).size - log.base;
  let at = 0;
  for (let sequence = 0; sequence < head.frames; sequence++) {
    const bytes = frameAt(log, at, size);
    if (!bytes)
      return { what: at + frameHeadBytes > size || size < head.bytes ? 'truncated' : 'index-altered' };
    if (bytes.sequence !== sequence)
      return { what: bytes.sequence > sequence ? 'row-removed' : 'row-rolled-back' };
    const found = diagnoseFrame(keyring, head.log, sequence, bytes.whole, bytes.indexBytes);
    if (found) return found;
    at += bytes.whole.length;
  }
  // Every frame holds and yet the chain does not: one of them is an earlier one of the same place.
  return { what: 'row-rolled-back' };
}

function frameAt(log: LogFile, at: number, size: number) {
  if (at + frameHeadBytes > size) return undefined;
  const head = parseFrameHead(readExactly(log, at, frameHeadBytes));
  if (!head) return undefined;
  const length = frameHeadBytes + head.indexBytes + head.rowsBytes;
  return at + length > size ? undefined : { ...head, whole: readExactly(log, at, length) };
}

function diagnoseFrame(
  keyring: Keyring,
  log: number,
  sequence: number,
  whole: Buffer,
  indexBytes: number,
): Diagnosis | undefined {
  const rows = whole.subarray(frameHeadBytes + indexBytes);
  let frame: Frame;
  try {
    frame = openIndex(
      keyring,
      { log, sequence },
      whole.subarray(frameHeadBytes, frameHeadBytes + indexBytes),
    );
  } catch (error) {
    if (error instanceof VaultError) throw error;
    const length = rowLengthAt(rows, 0);
    const claim = length === undefined ? undefined : claimOf(rows.subarray(0, length));
    return { what: claim && claim.vaultId !== keyring.vaultId ? 'row-foreign' : 'index-altered' };
  }
  let at = 0;
  for (const { summary } of frame.items) {
    const item = summary.id;
    const length = rowLengthAt(rows, at);
    if (length === undefined) return { what: at >= rows.length ? 'row-removed' : 'row-altered', item };
    const row = rows.subarray(at, at + length);
    if (!isAuthenticRow(keyring, summary, row)) {
      const claim = claimOf(row);
      if (!claim) return { what: 'row-altered', item };
      if (claim.vaultId !== keyring.vaultId) return { what: 'row-foreign', item };
      if (claim.mark !== itemMark(keyring, item).toString('hex')) return { what: 'row-swapped', item };
      return { what: claim.version < summary.version ? 'row-rolled-back' : 'row-altered', item };
    }
    at += length;
  }
  return at === rows.length ? undefined : { what: 'index-altered' };
}
