import { limits } from '../../../protocol/src/limits.ts';

/** Largest listing of a folder, in bytes: enough for `limits.filesPerTree` entries with long paths, not the longest. */
export const listingLimitBytes = limits.filesPerTree * 512;

/**
 * The rules for every relative path of a listing, the same on each platform: parts joined by `/`, none empty, `.` or
 * `..`, no NUL and no backslash (a separator elsewhere), well-formed Unicode, at most `limits.pathBytes` of UTF-8 and
 * `limits.treeDepth` parts. Says what is wrong, or nothing where the path is fine.
 */
export function treePathFault(path: string): string | undefined {
  if (!path.isWellFormed()) return 'is not valid Unicode';
  if (Buffer.byteLength(path) > limits.pathBytes) return `is longer than ${limits.pathBytes} bytes`;
  const parts = path.split('/');
  if (parts.length > limits.treeDepth) return `is more than ${limits.treeDepth} folders deep`;
  for (const part of parts) {
    if (part === '') return 'has an empty part or is absolute';
    if (part === '.' || part === '..') return 'points out of its folder';
    if (part.includes('\\') || part.includes('\0')) return 'has a backslash or a NUL in a name';
  }
  return undefined;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A file name as it stands on disk, or undefined where it is not valid UTF-8. */
export function decodeName(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** A name for people: everything but printable characters as `\xNN`, so that no name can forge a message. */
export function showName(name: string | Uint8Array): string {
  const text = typeof name === 'string' ? name : decodeName(name);
  if (text !== undefined && /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u.test(text) && !text.includes('\\'))
    return text;
  const shown = Array.from(Buffer.from(name), (byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`,
  );
  return shown.join('');
}
