import { randomFillSync } from 'node:crypto';
import { constants } from 'node:fs';
import { open, unlink } from 'node:fs/promises';

/**
 * Overwrites a regular file in place and removes its name. False where it is a link, is no regular file, has other names
 * or may not be written: then nothing was changed. Copies that the file system or the disk keeps are out of reach.
 */
export async function shredFile(path: string): Promise<boolean> {
  let file;
  try {
    file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW);
  } catch {
    return false;
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.nlink !== 1) return false;
    const { size } = stat;
    const chunk = Buffer.allocUnsafe(64 * 1024);
    for (let at = 0; at < size; at += chunk.length) {
      randomFillSync(chunk);
      await file.write(chunk, 0, Math.min(chunk.length, size - at), at);
    }
    await file.sync();
    await file.truncate(0);
    await file.sync();
  } finally {
    await file.close();
  }
  await unlink(path);
  return true;
}
