import { Buffer } from 'node:buffer';
import { nextDigest, noContent, sealFrame, type FrameContent } from './frames.ts';
import type { Keyring } from './keyring.ts';
import { itemLimits } from './items.ts';
import { logBeginning, readFrames, type LogFile, type LogPosition } from './logReader.ts';
import type { Randomness } from './randomness.ts';
import { rekeyRow } from './rows.ts';
import { writeWhole } from './vaultFiles.ts';
import type { Head } from './vaultHeader.ts';
import type { VaultIndex } from './vaultIndex.ts';
import { keptUses } from './vaultIndex.ts';

/** A vault as it is read from: its index is what is to stay. */
export interface SnapshotSource {
  readonly log: LogFile;
  readonly keyring: Keyring;
  readonly head: Head;
  readonly index: VaultIndex;
}

/** An empty log, open for writing, of this number. */
export interface SnapshotTarget {
  readonly log: LogFile;
  readonly keyring: Keyring;
  readonly number: number;
}

/** What is other than in the source. */
export interface SnapshotChange {
  /** An item that is left out, with everything of it; its grants end. */
  readonly removed?: { readonly id: string; readonly version: number };
}

const rowsOfFrame = 512;
const bytesOfFrame = 1024 * 1024;
const settledGrants = 500;

/**
 * Writes what a vault holds into a fresh log in few large frames: what was removed, too old or replaced is left out.
 * Rows keep their seal within one vault and are sealed anew for another. The whole source is checked on the way: throws
 * `BrokenLog`, and the target is worth nothing then. Gives way to other work between frames.
 */
export async function writeSnapshot(
  source: SnapshotSource,
  target: SnapshotTarget,
  change: SnapshotChange,
  random: Randomness,
): Promise<LogPosition> {
  const writer = new FrameWriter(target, random);
  const beginning = logBeginning(source.keyring.vaultId, source.head.log);
  for (const { frame, rowsAt, rows } of readFrames(source.log, source.keyring, source.head, beginning)) {
    let at = 0;
    for (const { summary, rowLength } of frame.items) {
      const row = rows.subarray(at, at + rowLength);
      at += rowLength;
      if (summary.id === change.removed?.id || !isKept(source.index, summary.id, rowsAt + at - rowLength))
        continue;
      const isSame = source.keyring === target.keyring;
      writer.add({
        summary,
        row: isSame ? Buffer.from(row) : rekeyRow(source.keyring, target.keyring, summary, row, random),
      });
    }
    await new Promise(setImmediate);
  }
  writer.flush();
  for (const content of withoutRows(source.index, change)) writer.write(content);
  return writer.position;
}

class FrameWriter {
  readonly #target: SnapshotTarget;
  readonly #random: Randomness;
  #items: FrameContent['items'][number][] = [];
  #bytes = 0;
  position: LogPosition;

  constructor(target: SnapshotTarget, random: Randomness) {
    this.#target = target;
    this.#random = random;
    this.position = logBeginning(target.keyring.vaultId, target.number);
  }

  add(item: FrameContent['items'][number]): void {
    this.#items.push(item);
    this.#bytes += item.row.length;
    if (this.#items.length >= rowsOfFrame || this.#bytes >= bytesOfFrame) this.flush();
  }

  flush(): void {
    if (this.#items.length === 0) return;
    this.write({ ...noContent, items: this.#items });
    this.#items = [];
    this.#bytes = 0;
  }

  write(content: FrameContent): void {
    const { log, keyring, number } = this.#target;
    const frame = sealFrame(keyring, { log: number, sequence: this.position.frames }, content, this.#random);
    writeWhole(log.files, log.handle, frame, log.base + this.position.bytes);
    this.position = advanced(this.position, frame);
  }
}

/** The position after a frame. */
export function advanced({ bytes, frames, digest }: LogPosition, frame: Buffer): LogPosition {
  return { bytes: bytes + frame.length, frames: frames + 1, digest: nextDigest(digest, frame) };
}

function isKept(index: VaultIndex, item: string, rowAt: number): boolean {
  return index
    .versions(item)
    .slice(-itemLimits.versions)
    .some((version) => version.rowAt === rowAt);
}

/** Uses before grants: a grant's own count stands in it, and must not be counted twice. */
function* withoutRows(index: VaultIndex, { removed }: SnapshotChange): Generator<FrameContent> {
  const uses = index.uses().slice(-keptUses);
  for (let at = 0; at < uses.length; at += 1000) yield { ...noContent, uses: uses.slice(at, at + 1000) };
  const grants = index
    .grants()
    .map((grant) => (grant.item === removed?.id ? { ...grant, state: 'revoked' as const } : grant));
  const isSettled = ({ state }: { state: string }) => state === 'declined' || state === 'revoked';
  const dropped = new Set(grants.filter(isSettled).slice(0, -settledGrants));
  const gone = [...index.removed].map(([id, version]) => ({ id, version }));
  if (removed) gone.push(removed);
  const kept = grants.filter((grant) => !dropped.has(grant));
  if (gone.length > 0 || kept.length > 0) yield { ...noContent, removed: gone, grants: kept };
}
