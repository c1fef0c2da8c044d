import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import { isProtectedPath } from './protectedPaths.ts';

/** A path as it really is. Every effect on files works on this, never on the spelling that was asked for. */
export interface ResolvedPath {
  /** Absolute, without links: of the deepest part that exists, and what is to be made below it. */
  readonly real: string;
  /** Relative to the project's real folder with `/`; starts with `../` or is absolute where it lies outside. */
  readonly relative: string;
  readonly exists: boolean;
  readonly isOutside: boolean;
  readonly isProtected: boolean;
}

/** The file system as `resolvePath` needs it. */
export interface PathSystem {
  /** The real path in the file system's own casing. Throws where it does not exist. */
  realpath(path: string): string;
  lstat(path: string): Stats | undefined;
}

export const hostPathSystem: PathSystem = {
  realpath: (path) => realpathSync.native(path),
  lstat: (path) => lstatSync(path, { throwIfNoEntry: false }),
};

const deviceName = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|$)/i;
const shortName = /~[0-9]+(\.|$)/;

/**
 * Resolves a path that somebody asked for. Relative paths start at the project, never at a folder that the asker names.
 * Throws `unsafe-path` for spellings that mean different things on different systems: NUL and control characters,
 * backslashes, device names, alternate streams, short names, trailing dots and spaces, and links that lead nowhere.
 */
export function resolvePath(root: string, asked: string, system: PathSystem = hostPathSystem): ResolvedPath {
  assertPlainSpelling(asked);
  const base = system.realpath(root);
  const wanted = isAbsolute(asked) ? resolve(asked) : resolve(base, asked);
  const { real, exists } = realOf(wanted, asked, system);
  const below = relative(base, real);
  const isOutside = below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below);
  const shown = isOutside ? real : below;
  const path = shown.split(sep).join('/');
  // What lies outside is judged by its whole path, so that a home folder's start-up files count too.
  return { real, relative: path, exists, isOutside, isProtected: isProtectedPath(path) };
}

/**
 * As `resolvePath`, but a link at the end of the path is what is meant, not what it leads to: for what is deleted or
 * given another name. Throws for the project's own folder and for paths that end in no name.
 */
export function resolveEntry(
  root: string,
  asked: string,
  system: PathSystem = hostPathSystem,
): ResolvedPath & { readonly isLink: boolean } {
  assertPlainSpelling(asked);
  const base = system.realpath(root);
  const wanted = isAbsolute(asked) ? resolve(asked) : resolve(base, asked);
  const name = basename(wanted);
  if (name === '' || wanted === base) throw unsafe(asked, 'it names no file or folder in the project');
  const stat = system.lstat(wanted);
  if (!stat?.isSymbolicLink()) return { ...resolvePath(root, asked, system), isLink: false };
  const folder = resolvePath(root, dirname(wanted), system);
  const real = join(folder.real, name);
  const path = folder.isOutside
    ? real.split(sep).join('/')
    : [folder.relative, name].filter(Boolean).join('/');
  return {
    real,
    relative: path,
    exists: true,
    isOutside: folder.isOutside,
    isProtected: isProtectedPath(path),
    isLink: true,
  };
}

/** The real path of the deepest ancestor that exists, with the rest of the path below it. */
function realOf(wanted: string, asked: string, system: PathSystem): { real: string; exists: boolean } {
  const rest: string[] = [];
  let at = wanted;
  for (;;) {
    const stat = system.lstat(at);
    if (stat) {
      try {
        return { real: join(system.realpath(at), ...rest), exists: rest.length === 0 };
      } catch (cause) {
        throw unsafe(asked, 'it goes through a link that leads nowhere', cause);
      }
    }
    const parent = dirname(at);
    if (parent === at) throw unsafe(asked, 'no part of it exists');
    rest.unshift(at.slice(parent.endsWith(sep) ? parent.length : parent.length + 1));
    at = parent;
  }
}

function assertPlainSpelling(asked: string): void {
  if (asked === '') throw unsafe(asked, 'it is empty');
  if (!asked.isWellFormed()) throw unsafe(asked, 'it is not valid Unicode');
  if (/\p{Cc}/u.test(asked)) throw unsafe(asked, 'it holds a control character');
  if (asked.includes('\\')) throw unsafe(asked, 'it holds a backslash; use / between folders');
  if (/^[a-z][a-z0-9+.-]+:/i.test(asked)) throw unsafe(asked, 'it is an address, not a path');
  if (asked.startsWith('~')) throw unsafe(asked, '~ is not expanded; use a path below the project');
  for (const part of asked.split('/')) {
    if (part === '' || part === '.' || part === '..') continue;
    if (part.includes(':')) throw unsafe(asked, `${part} names a stream or a drive`);
    if (/[. ]$/.test(part)) throw unsafe(asked, `${part} ends in a dot or a space`);
    if (deviceName.test(part)) throw unsafe(asked, `${part} is the name of a device`);
    if (shortName.test(part)) throw unsafe(asked, `${part} looks like a short name`);
  }
}

function unsafe(asked: string, why: string, cause?: unknown): UserError {
  return new UserError(
    'unsafe-path',
    `The path ${JSON.stringify(asked)} can't be used: ${why}`,
    { path: asked },
    { cause },
  );
}
