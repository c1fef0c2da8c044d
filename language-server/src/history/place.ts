import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import type { OpenedFolder } from '../../../remote-agent/src/files/noFollow.ts';
import { openBelow, openRealFolder } from '../../../remote-agent/src/files/openBelow.ts';
import { treePathFault, showName } from '../../../remote-agent/src/files/treePath.ts';

/** A path as the history knows it: below a folder that was given to somebody to write in. */
export interface Place {
  /** Absolute real path of that folder: the project's, or one that a person shared. Holds no link. */
  readonly base: string;
  /** Relative to it with `/`; no part is empty, `.` or `..`. */
  readonly path: string;
}

/** Equal for the same place alone; a key for maps. */
export function placeKey({ base, path }: Place): string {
  return `${base}\0${path}`;
}

/** For the file system and for messages; nothing on the way is resolved. */
export function absolutePath({ base, path }: Place): string {
  return join(base, ...path.split('/'));
}

/** The folder that a place lies in; undefined for what lies at the base itself. */
export function parentOf({ base, path }: Place): Place | undefined {
  const end = path.lastIndexOf('/');
  return end < 0 ? undefined : { base, path: path.slice(0, end) };
}

/** How many folders deep below its base. */
export function depthOf({ path }: Place): number {
  return path.split('/').length;
}

/** True where `inner` is the place itself or lies in it. */
export function isWithin(outer: Place, inner: Place): boolean {
  return outer.base === inner.base && (inner.path === outer.path || inner.path.startsWith(`${outer.path}/`));
}

/**
 * Runs `act` with the open folder that holds a place, and the place's name in it. Nothing is followed on the way there.
 * Undefined where that folder is missing. Throws `unsafe-path` where the way leads through anything but folders.
 */
export function withParent<T>(place: Place, act: (folder: OpenedFolder, name: string) => T): T | undefined {
  const fault = treePathFault(place.path);
  if (fault !== undefined)
    throw new UserError('unsafe-path', `The path ${showName(place.path)} ${fault}`, { path: place.path });
  const parts = place.path.split('/');
  const name = parts.pop() ?? '';
  const base = openRealFolder(place.base);
  let folder: OpenedFolder | undefined;
  let isHanded = false;
  const close = () => {
    if (folder && folder !== base) closeSync(folder.descriptor);
    closeSync(base.descriptor);
  };
  try {
    folder = openBelow(base, parts);
    if (!folder) return undefined;
    const result = act(folder, name);
    if (!(result instanceof Promise)) return result;
    isHanded = true;
    return result.finally(close) as T;
  } finally {
    if (!isHanded) close();
  }
}
