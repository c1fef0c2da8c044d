import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../protocol/src/errors.ts';
import { idPattern } from '../../protocol/src/manifests.ts';
import type { JobSpec } from '../../protocol/src/runner.ts';
import type { BlobStore } from './files/blobStore.ts';
import { toFileError } from './files/fileError.ts';
import { materialize, type FileOwner } from './files/materialize.ts';
import { createPace } from './files/pace.ts';

/** The folders of one job, absolute. Only `outputsFolder` is for the card to write to. */
export interface StagedJob {
  /** The folder that holds all the others. Whoever staged the job removes it. */
  readonly folder: string;
  /** The card's folder, read-only files. */
  readonly codeFolder: string;
  /** One entry for each wired input, named after its port: a read-only file or a folder of such. */
  readonly inputsFolder: string;
  /** Empty. */
  readonly outputsFolder: string;
}

export interface StageOptions {
  /** The user that the card runs as, where the runner is root and the card is not. */
  readonly owner?: FileOwner;
  /** The folders of `folder` were made before by `makeStageFolders`, such as for a standby sandbox. */
  readonly prepared?: boolean;
  readonly signal?: AbortSignal;
}

/** Makes `folder` (0700, must not exist) with the empty folders of a job. Throws `disk-full` or `unreadable`. */
export function makeStageFolders(folder: string, owner?: FileOwner): StagedJob {
  const staged = stagedPaths(folder);
  const { codeFolder, inputsFolder, outputsFolder } = staged;
  try {
    for (const each of [folder, codeFolder, inputsFolder, outputsFolder]) {
      mkdirSync(each, 0o700);
      if (owner) chownSync(each, owner.uid, owner.gid);
    }
  } catch (error) {
    throw toFileError(error, 'make the folders of a run in', folder);
  }
  return staged;
}

/**
 * Copies the files that a job may see into `folder`: its frozen code and its inputs. Copies only, so nothing that the
 * card does reaches the stored originals. Throws as `materialize` does, and `bad-message` for a job
 * whose ports are no plain names; what was written by then is the caller's to remove with `folder`.
 */
export async function stageJob(
  store: BlobStore,
  job: JobSpec,
  folder: string,
  { owner, prepared = false, signal }: StageOptions = {},
): Promise<StagedJob> {
  assertPorts(job.inputs.map((input) => input.port));
  assertPorts(job.outputs.map((output) => output.port));
  const staged = prepared ? stagedPaths(folder) : makeStageFolders(folder, owner);
  const copying = { pace: createPace(signal), ...(owner && { owner }) };
  await materialize(store, job.code, staged.codeFolder, { ...copying, intoExisting: true });
  for (const { port, artifact } of job.inputs) {
    await materialize(store, artifact, join(staged.inputsFolder, port), copying);
  }
  return staged;
}

function stagedPaths(folder: string): StagedJob {
  return {
    folder,
    codeFolder: join(folder, 'code'),
    inputsFolder: join(folder, 'inputs'),
    outputsFolder: join(folder, 'outputs'),
  };
}

/** Ports become names of files, so they are checked here again, next to the use. */
function assertPorts(ports: readonly string[]): void {
  const bad = ports.find((port) => !idPattern.test(port));
  if (bad !== undefined) throw new UserError('bad-message', `Not the name of a port: ${JSON.stringify(bad)}`);
  if (new Set(ports).size !== ports.length) throw new UserError('bad-message', 'A port comes twice');
}
