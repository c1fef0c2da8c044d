import { linkSync, renameSync, unlinkSync } from 'node:fs';
import { systemCode } from '../../remote-agent/src/files/fileError.ts';

/**
 * Gives a finished file its name, where nothing may stand: link(2) never replaces. False where something is there; the
 * file then keeps its temporary name. A file system without hard links has only rename(2), which does replace: look
 * before.
 */
export function placeNew(temporary: string, path: string): boolean {
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    if (!noLinks.has(systemCode(error))) throw error;
    renameSync(temporary, path);
    return true;
  }
  try {
    unlinkSync(temporary);
  } catch {
    // It has its name; what is left beside it is the same file.
  }
  return true;
}

const noLinks: ReadonlySet<string> = new Set([
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
  'EINVAL',
]);
