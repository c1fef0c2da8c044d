import { UserError } from '../../protocol/src/errors.ts';
import { defaultCardLimits } from '../../protocol/src/limits.ts';
import { idPattern } from '../../protocol/src/manifests.ts';
import type { HiddenPath, JobSpec } from '../../protocol/src/runner.ts';
import type { FileOwner } from './files/materialize.ts';
import { showName, treePathFault } from './files/treePath.ts';
import type { Mask } from './isolation/bubblewrap.ts';
import type { Mount, SandboxRequest } from './isolation/bubblewrapSandboxes.ts';
import { assertShareable, writerOf } from './sharedFolder.ts';

/**
 * What a job's access means for its sandbox, the egress bridge apart. `private` are folders of Sallyport's own that
 * no grant can reach: the stored results and the folders of other jobs. `folderUser` is who acts in shared folders
 * where it is not for their owners to say. Throws `unsafe-path`.
 */
export function sandboxRequest(
  job: JobSpec,
  privateFolders: readonly string[],
  folderUser?: FileOwner,
): SandboxRequest {
  const { network, hostFolders, projectRoot, projectHidden = [] } = job.access;
  const mounts = hostFolders.map(({ path: folder, name, write }): Mount => {
    if (!idPattern.test(name)) throw new UserError('unsafe-path', `Not the name of a folder: ${name}`);
    return { path: folder, target: `/host/${name}`, write };
  });
  if (projectRoot !== undefined) mounts.push({ path: projectRoot, target: '/project', write: false });
  for (const mount of mounts) assertShareable(mount.path, privateFolders);
  return {
    network: network.kind === 'none' ? 'none' : network.kind === 'hosts' ? 'bridge' : 'all',
    limits: job.limits,
    mounts,
    ...(projectHidden.length === 0 ? {} : { masks: masksOf(projectRoot, projectHidden) }),
    environment: {},
    user: mounts.length > 0 && folderUser !== undefined ? folderUser : writerOf(mounts),
  };
}

function masksOf(projectRoot: string | undefined, hidden: readonly HiddenPath[]): Mask[] {
  return hidden.map(({ path: hiddenPath, kind }) => {
    const fault = projectRoot === undefined ? 'is in no project' : treePathFault(hiddenPath);
    if (fault !== undefined) throw new UserError('unsafe-path', `${showName(hiddenPath)} ${fault}`);
    return { target: `/project/${hiddenPath}`, kind };
  });
}

/** What a card gets that asks for nothing. */
export function standbyRequest(outputMB: number = defaultCardLimits.outputMB): SandboxRequest {
  return { network: 'none', limits: { outputMB }, mounts: [], environment: {}, user: undefined };
}

/** True where a sandbox that was made beforehand for this size of outputs is exactly what is asked for. */
export function isStandby(request: SandboxRequest): boolean {
  return (
    request.network === 'none' &&
    request.mounts.length === 0 &&
    request.files === undefined &&
    request.user === undefined &&
    Object.keys(request.environment).length === 0
  );
}
