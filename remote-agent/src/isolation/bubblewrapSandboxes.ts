import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { errorMessage } from '../../../protocol/src/errors.ts';
import type { JobLimits } from '../../../protocol/src/runner.ts';
import type { FileOwner } from '../files/materialize.ts';
import { isOutputInMemory, outputBytes, scratchBytes } from '../limits.ts';
import { removeFolder } from '../runnerFolder.ts';
import { makeStageFolders, type StagedJob } from '../stage.ts';
import { sandboxArguments, type Mask, type SystemEntry } from './bubblewrap.ts';
import { closedParentError } from './closedParent.ts';
import { initDescriptors, type Preparation } from './initScript.ts';
import { keepNamespace } from './keeper.ts';
import { openSandbox, pipeOf, type Sandbox } from './sandbox.ts';
import type { SocketProfile } from './seccomp.ts';

/** A file or folder of this machine by its path. It is opened here without following a link as its last component. */
export interface Mount {
  readonly path: string;
  readonly target: string;
  readonly write: boolean;
}

export type Network = 'none' | 'bridge' | 'all';

/** What differs between sandboxes. */
export interface SandboxRequest {
  /** `bridge` is an empty network with a way to the egress proxy, `all` the host's own. */
  readonly network: Network;
  readonly limits: Pick<JobLimits, 'outputMB'>;
  /** Folders that the person granted, and what a helper inside needs. */
  readonly mounts: readonly Mount[];
  /** What of the mounts is covered. */
  readonly masks?: readonly Mask[];
  /** Files of the runner's own that this sandbox is shown read-only; they open nothing of the host's. */
  readonly files?: readonly Mount[];
  readonly environment: Readonly<Record<string, string>>;
  /** What runs inside first, with a channel to this process. */
  readonly bridge?: Bridge;
  /** Whom a root runner starts the card as; undefined for a user that nothing else belongs to. */
  readonly user: FileOwner | undefined;
}

/** A program inside that passes something out of the sandbox before its card starts. */
export interface Bridge extends Preparation {
  /** Called in the turn of the spawn. */
  onSpawn(child: ChildProcess): void;
}

/** Facts about this machine and this runner that every sandbox is made from. */
export interface SandboxPlace {
  /** A fixed system path, never one found through PATH. */
  readonly program: string;
  readonly system: readonly SystemEntry[];
  /** What starts the shell that waits for its script inside. */
  readonly shell: readonly string[];
  /** Single files and folders that cards are shown read-only. */
  readonly mounts: Readonly<Record<Network, readonly Mount[]>>;
  /** Links inside: path → target. */
  readonly links: Readonly<Record<string, string>>;
  /** The compiled seccomp filters, as files. Undefined only in the negative controls of tests. */
  readonly filters: Readonly<Record<SocketProfile, string>> | undefined;
  readonly environment: Readonly<Record<string, string>>;
  /** The user of the n-th sandbox, or undefined for the runner's own, who is then not root. */
  owner(turn: number): FileOwner | undefined;
}

/** A sandbox with the folders that its job is staged into. Whoever opened it removes `staged.folder`. */
export interface PreparedSandbox {
  readonly sandbox: Sandbox;
  readonly staged: StagedJob;
  readonly owner: FileOwner | undefined;
  /** Where the card's own folder is seen inside. */
  readonly cardFolder: string;
  /** What the card's environment holds because of where its folders are. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Where bubblewrap reports in JSON, and the first descriptor that is free for what it is given to mount. */
const statusDescriptor = 7;
const firstFreeDescriptor = 8;

let turn = 0;

/**
 * Starts a sandbox around fresh, empty folders under `folder`, which must not exist. Rejects with bubblewrap's own
 * words where the kernel or the machine refuses any part of it, leaving nothing; there is no lesser form. Rejects with
 * `unsafe-path` where the card's user can't get to a granted folder.
 */
export async function openBubblewrap(
  place: SandboxPlace,
  request: SandboxRequest,
  folder: string,
): Promise<PreparedSandbox> {
  const unused = place.owner(turn++);
  const owner = unused && (request.user ?? unused);
  const staged = makeStageFolders(folder, owner);
  const inMemory = isOutputInMemory(request.limits);
  let granted: Spawned['granted'] = [];
  try {
    const spawned = spawnBubblewrap(place, request, owner, [
      { path: staged.codeFolder, target: '/card', write: false },
      { path: staged.inputsFolder, target: '/in', write: false },
      ...(inMemory ? [] : [{ path: staged.outputsFolder, target: '/out', write: true }]),
    ]);
    const { child } = spawned;
    granted = spawned.granted;
    request.bridge?.onSpawn(child);
    const sandbox = await openSandbox(child, {
      keeper: keepNamespace(child, pipeOf(child, statusDescriptor)),
      outputsPath: ({ pid }) => (inMemory ? `/proc/${pid}/root/out` : staged.outputsFolder),
      preparation: request.bridge,
    });
    return { sandbox, staged, owner, cardFolder: '/card', environment: {} };
  } catch (error) {
    removeFolder(folder);
    throw closedParentError(errorMessage(error), granted, owner) ?? error;
  }
}

/** Unix sockets are a card's own affair only as long as none of the host's can be seen. */
export function socketProfile({
  network,
  mounts,
}: Pick<SandboxRequest, 'network' | 'mounts'>): SocketProfile {
  const isAlone = mounts.length === 0 && network !== 'all';
  if (network === 'none') return isAlone ? 'local' : 'closed';
  return isAlone ? 'bridge' : 'ip';
}

interface Spawned {
  readonly child: ChildProcess;
  /** The granted folders by the descriptors that bubblewrap has of them. */
  readonly granted: readonly { readonly descriptor: number; readonly path: string }[];
}

function spawnBubblewrap(
  place: SandboxPlace,
  request: SandboxRequest,
  owner: FileOwner | undefined,
  folders: readonly Mount[],
): Spawned {
  const opened: number[] = [];
  const open = (path: string): number => {
    opened.push(openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK));
    return firstFreeDescriptor + opened.length - 1;
  };
  try {
    const seccompDescriptor = place.filters && open(place.filters[socketProfile(request)]);
    const bind = (mount: Mount) => ({ ...mount, descriptor: open(mount.path) });
    const own = [...place.mounts[request.network], ...(request.files ?? []), ...folders].map(bind);
    const granted = request.mounts.map(bind);
    const words = sandboxArguments({
      network: request.network === 'all' ? 'host' : 'own',
      system: place.system,
      binds: [...own, ...granted],
      masks: request.masks ?? [],
      links: place.links,
      memoryFolders: {
        ...scratchBytes,
        ...(isOutputInMemory(request.limits) ? { '/out': outputBytes(request.limits) } : {}),
      },
      environment: { ...place.environment, ...request.environment },
      workingFolder: '/home/card',
      seccompDescriptor,
      statusDescriptor,
      command: place.shell,
    });
    const pipes = Array.from({ length: firstFreeDescriptor }, (_, descriptor) => {
      if (descriptor === initDescriptors.unused) return 'ignore';
      return descriptor !== initDescriptors.channel ? 'pipe' : request.bridge ? 'ipc' : 'ignore';
    });
    const options = { stdio: [...pipes, ...opened], env: {}, cwd: '/', ...owner };
    return { child: spawn(place.program, words, options), granted };
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}
