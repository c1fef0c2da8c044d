import { lstatSync, readdirSync } from 'node:fs';

/** Folders within folders that are looked at; whatever lies deeper cannot be frozen anyway (`limits.treeDepth`). */
const depthLimit = 64;

/**
 * A text that changes whenever a file or folder below `path` is changed, added, removed, renamed or replaced, from
 * metadata alone: names, inode, size, mode, and the times of content and of metadata in nanoseconds, of which nobody
 * but the kernel sets the last. Equal texts mean that a frozen copy is still good. For comparing only; it may be long.
 * Throws the system error where the folder cannot be read.
 */
export function folderSignature(path: string): string {
  return sign(path, 0);
}

function sign(folder: string, depth: number): string {
  let text = '';
  for (const name of readdirSync(folder).sort()) {
    const path = `${folder}/${name}`;
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) continue;
    text += `${name}\0${stat.ino} ${stat.size} ${stat.mode} ${stat.mtimeNs} ${stat.ctimeNs}\n`;
    if (stat.isDirectory() && depth < depthLimit) text += `{${sign(path, depth + 1)}}`;
  }
  return text;
}
