import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Everything in a folder by path: content, permission bits, links as links. */
export function snapshot(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const full = join(folder, path);
    const stat = lstatSync(full);
    const mode = (stat.mode & 0o777).toString(8);
    found[path] = stat.isSymbolicLink()
      ? `link ${readlinkSync(full)}`
      : stat.isDirectory()
        ? `folder ${mode}`
        : `file ${mode} ${readFileSync(full).toString('base64')}`;
  }
  return found;
}
