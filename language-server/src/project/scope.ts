import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { platform } from 'node:process';

/** What of a folder's metadata makes it this folder and no copy of it. Times are in nanoseconds since the epoch. */
export interface FolderIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
  readonly birthtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/**
 * `scope = SHA-256(device, inode, birth time)` of a project's folder, in hexadecimal. Everything that a person accepted
 * hangs on it, so a copied or replaced folder starts closed. Null where the folder can't be looked at, or where its
 * file system keeps no birth time (a plain 0, or elsewhere than on Linux the time of the last change): nothing lasting
 * may be accepted then.
 */
export function projectScope(
  root: string,
  identify: (path: string) => FolderIdentity = (path) => statSync(path, { bigint: true }),
  system: string = platform,
): string | null {
  let folder: FolderIdentity;
  try {
    folder = identify(root);
  } catch {
    return null;
  }
  const { dev, ino, birthtimeNs, ctimeNs } = folder;
  // Node fills in the change time where a system has no birth time; Linux' statx says 0 instead.
  const isStandIn = system !== 'linux' && birthtimeNs === ctimeNs;
  if (birthtimeNs <= 0n || ino <= 0n || isStandIn) return null;
  return createHash('sha256').update(`sallyport-scope-1\n${dev}\n${ino}\n${birthtimeNs}\n`).digest('hex');
}
