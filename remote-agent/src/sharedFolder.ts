import { lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import { UserError } from '../../protocol/src/errors.ts';
import type { FileOwner } from './files/materialize.ts';
import type { Mount } from './isolation/bubblewrapSandboxes.ts';

/**
 * Whom a root runner starts a card as that may write to folders: their owner, who must be one and not root. Ordinary
 * runners keep their own user.
 */
export function writerOf(
  mounts: readonly Pick<Mount, 'path' | 'write'>[],
  uid = process.getuid?.(),
): FileOwner | undefined {
  if (uid !== 0) return undefined;
  const written = mounts
    .filter((mount) => mount.write)
    .map(({ path: folder }) => {
      const { uid: owner, gid } = statSync(folder);
      return { folder, uid: owner, gid };
    });
  const [first] = written;
  if (!first) return undefined;
  const bad = written.find((each) => each.uid === 0 || each.uid !== first.uid || each.gid !== first.gid);
  if (!bad) return { uid: first.uid, gid: first.gid };
  const text = `The folder ${bad.folder} can't be written to by a card: cards of a root runner act for the owner of the folder, who must not be root`;
  const remedy = 'Give the folder to an ordinary user with chown, or run Sallyport as one.';
  throw new UserError('unsafe-path', text, { path: bad.folder, remedy });
}

/**
 * Throws `unsafe-path` for a folder that no card is shown, whatever was granted: one that is not there, a link, a path
 * that is not plain, and what Sallyport keeps for itself, with all that is above and below it.
 */
export function assertShareable(folder: string, privateFolders: readonly string[]): void {
  const refuse = (why: string): never => {
    throw new UserError('unsafe-path', `The folder ${folder} can't be shown to a card: ${why}`, {
      path: folder,
    });
  };
  if (!path.isAbsolute(folder) || path.normalize(folder) !== folder.replace(/(.)\/$/, '$1')) {
    refuse('it is no plain absolute path');
  }
  if (privateFolders.some((own) => contains(own, folder) || contains(folder, own))) {
    refuse('it holds what Sallyport keeps for itself');
  }
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found) refuse('it is not there');
  else if (found.isSymbolicLink()) refuse('it is a link; name the folder that it leads to');
  else if (!found.isDirectory()) refuse('it is no folder');
}

function contains(outer: string, inner: string): boolean {
  const relative = path.relative(outer, inner);
  return relative === '' || (!relative.startsWith('..') && !path.isAbsolute(relative));
}
