import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../../protocol/src/errors.ts';
import { spawnSystemTool } from '../../environment.ts';
import { answers } from './answers.ts';
import { buildImage } from './buildImage.ts';
import { exportImage } from './exportImage.ts';
import { MachineFolder } from './machineFolder.ts';
import { lookAround, vmDiskMB, vmSize } from './openVmPlace.ts';
import { storedName, storeMachine } from './storedMachine.ts';
import { openVmFolder } from './vmFolder.ts';
import { contentDigest, readImage, type VmImage } from './vmImage.ts';
import { createVmTransport } from './vmTransport.ts';
import { warmUp } from './warmUp.ts';
import type { Accelerator } from './qemuArguments.ts';

export interface BuildVmOptions {
  readonly home: string;
  readonly runner: string;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** What is done now, and how far all of it is (0 to 1). */
  readonly onStep: (text: string, fraction: number) => void;
  readonly onProblem: (problem: string) => void;
}

export interface BuiltVm {
  readonly image: VmImage;
  readonly accelerator: Exclude<Accelerator, 'vz'>;
}

export interface ExportVmOptions extends Pick<
  BuildVmOptions,
  'home' | 'runner' | 'now' | 'signal' | 'onStep'
> {
  /** Absolute; it must not exist. */
  readonly file: string;
}

/**
 * Writes the image to a file for another computer. Where there is none, or one of another Sallyport, it is built, and
 * not started: that may be possible only there. Throws as building does, and as `exportImage` does.
 */
export async function exportVm(options: ExportVmOptions): Promise<{ digest: string; sizeBytes: number }> {
  const { home, runner, file, now, signal, onStep } = options;
  const folder = openVmFolder(home);
  const known = readImage(folder.image);
  const image =
    known?.runnerDigest === contentDigest(runner)
      ? known
      : await buildImage({ ...recipe(), folder, runner, now, signal, onStep });
  return exportImage({ folder: folder.image, image, file, spawnTool: spawnSystemTool, signal, onStep });
}

/**
 * Builds the image, boots it, runs a first card of each runtime in it and stores the VM, with and without a network, so
 * that later ones start from there; a store that no VM comes back from is removed, and VMs boot. Throws
 * `isolation-missing` with the remedy, `cancelled`, `disk-full`.
 */
export async function buildVm(options: BuildVmOptions): Promise<BuiltVm> {
  const { home, runner, now, signal, onStep, onProblem } = options;
  const folder = openVmFolder(home);
  const image = await buildImage({ ...recipe(), folder, runner, now, signal, onStep });
  onStep('Looking at what VMs run on here', 0.8);
  const machine = await lookAround({ runner, now }, folder.image, folder.machines, vmSize());
  const { hypervisor } = machine;
  const { accelerator } = machine.shape;
  if (accelerator === 'vz') throw new UserError('isolation-missing', 'An image can’t be built on a Mac');
  for (const network of [false, true]) {
    const shape = { ...machine.shape, network };
    const name = storedName(shape, machine.version);
    const stored = { path: join(folder.image, name), text: network ? 'a VM with a network' : 'a VM' };
    for (let left = storeAttempts; left > 0; left -= 1) {
      onStep(`Booting ${stored.text} and running first cards in it`, network ? 0.92 : 0.82);
      const held = await MachineFolder.create(folder.machines, hypervisor.isRunning);
      try {
        const transport = createVmTransport({
          folder: held,
          hypervisor,
          image: { path: folder.image, id: image.id, diskMB: vmDiskMB },
          shape,
          shares: [],
          stored: () => undefined,
          project: () => null,
          now,
          onProblem,
        });
        await warmUp(transport, folder.path, signal, onProblem);
        onStep('Storing the VM', network ? 0.98 : 0.9);
        await storeMachine(held, folder.image, name, signal);
      } finally {
        await hypervisor.stop(held);
        held.release();
      }
      const isBack = await answers({
        ...{ hypervisor, image: folder.image, imageId: image.id, machines: folder.machines, now },
        ...{ shape, stored: name, diskMB: vmDiskMB, timeoutMs: backMs },
      });
      if (isBack) break;
      rmSync(stored.path, { recursive: true, force: true });
      onProblem(`${stored.text} that was stored did not come back`);
    }
  }
  onStep('Done', 1);
  return { image, accelerator };
}

/**
 * A VM that booted and was stored beside much other work may stand still when it is started from there: its timer rings
 * without end, and nothing that waits goes on.
 */
const storeAttempts = 2;
const backMs = 30_000;

/** What an image is made of on this computer. */
function recipe() {
  return {
    node: plainNode(),
    architecture: process.arch,
    uid: process.getuid?.() ?? -1,
    diskMB: vmDiskMB,
    spawnTool: spawnSystemTool,
  };
}

/** The Node for inside: the one that runs this, where it is a plain one. */
function plainNode(): { path: string; version: string } {
  if (process.versions['electron'] === undefined) return { path: process.execPath, version: process.version };
  throw new UserError('isolation-missing', 'VS Code’s own Node can’t run in a VM', {
    remedy: `Build the image at a terminal with Node 20 or newer: node ${join('dist', 'cli.mjs')} vm build`,
  });
}
