import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { bridgeMethods } from '../../../protocol/src/bridge.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { showName } from '../../../remote-agent/src/files/treePath.ts';
import type { AppStorage } from '../plugins/appStorage.ts';
import type { AppRecords } from './appRecords.ts';
import type { DataRestore } from './installer.ts';
import { storageLimitBytes } from './quota.ts';

/**
 * Restores data by way of a file beside: it is written whole, named in the transaction that installs the app, and then
 * renamed into its place. A start of the engine finishes what was cut off in between (`finishRestores`).
 */
export function createDataRestore(
  storage: AppStorage,
  records: AppRecords,
  createId: () => string,
): DataRestore {
  return {
    prepare(app, data, content) {
      const beside = `restore-${createId()}`.slice(0, 64);
      const drop = () => storage.clear(beside);
      try {
        const limitBytes = storageLimitBytes(content.asked);
        for (const path of data.files.keys()) {
          const isPath = z.safeParse(bridgeMethods['files.delete'].params, { path }).success;
          if (!isPath)
            throw new UserError(
              'bad-app',
              `The backup has data under ${showName(path)}, which no app can use.`,
              { path },
            );
          storage.put(beside, path, data.read(path), limitBytes);
        }
        storage.release(beside);
      } catch (error) {
        drop();
        throw error;
      }
      const file = storage.fileOf(beside);
      return {
        record: () => records.putRestore(app, basename(file)),
        settle: () => settle(storage, records, app, file),
        drop,
      };
    },
  };
}

/** Puts in place what a transaction named and an engine that ended did not get to. */
export function finishRestores(storage: AppStorage, records: AppRecords, now: number): void {
  for (const { app, file } of records.restores())
    settle(storage, records, app, join(dirname(storage.fileOf(app)), basename(file)));
  removeLeftOvers(dirname(storage.fileOf('restore')), now);
}

/** What is young may be on its way in another window. */
function removeLeftOvers(folder: string, now: number): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    if (!name.startsWith('restore-')) continue;
    const stat = statSync(join(folder, name), { throwIfNoEntry: false });
    if (stat && stat.mtimeMs < now - hourMs) rmSync(join(folder, name), { force: true });
  }
}

const hourMs = 60 * 60 * 1000;

function settle(storage: AppStorage, records: AppRecords, app: string, file: string): void {
  storage.release(app);
  if (existsSync(file)) {
    rmSync(`${storage.fileOf(app)}-journal`, { force: true });
    renameSync(file, storage.fileOf(app));
    rmSync(`${file}-journal`, { force: true });
  }
  records.removeRestore(app);
}
