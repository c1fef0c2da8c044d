import { pauseBeforeRound, tryLock, type FolderLock } from '../../../../remote-agent/src/files/folderLock.ts';
import type { VaultFiles } from './vaultFiles.ts';
import { VaultError } from './vaultState.ts';

/**
 * One writer at a time in a vault's folder, among processes. Waits for those who have it. Rejects with `busy` at the end
 * of the time, 10 s where none is given.
 */
export async function lockFolder(
  folder: string,
  options: { readonly files: VaultFiles; readonly timeoutMs?: number },
): Promise<FolderLock> {
  const { files, timeoutMs = 10_000 } = options;
  const end = performance.now() + timeoutMs;
  for (let round = 0; ; round++) {
    const lock = tryLock(folder, { files });
    if (lock) return lock;
    if (performance.now() >= end) throw new VaultError('busy');
    await new Promise((resolve) => setTimeout(resolve, pauseBeforeRound(round)));
  }
}
