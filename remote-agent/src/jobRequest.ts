import { lstatSync } from 'node:fs';
import path from 'node:path';
import { UserError } from '../../protocol/src/errors.ts';
import { defaultCardLimits } from '../../protocol/src/limits.ts';
import { idPattern } from '../../protocol/src/manifests.ts';
import type { JobSpec } from '../../protocol/src/runner.ts';
import type { Mount, SandboxRequest } from './isolation/bubblewrapSandboxes.ts';

/**
 * What a job's access means for its sandbox, the egress bridge apart. `private` are folders of Sallyport's own that
 * no grant can reach: the stored results and the folders of other jobs. Throws `unsafe-path`.
 */
export function sandboxRequest(job: JobSpec, privateFolders: readonly string[]): SandboxRequest {
  const { network, hostFolders, projectRoot } = job.access;
  const mounts = hostFolders.map(({ path: folder, name, write }): Mount => {
    if (!idPattern.test(name)) throw new UserError('unsafe-path', `Not the name of a folder: ${name}`);
    return { path: folder, target: `/host/${name}`, write };
  });
  if (projectRoot !== undefined) mounts.push({ path: projectRoot, target: '/project', write: false });
  for (const mount of mounts) assertShareable(mount.path, privateFolders);
  return {
    profile: network.kind === 'none' ? 'none' : network.kind === 'hosts' ? 'bridge' : 'all',
    limits: job.limits,
    mounts,
    environment: {},
    ownUser: mounts.length === 0,
  };
}

/** What a card gets that asks for nothing and keeps the default size of outputs. */
export const standbyRequest: SandboxRequest = {
  profile: 'none',
  limits: { outputMB: defaultCardLimits.outputMB },
  mounts: [],
  environment: {},
  ownUser: true,
};

/** True where a sandbox that was made beforehand is exactly what is asked for. */
export function isStandby(request: SandboxRequest): boolean {
  return (
    request.profile === 'none' &&
    request.mounts.length === 0 &&
    request.ownUser &&
    Object.keys(request.environment).length === 0 &&
    request.limits.outputMB === standbyRequest.limits.outputMB
  );
}

function assertShareable(folder: string, privateFolders: readonly string[]): void {
  const refuse = (why: string): never => {
    throw new UserError('unsafe-path', `The folder ${folder} can't be shown to a card: ${why}`, {
      path: folder,
    });
  };
  if (!path.isAbsolute(folder) || path.normalize(folder) !== folder.replace(/(.)\/$/, '$1')) {
    refuse('it is no plain absolute path');
  }
  if (privateFolders.some((own) => contains(own, folder) || contains(folder, own))) {
    refuse('it holds what Sallyport keeps for itself');
  }
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (!found) refuse('it is not there');
  else if (found.isSymbolicLink()) refuse('it is a link; name the folder that it leads to');
  else if (!found.isDirectory()) refuse('it is no folder');
}

function contains(outer: string, inner: string): boolean {
  const relative = path.relative(outer, inner);
  return relative === '' || (!relative.startsWith('..') && !path.isAbsolute(relative));
}
