import { lstatSync, readdirSync, type Stats } from 'node:fs';

/** What is known of one file or folder, from metadata alone. */
interface Seen {
  readonly path: string;
  readonly stat: Stats;
}

/** Metadata of a card's folder and of all code in it. While it is unchanged, a frozen copy is still good. */
export type CodeSignature = readonly Seen[];

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
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat) return;
    seen.push({ path, stat });
    if (!stat.isDirectory()) return;
    for (const name of readdirSync(path).sort()) {
      const below = relative === '' ? name : `${relative}/${name}`;
      if (isCode(below)) look(`${path}/${name}`, below);
    }
  };
  look(folder, '');
  return seen;
}

/** A text that is equal for equal signatures: for telling in another process whether a frozen copy is still good. */
export function signatureText(signature: CodeSignature): string {
  return signature
    .map(({ path, stat }) => [path, stat.ino, stat.size, stat.mode, stat.mtimeMs, stat.ctimeMs].join('\0'))
    .join('\n');
}

/**
 * True where all of it is as it was. A folder's own times change with every name that comes, goes or is exchanged in
 * it, so no folder is listed again.
 */
export function isUnchanged(signature: CodeSignature): boolean {
  return signature.every(({ path, stat: before }) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return (
      stat !== undefined &&
      stat.ctimeMs === before.ctimeMs &&
      stat.mtimeMs === before.mtimeMs &&
      stat.size === before.size &&
      stat.ino === before.ino &&
      stat.mode === before.mode
    );
  });
}

/**
 * A file changed twice within one tick of the kernel's clock has one time for both changes. So a signature stands for
 * the content only where the last change is some ticks ago.
 */
export function isSettled(signature: CodeSignature, now: number): boolean {
  return signature.every(({ stat }) => stat.ctimeMs < now - settledMs);
}

const settledMs = 100;
