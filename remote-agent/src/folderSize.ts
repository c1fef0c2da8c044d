import { lstatSync, opendirSync, type Stats } from 'node:fs';
import { join } from 'node:path';

/** More entries than this count as larger than any bound. */
const entryLimit = 100_000;

/**
 * Bytes on disk below a folder that a card may be changing: an estimate for a limit, never a basis for reading
 * anything. Links count as themselves; what can't be looked at counts nothing.
 */
export function folderSize(path: string): number {
  let bytes = 0;
  let entries = 0;
  const waiting = [path];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const name of namesOf(folder)) {
      if (++entries > entryLimit) return Infinity;
      const child = join(folder, name);
      const found = lookAt(child);
      if (!found) continue;
      bytes += found.blocks * 512;
      if (found.isDirectory()) waiting.push(child);
    }
  }
  return bytes;
}

function* namesOf(folder: string): Generator<string> {
  let listing;
  try {
    listing = opendirSync(folder);
  } catch {
    return;
  }
  try {
    for (let entry = listing.readSync(); entry; entry = listing.readSync()) yield entry.name;
  } finally {
    listing.closeSync();
  }
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
