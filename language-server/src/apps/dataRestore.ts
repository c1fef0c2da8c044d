import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { BridgeError, bridgeMethods } from '../../../protocol/src/bridge.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { showName } from '../../../remote-agent/src/files/treePath.ts';
import type { AppStorage } from '../plugins/appStorage.ts';
import type { AppRecords } from './appRecords.ts';
import type { DataRestore } from './installer.ts';
import { storageLimitBytes } from './quota.ts';

/**
 * Restores data by way of a file beside: it is written whole into a storage of its own, named in the transaction that
 * installs the app, and then renamed into its place. A start of the engine finishes what was cut off (`finishRestores`).
 */
export function createDataRestore({ storage, restoring, records, createId }: RestoreParts): DataRestore {
  return {
    prepare(app, data, content) {
      const beside = `r${createId()}`;
      const drop = () => restoring.clear(beside);
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
          restoring.put(beside, path, data.read(path), limitBytes);
        }
        restoring.release(beside);
      } catch (error) {
        drop();
        if (!(error instanceof BridgeError)) throw error;
        throw new UserError(
          'bad-app',
          `The data of the backup is more than the app may store: ${error.message}.`,
        );
      }
      return {
        record: () => records.putRestore(app, beside),
        settle: () => settle({ storage, restoring, records }, app, beside),
        drop,
      };
    },
  };
}

/** Puts in place what a transaction named and an engine that ended did not get to, and removes what was given up. */
export function finishRestores(parts: Omit<RestoreParts, 'createId'>, now: number): void {
  for (const { app, file } of parts.records.restores()) settle(parts, app, file);
  const folder = dirname(parts.restoring.fileOf('any'));
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    // What is young may be on its way in another window.
    const stat = statSync(join(folder, name), { throwIfNoEntry: false });
    if (stat && stat.mtimeMs < now - hourMs) rmSync(join(folder, name), { force: true });
  }
}

export interface RestoreParts {
  readonly storage: AppStorage;
  /** Storage of the same kind in another folder of the same disk, so that no app has a place there. */
  readonly restoring: AppStorage;
  readonly records: AppRecords;
  readonly createId: () => string;
}

function settle(
  { storage, restoring, records }: Omit<RestoreParts, 'createId'>,
  app: string,
  beside: string,
): void {
  const file = restoring.fileOf(beside);
  storage.release(app);
  if (existsSync(file)) {
    const place = storage.fileOf(app);
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
    rmSync(`${place}-journal`, { force: true });
    renameSync(file, place);
    restoring.clear(beside);
  }
  records.removeRestore(app);
}

const hourMs = 60 * 60 * 1000;
