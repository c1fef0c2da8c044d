import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ArtifactRef, TreeEntry } from '../../protocol/src/artifacts.ts';
import { canonicalJson } from '../../protocol/src/canonicalJson.ts';
import { blobPath } from '../../protocol/src/runner.ts';

/** Bytes of a file of a tree, or the whole entry where a test makes one up. */
export type TreeFiles = Readonly<Record<string, Uint8Array | string>>;

/** Writes one blob and says what it is called. */
export async function putBlob(blobs: string, bytes: Uint8Array | string): Promise<ArtifactRef> {
  const content = Buffer.from(bytes);
  const digest = createHash('sha256').update(content).digest('hex');
  const target = path.join(blobs, blobPath(digest));
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, content, { flag: 'wx' }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  });
  return { kind: 'file', digest, sizeBytes: content.length, files: 1 };
}

/** Freezes a folder that is given as data. Paths ending in `.sh` are executable. */
export async function putTree(
  blobs: string,
  files: TreeFiles,
  more: readonly TreeEntry[] = [],
): Promise<ArtifactRef> {
  const entries: TreeEntry[] = [...more];
  let sizeBytes = 0;
  for (const [name, content] of Object.entries(files)) {
    const blob = await putBlob(blobs, content);
    sizeBytes += blob.sizeBytes;
    entries.push({
      kind: 'file',
      path: name,
      digest: blob.digest,
      sizeBytes: blob.sizeBytes,
      executable: name.endsWith('.sh'),
    });
  }
  entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  const listing = await putBlob(blobs, canonicalJson({ version: 1, entries }));
  return { kind: 'directory', digest: listing.digest, sizeBytes, files: entries.length };
}

/** All regular files of a folder as data for `putTree`. */
export async function readFolder(folder: string): Promise<Record<string, Uint8Array>> {
  const files: Record<string, Uint8Array> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const full = path.join(entry.parentPath, entry.name);
    files[path.relative(folder, full).replaceAll(path.sep, '/')] = await readFile(full);
  }
  return files;
}

/** The blobs of a folder whose bytes are not what their names say: changed, or cut short. */
export async function damagedBlobs(blobs: string): Promise<string[]> {
  const damaged: string[] = [];
  for (const group of await readdir(blobs, { withFileTypes: true })) {
    if (!group.isDirectory() || !/^[0-9a-f]{2}$/.test(group.name)) continue;
    for (const name of await readdir(path.join(blobs, group.name))) {
      if (!/^[0-9a-f]{62}$/.test(name)) continue;
      const file = path.join(blobs, group.name, name);
      const digest = createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
      if (digest !== group.name + name) damaged.push(`${group.name}/${name}`);
    }
  }
  return damaged;
}
