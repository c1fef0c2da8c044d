import { showName, treePathFault } from '../../../../remote-agent/src/files/treePath.ts';
import { foldName } from '../../foldName.ts';

/**
 * What is wrong with the path of one entry of an app, or nothing. Stricter than `treePathFault`: the path must mean the
 * same file on Linux, macOS and Windows, so names that Windows reserves, streams, short endings and control characters
 * are refused wherever the archive is read (Microsoft, “Naming Files, Paths, and Namespaces”).
 */
export function entryPathFault(path: string): string | undefined {
  if (/^[A-Za-z]:/.test(path)) return 'begins with a drive';
  if (path.includes('\\')) return 'has a backslash';
  const fault = treePathFault(path);
  if (fault !== undefined) return fault;
  if (path.length > longestPath) return `is longer than ${longestPath} characters`;
  for (const part of path.split('/')) {
    if (/[\p{C}\p{Zl}\p{Zp}<>:"|?*]/u.test(part)) return 'has a character that no file name should have';
    if (/[. ]$/.test(part)) return 'has a part that ends with a dot or a space';
    if (reserved.test(part)) return 'has a name that Windows reserves for a device';
    if (foldName(part) === '.GIT') return 'lies in a .git folder';
  }
  return undefined;
}

const longestPath = 1024;
const reserved = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$/i;

/**
 * Every path of one archive. Two that a file system could take for one (case, Unicode form), the same one twice, and a
 * file with something below it are faults.
 */
export class EntryPaths {
  readonly #files = new Map<string, string>();
  readonly #folders = new Map<string, string>();

  /** What is wrong with `path` beside those added before; it is added where nothing is. */
  add(path: string, kind: 'file' | 'folder'): string | undefined {
    const own = entryPathFault(path);
    if (own !== undefined) return own;
    const parts = path.split('/');
    const above = kind === 'file' ? parts.length - 1 : parts.length;
    for (let count = 1; count <= above; count++) {
      const folder = parts.slice(0, count).join('/');
      const key = foldName(folder);
      if (this.#files.has(key)) return 'lies below a file';
      const known = this.#folders.get(key);
      if (known !== undefined && known !== folder)
        return `differs from ${showName(known)} in case or form only`;
      this.#folders.set(key, folder);
    }
    if (kind === 'folder') return undefined;
    const key = foldName(path);
    const same = this.#files.get(key);
    if (same === path) return 'comes twice';
    if (same !== undefined) return `differs from ${showName(same)} in case or form only`;
    if (this.#folders.has(key)) return 'is a file and a folder';
    this.#files.set(key, path);
    return undefined;
  }
}
