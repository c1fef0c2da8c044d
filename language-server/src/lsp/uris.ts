import { fileURLToPath, pathToFileURL } from 'node:url';

/** The absolute path of a `file:` URI; undefined for another scheme and for what is no URI. */
export function pathOf(uri: string): string | undefined {
  if (!uri.startsWith('file:')) return undefined;
  try {
    const path = fileURLToPath(uri);
    return path.includes('\0') ? undefined : path;
  } catch {
    return undefined;
  }
}

/** The `file:` URI of an absolute path. */
export function uriOf(path: string): string {
  return pathToFileURL(path).href;
}
