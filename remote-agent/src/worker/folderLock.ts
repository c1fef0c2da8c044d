import { mkdirSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import { systemCode } from '../files/fileError.ts';

const lockName = 'changing';
const patienceMs = 5_000;
const pauseMs = 5;
/** A change takes a few milliseconds; what is older was left by a process that was killed in it. */
const abandonedMs = 30_000;

/**
 * Runs a change of a folder's files with no other process in the middle of one: what is read is still so when it is
 * written. Blocks this process meanwhile. Throws `conflict` where another one does not come to its end in `waitMs`.
 */
export function changeAlone<T>(folder: string, change: () => T, waitMs = patienceMs): T {
  const lock = join(folder, lockName);
  const until = Date.now() + waitMs;
  while (!take(lock)) {
    if (Date.now() >= until)
      throw new UserError('conflict', `Another process is changing ${folder}; ${lock} is its mark`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
  }
  try {
    return change();
  } finally {
    rmdirSync(lock);
  }
}

function take(lock: string): boolean {
  try {
    mkdirSync(lock, { mode: 0o700 });
    return true;
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    if (isAbandoned(lock)) remove(lock);
    return false;
  }
}

function isAbandoned(lock: string): boolean {
  const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
  return since !== undefined && Date.now() - since > abandonedMs;
}

function remove(lock: string): void {
  try {
    rmdirSync(lock);
  } catch {
    // Another process was faster.
  }
}
