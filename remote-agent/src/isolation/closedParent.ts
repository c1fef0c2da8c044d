import { statSync } from 'node:fs';
import path from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import type { FileOwner } from '../files/materialize.ts';

/**
 * What to say where bubblewrap, as another user than the runner, could not reach a folder that was granted: it finds
 * a folder again by its path, although it was given it open. Undefined where `said` is about something else.
 */
export function closedParentError(
  said: string,
  granted: readonly { readonly descriptor: number; readonly path: string }[],
  user: FileOwner | undefined,
): UserError | undefined {
  const descriptor = /source path \/proc\/self\/fd\/([0-9]+): Permission denied/.exec(said)?.[1];
  const folder = granted.find((each) => String(each.descriptor) === descriptor)?.path;
  if (folder === undefined || user === undefined) return undefined;
  const wall = parentsOf(folder).find((parent) => !mayEnter(parent, user));
  const [place, opening] =
    wall === undefined
      ? ['a folder above it', 'Let others pass through it']
      : [wall, `Let others pass (chmod o+x ${wall})`];
  return new UserError(
    'unsafe-path',
    `The folder ${folder} can't be shown to a card: cards of a root runner are other users, who may not enter ${place}`,
    { path: folder, remedy: `${opening}, move the folder, or run Sallyport as an ordinary user.` },
  );
}

/** The folders above a folder, the root first. */
function parentsOf(folder: string): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [] : [...parentsOf(parent), parent];
}

/** By the mode bits; access control lists are not looked at. */
export function mayEnter(folder: string, { uid, gid }: FileOwner): boolean {
  const stat = statSync(folder);
  const bit = stat.uid === uid ? 0o100 : stat.gid === gid ? 0o010 : 0o001;
  return (stat.mode & bit) !== 0;
}
