import { lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import { UserError } from '../../protocol/src/errors.ts';
import { defaultCardLimits } from '../../protocol/src/limits.ts';
import { idPattern } from '../../protocol/src/manifests.ts';
import type { HiddenPath, JobSpec } from '../../protocol/src/runner.ts';
import type { FileOwner } from './files/materialize.ts';
import { showName, treePathFault } from './files/treePath.ts';
import type { Mask } from './isolation/bubblewrap.ts';
import type { Mount, SandboxRequest } from './isolation/bubblewrapSandboxes.ts';

/**
 * What a job's access means for its sandbox, the egress bridge apart. `private` are folders of Sallyport's own that
 * no grant can reach: the stored results and the folders of other jobs. Throws `unsafe-path`.
 */
export function sandboxRequest(job: JobSpec, privateFolders: readonly string[]): SandboxRequest {
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
    user: writerOf(mounts),
  };
}

function masksOf(projectRoot: string | undefined, hidden: readonly HiddenPath[]): Mask[] {
  return hidden.map(({ path: hiddenPath, kind }) => {
    const fault = projectRoot === undefined ? 'is in no project' : treePathFault(hiddenPath);
    if (fault !== undefined) throw new UserError('unsafe-path', `${showName(hiddenPath)} ${fault}`);
    return { target: `/project/${hiddenPath}`, kind };
  });
}

/**
 * Whom a root runner starts a card as that may write to folders: their owner, who must be one and not root. Ordinary
 * runners keep their own user.
 */
function writerOf(mounts: readonly Mount[], uid = process.getuid?.()): FileOwner | undefined {
  if (uid !== 0) return undefined;
  const written = mounts
    .filter((mount) => mount.write)
    .map(({ path: folder }) => {
      const { uid: owner, gid } = statSync(folder);
      return { folder, uid: owner, gid };
    });
  const [first] = written;
  if (!first) return undefined;
  const bad = written.find((each) => each.uid === 0 || each.uid !== first.uid || each.gid !== first.gid);
  if (!bad) return { uid: first.uid, gid: first.gid };
  const text = `The folder ${bad.folder} can't be written to by a card: cards of a root runner act for the owner of the folder, who must not be root`;
  const remedy = 'Give the folder to an ordinary user with chown, or run Sallyport as one.';
  throw new UserError('unsafe-path', text, { path: bad.folder, remedy });
}

/** What a card gets that asks for nothing and keeps the default size of outputs. */
export const standbyRequest: SandboxRequest = {
  network: 'none',
  limits: { outputMB: defaultCardLimits.outputMB },
  mounts: [],
  environment: {},
  user: undefined,
};

/** True where a sandbox that was made beforehand is exactly what is asked for. */
export function isStandby(request: SandboxRequest): boolean {
  return (
    request.network === 'none' &&
    request.mounts.length === 0 &&
    request.files === undefined &&
    request.user === undefined &&
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
