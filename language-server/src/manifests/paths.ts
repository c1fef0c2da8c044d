import { lstatSync } from 'node:fs';

/**
 * The parts of a relative path that stays inside its folder, or undefined: no `..`, no drive, no backslash, no NUL or
 * other control character, not absolute, and no part that Windows reads as a device, a stream or another name.
 */
export function insideParts(path: string): readonly string[] | undefined {
  if (path.length > 1024 || !path.isWellFormed() || /[\\\p{Cc}:*?"<>|]/u.test(path)) return undefined;
  const parts = path
    .replace(/^(\.\/)+/, '')
    .replace(/\/$/, '')
    .split('/');
  const sound = parts.every((part) => part !== '' && !/[. ]$/.test(part) && !deviceNames.test(part));
  return sound ? parts : undefined;
}

const deviceNames = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|$)/i;

export type PathKind = 'file' | 'folder' | 'link' | 'special' | 'absent';

/** What a path is, the last component not followed. What can't be looked at is absent. */
export function pathKind(path: string): PathKind {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) return 'absent';
    if (stats.isFile()) return 'file';
    if (stats.isDirectory()) return 'folder';
    return stats.isSymbolicLink() ? 'link' : 'special';
  } catch {
    return 'absent';
  }
}
