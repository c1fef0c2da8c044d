import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../../protocol/src/errors.ts';

/**
 * The folder for the sockets of what lies at `path`, short enough for their addresses (unix(7): a Mac has 104 bytes)
 * where folders can't be named by their descriptors. The same for the same path, made for this user alone. Throws
 * `unsafe-path` where somebody else has made it.
 */
export function openSocketFolder(path: string, temporary: string, uid: number): string {
  const name = createHash('sha256').update(path).digest('hex').slice(0, 16);
  const folder = join(temporary, `sallyport-vm-${name}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o077) !== 0)
    throw new UserError('unsafe-path', `${folder} is not a folder of this user alone`, { path: folder });
  return folder;
}
