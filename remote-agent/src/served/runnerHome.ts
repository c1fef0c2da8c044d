import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import { toFileError } from '../files/fileError.ts';

/** The folder of a served runner and what lies in it, absolute. */
export interface RunnerHome {
  readonly path: string;
  readonly journal: string;
  readonly events: string;
  readonly blobs: string;
  readonly scratch: string;
}

/**
 * Opens the folder, made where it is missing, all of it 0700. Throws `unsafe-path` where it is a link or another
 * user's: who can write here runs jobs.
 */
export function openRunnerHome(path: string, uid: number): RunnerHome {
  const home = {
    path,
    journal: join(path, 'journal'),
    events: join(path, 'events'),
    blobs: join(path, 'blobs'),
    scratch: join(path, 'scratch'),
  };
  try {
    for (const folder of [path, home.events, home.blobs, home.scratch]) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const found = lstatSync(folder);
      if (!found.isDirectory() || (uid >= 0 && found.uid !== uid))
        throw new UserError('unsafe-path', `${folder} is no folder of this user`, { path: folder });
      if ((found.mode & 0o777) !== 0o700) chmodSync(folder, 0o700);
    }
  } catch (error) {
    throw toFileError(error, 'make the folder', path);
  }
  return home;
}
