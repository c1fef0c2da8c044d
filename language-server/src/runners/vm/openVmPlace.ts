import { existsSync } from 'node:fs';
import { arch, availableParallelism, totalmem } from 'node:os';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { PlaceView } from '../../../../protocol/src/places.ts';
import type { PlaceRunner } from '../places/placeRunner.ts';
import type { RunnerTransport } from '../places/runnerTransport.ts';
import { spawnMachine, spawnShare, spawnSystemTool } from '../../environment.ts';
import { chooseAccelerator } from './accelerator.ts';
import { isRunning, openPort, startMachine, stopMachine, type MachinePrograms } from './machine.ts';
import { MachineFolder } from './machineFolder.ts';
import type { VmShape } from './qemuArguments.ts';
import { sharesOf } from './shares.ts';
import { hasStored, storedName } from './storedMachine.ts';
import { runTool } from './tools.ts';
import { virtiofsdPrograms } from './virtiofsd.ts';
import { openVmFolder } from './vmFolder.ts';
import { assertImage } from './vmImage.ts';
import { VmPlace, type Vm, type VmKind } from './vmPlace.ts';
import { createVmTransport } from './vmTransport.ts';

/** Megabytes that the disk of a VM can grow to. */
export const vmDiskMB = 32 * 1024;

export interface VmSurroundings {
  /** The folder of Sallyport's state. */
  readonly home: string;
  /** `remote-agent.cjs`. */
  readonly runner: string;
  readonly now: () => number;
  readonly onProblem: (problem: string) => void;
  /**
   * Makes the runner of a served runner's transport; its jobs are remembered under `key`, and where it would tell how
   * things stand with it, it tells what `shown` makes of that.
   */
  readonly remote: (
    transport: RunnerTransport,
    key: string,
    shown: (own: PlaceView) => PlaceView,
  ) => PlaceRunner;
}

/** The place `vm` on this machine. Nothing starts before something is asked of it. */
export function openVmPlace(around: VmSurroundings): VmPlace {
  const { memoryMB, processors } = vmSize();
  const folders = openVmFolder(around.home);
  const toVm = (folder: MachineFolder, machine: Machine, { network, shares }: VmKind): Vm => {
    const modes = shares.map(({ write }) => (write ? 'rw' : 'ro'));
    const shape: VmShape = { ...machine.shape, network, shares: modes };
    const storedAs = storedName(shape, machine.qemuVersion);
    let owner = folder.readFacts()?.project ?? null;
    const transport = createVmTransport({
      folder,
      programs: machine.programs,
      image: { path: folders.image, id: machine.imageId, diskMB: vmDiskMB },
      shape,
      shares,
      // QEMU can't store a VM whose devices are another program's.
      stored: () => (shares.length === 0 && hasStored(folders.image, storedAs) ? storedAs : undefined),
      project: () => owner,
      now: around.now,
      onProblem: around.onProblem,
    });
    return {
      endsWithEngine: shares.length > 0,
      runner: around.remote(transport, `vm:${folder.id}`, () => place.view()),
      assign: (project) => {
        owner = project;
        const facts = folder.readFacts();
        if (facts) folder.writeFacts({ ...facts, project });
      },
      stop: () => stopMachine(folder),
      release: () => folder.release(),
    };
  };
  let looking: Promise<Machine> | undefined;
  const look = () =>
    (looking ??= lookAround(around, folders.image, folders.machines, { memoryMB, processors }).catch(
      (error: unknown) => {
        looking = undefined;
        throw error;
      },
    ));
  const place = new VmPlace({
    memoryMB,
    sharesOf: (wanted) => sharesOf(wanted, [around.home]),
    find: async (project, kind) => {
      const machine = await look();
      const folder = MachineFolder.find(folders.machines, project);
      if (!folder) return undefined;
      if (await isRunning(folder)) return toVm(folder, machine, kind);
      folder.clear();
      folder.release();
      return undefined;
    },
    create: async (kind) => {
      const machine = await look();
      return toVm(await MachineFolder.create(folders.machines, isRunning), machine, kind);
    },
  });
  return place;
}

/** What VMs are started with here. */
export interface Machine {
  readonly programs: MachinePrograms;
  readonly shape: VmShape;
  readonly imageId: string;
  readonly qemuVersion: string;
}

/** A quarter of the memory and half of the processors, within bounds. */
export function vmSize(): { memoryMB: number; processors: number } {
  const quarterMB = Math.floor(totalmem() / 1024 / 1024 / 4);
  return {
    memoryMB: Math.max(1024, Math.min(4096, quarterMB)),
    processors: Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2))),
  };
}

/** Throws `isolation-missing` with the remedy where there is no image, no QEMU or no Linux. */
export async function lookAround(
  around: Pick<VmSurroundings, 'runner' | 'now'>,
  image: string,
  machines: string,
  size: { readonly memoryMB: number; readonly processors: number },
): Promise<Machine> {
  const qemu = qemuPrograms[arch()];
  if (process.platform !== 'linux' || qemu === undefined) {
    throw new UserError('isolation-missing', `VMs are not offered on ${process.platform} ${arch()} yet`, {
      remedy: 'Choose another place for this card.',
    });
  }
  const { id: imageId } = assertImage(image, around.runner);
  const signal = AbortSignal.timeout(30_000);
  const programs = {
    ...{ qemu, spawnTool: spawnSystemTool, spawnMachine, spawnShare },
    virtiofsd: virtiofsdPrograms,
  };
  const said = await runTool(spawnSystemTool, { program: qemu, args: ['--version'], folder: image, signal });
  const [, qemuVersion = '0'] = /version (\S+)/.exec(said) ?? [];
  const accelerator = await chooseAccelerator({
    image,
    imageId,
    qemuVersion,
    hasDevice: () => existsSync('/dev/kvm'),
    boots: () => bootsWithKvm({ programs, image, imageId, machines, now: around.now, size }),
  });
  const shape = { accelerator, network: false, shares: [], ...size };
  return { programs, shape, imageId, qemuVersion };
}

const qemuPrograms: Readonly<Record<string, string>> = { x64: 'qemu-system-x86_64' };
/** A kernel that comes up under KVM does so in a tenth of this. */
const kvmProbeMs = 8_000;

async function bootsWithKvm(options: {
  readonly programs: MachinePrograms;
  readonly image: string;
  readonly imageId: string;
  readonly machines: string;
  readonly now: () => number;
  readonly size: { readonly memoryMB: number; readonly processors: number };
}): Promise<boolean> {
  const { programs, image, imageId, machines, now, size } = options;
  const folder = await MachineFolder.create(machines, isRunning);
  const signal = AbortSignal.timeout(kvmProbeMs);
  try {
    const shape = { accelerator: 'kvm' as const, network: false, shares: [], ...size };
    await startMachine({
      programs,
      folder,
      image,
      imageId,
      shape,
      shares: [],
      diskMB: vmDiskMB,
      project: () => null,
      signal,
    });
    const instance = folder.readFacts()?.instance ?? '';
    const socket = await openPort(folder, 'control', instance, now, {
      timeoutMs: kvmProbeMs,
      isUsed: false,
      signal,
    });
    socket.destroy();
    return true;
  } finally {
    await stopMachine(folder);
    folder.release();
  }
}
