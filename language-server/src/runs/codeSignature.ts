import { lstatSync, readdirSync } from 'node:fs';

/** What is known of one file or folder, from metadata alone. */
interface Seen {
  readonly path: string;
  readonly stamp: string;
  /** When it last changed, milliseconds since the epoch. */
  readonly changedMs: number;
}

/** Metadata of a card's folder and of all code in it. Equal stamps mean that a frozen copy is still good. */
export interface CodeSignature {
  readonly seen: readonly Seen[];
  readonly text: string;
}

/** Files of a card's folder that are not its code: the manifest, and what Python leaves behind. */
export function isCode(path: string): boolean {
  return path !== '_card.json' && !/(^|\/)__pycache__(\/|$)/.test(path);
}

/**
 * Looks at every file and folder of the card's code: inode, size, mode, and the times of content and of metadata, of
 * which nobody but the kernel sets the last. Throws the system's error where a folder can't be read.
 */
export function signCode(folder: string): CodeSignature {
  const seen: Seen[] = [];
  const look = (path: string, relative: string) => {
    const found = see(path);
    if (!found) return;
    seen.push(found.seen);
    if (!found.isFolder) return;
    for (const name of readdirSync(path).sort()) {
      const below = relative === '' ? name : `${relative}/${name}`;
      if (isCode(below)) look(`${path}/${name}`, below);
    }
  };
  look(folder, '');
  return { seen, text: seen.map(({ path, stamp }) => `${path}\0${stamp}`).join('\n') };
}

/**
 * True where all of it is as it was. A folder's own times change with every name that comes, goes or is exchanged in
 * it, so no folder is listed again.
 */
export function isUnchanged({ seen }: CodeSignature): boolean {
  return seen.every(({ path, stamp }) => see(path)?.seen.stamp === stamp);
}

/**
 * A file changed twice within one tick of the kernel's clock has one time for both changes. So a signature stands for
 * the content only where the last change is some ticks ago.
 */
export function isSettled({ seen }: CodeSignature, now: number): boolean {
  return seen.every(({ changedMs }) => changedMs < now - settledMs);
}

const settledMs = 100;

function see(path: string): { seen: Seen; isFolder: boolean } | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return undefined;
  const { ino, size, mode, mtimeMs, ctimeMs } = stat;
  return {
    seen: { path, stamp: `${ino} ${size} ${mode} ${mtimeMs} ${ctimeMs}`, changedMs: ctimeMs },
    isFolder: stat.isDirectory(),
  };
}
