import { UserError } from '../../../protocol/src/errors.ts';
import { pauseBeforeRound, tryLock, type FolderLock, type LockOptions } from '../files/folderLock.ts';

const patienceMs = 5_000;

export interface ChangeOptions extends LockOptions {
  readonly waitMs?: number;
}

/**
 * Runs a change of a folder's files with no other process in the middle of one: what is read is still so when it is
 * written. Blocks this process meanwhile. A process that was killed in a change keeps nobody out, and one that lives is
 * waited for however long it takes: throws `conflict` where it does not come to its end in `waitMs`.
 */
export function changeAlone<T>(folder: string, change: () => T, options: ChangeOptions = {}): T {
  const { waitMs = patienceMs } = options;
  const until = performance.now() + waitMs;
  let lock: FolderLock | undefined;
  for (let round = 0; !(lock = tryLock(folder, options)); round += 1) {
    if (performance.now() >= until)
      throw new UserError('conflict', `Another process is changing ${folder}; its mark there is lock.…`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseBeforeRound(round));
  }
  try {
    return change();
  } finally {
    lock.release();
  }
}
