import { watch, type FSWatcher } from 'node:fs';
import type { Disposable } from '../../disposable.ts';
import type { VaultPlace } from '../core/openOptions.ts';
import type { Vaults } from '../life/vaults.ts';

const quietMs = 100;

/** Looks again at an open vault when its folder changes, as another window does it. Watches only while one is open. */
export function watchVaultFolder(
  places: readonly Pick<VaultPlace, 'folder'>[],
  vaults: Vaults,
  onError: (error: unknown) => void,
): Disposable {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    for (const watcher of watchers.values()) watcher.close();
    watchers.clear();
  };
  const refresh = (): void => {
    for (const { status } of [vaults.agents, vaults.personal])
      if (status.state === 'open') status.vault.refresh().catch(onError);
  };
  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(refresh, quietMs);
  };
  const update = (): void => {
    const isOpen = [vaults.agents, vaults.personal].some(({ status }) => status.state === 'open');
    if (!isOpen) return stop();
    for (const { folder } of places) {
      if (watchers.has(folder)) continue;
      try {
        watchers.set(folder, watch(folder, soon).on('error', onError));
      } catch {
        // A vault that is not there yet has no folder.
      }
    }
  };
  const subscription = vaults.onDidChange(update);
  return {
    dispose: () => {
      clearTimeout(timer);
      subscription.dispose();
      stop();
    },
  };
}
