import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

/** Mounts a file system of one megabyte at `folder` and returns what unmounts it; undefined where this user may not. */
export function mountSmallDisk(folder: string): (() => void) | undefined {
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'pipe' });
  } catch {
    console.log('      skipped: no right to mount a small file system here');
    return undefined;
  }
  return () => execFileSync('umount', [folder]);
}
