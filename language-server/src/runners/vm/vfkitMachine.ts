import type { ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { UserError } from '../../../../protocol/src/errors.ts';
import { guestPorts, type GuestPort } from '../../../../protocol/src/vmGuest.ts';
import type { Hypervisor, StartOptions } from './hypervisor.ts';
import { startedFacts, type MachineFolder } from './machineFolder.ts';
import { sealedVfkit } from './sealedVfkit.ts';
import { vfkitArguments } from './vfkitArguments.ts';
import { askVfkit } from './vfkitOrders.ts';
import { imageFiles } from './vmFolder.ts';

/** How vfkit is started; in its place, tests put what they need. */
export interface VfkitPrograms {
  /** Absolute. */
  readonly vfkit: string;
  readonly spawnMachine: (
    program: string,
    args: readonly string[],
    folder: string,
    files: { readonly output: number },
  ) => ChildProcess;
  /** Copies a file so that the copy takes no room until it is written (clonefile(2)). Throws where that can't be done. */
  readonly clone: (from: string, to: string) => void;
}

/**
 * VMs of Apple's Virtualization framework, by vfkit. Each boots: nothing of a running VM is stored. Written by vfkit's
 * documentation and held against a program that stands in for it; it was never run on a Mac.
 */
export function vfkitHypervisor(programs: VfkitPrograms): Hypervisor {
  return {
    start: (options) => start(programs, options),
    isRunning: async (folder) => (await askVfkit(folder.socket(orders), 'GET')) !== undefined,
    stop,
  };
}

/** The socket on which vfkit takes orders. */
const orders = 'orders';

async function start(programs: VfkitPrograms, options: StartOptions): Promise<void> {
  const { folder, image, shape, shares, signal } = options;
  folder.clear();
  const kinds = Object.keys(guestPorts) as GuestPort[];
  const files = imageFiles(image);
  const own = { root: folder.file('root.ext4'), disk: folder.file('disk.ext4') };
  const args = vfkitArguments(shape, {
    ...own,
    kernel: files.kernel,
    initrd: files.initrd,
    ports: Object.fromEntries(kinds.map((kind) => [kind, folder.socketFile(kind)])) as Record<
      GuestPort,
      string
    >,
    orders: folder.socketFile(orders),
    console: folder.file('console.log'),
    shares: shares.map(({ path }) => path),
  });
  for (const name of ['root', 'disk'] as const) {
    try {
      programs.clone(files[name], own[name]);
    } catch (error) {
      throw new UserError(
        'isolation-missing',
        'The disks of a VM can’t be cloned here',
        { remedy: 'Keep Sallyport’s folder on an APFS disk.' },
        { cause: error },
      );
    }
  }
  const output = openSync(folder.file('vfkit.log'), 'w', 0o600);
  try {
    const [program = '', ...words] = sealedVfkit({
      program: programs.vfkit,
      args,
      image: realpathSync(image),
      own: [folder.path, folder.socketFile('')].map((path) => realpathSync(path)),
      shares: shares.map(({ path }) => path),
    });
    const child = programs.spawnMachine(program, words, folder.path, { output });
    await new Promise<void>((resolve, reject) => {
      child.once('error', (error) =>
        reject(new UserError('isolation-missing', `${program} can’t be started: ${error.message}`)),
      );
      child.once('spawn', resolve);
    });
    child.unref();
    folder.ended = new Promise((resolve) => child.once('exit', () => resolve()));
    await untilThere(folder, child, signal);
  } finally {
    closeSync(output);
  }
  folder.writeFacts(startedFacts(options));
}

/** Resolves when vfkit says that the VM runs. Throws with its own words where it ended instead. */
async function untilThere(folder: MachineFolder, child: ChildProcess, signal: AbortSignal): Promise<void> {
  const until = performance.now() + startMs;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) throw ended(folder);
    if (signal.aborted || performance.now() > until) {
      child.kill('SIGKILL');
      throw signal.aborted
        ? new UserError('cancelled', 'Starting the VM was cancelled')
        : new UserError('unreachable', 'vfkit did not start the VM in time');
    }
    const answer = await askVfkit(folder.socket(orders), 'GET');
    if (answer && /"VirtualMachineStateRunning"/.test(answer)) return;
    await wait(pollMs);
  }
}

function ended(folder: MachineFolder): UserError {
  const said = readFileSync(folder.file('vfkit.log'), 'utf8').trim().split('\n').slice(-3).join(' · ');
  return new UserError('isolation-missing', `vfkit did not start: ${said || 'it said nothing'}`, {
    remedy: 'Sallyport: Doctor says what a VM needs here.',
  });
}

async function stop(folder: MachineFolder): Promise<void> {
  const until = performance.now() + stopMs;
  while ((await askVfkit(folder.socket(orders), 'POST', { state: 'HardStop' })) !== undefined) {
    if (performance.now() > until) throw new UserError('unreachable', 'The VM does not end');
    await wait(pollMs);
  }
  folder.clear();
}

const startMs = 30_000;
const stopMs = 10_000;
const pollMs = 50;

/** Where people install vfkit; undefined where it is not. */
export function findVfkit(hasFile: (path: string) => boolean = existsSync): string | undefined {
  return vfkitFolders.map((folder) => join(folder, 'vfkit')).find(hasFile);
}

const vfkitFolders = ['/opt/homebrew/bin', '/usr/local/bin', '/opt/podman/bin'];
