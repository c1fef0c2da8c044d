import { existsSync } from 'node:fs';
import { arch, availableParallelism, totalmem } from 'node:os';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { PlaceView } from '../../../../protocol/src/places.ts';
import type { PlaceRunner } from '../places/placeRunner.ts';
import type { RunnerTransport } from '../places/runnerTransport.ts';
import { spawnMachine, spawnShare, spawnSystemTool } from '../../environment.ts';
import { chooseAccelerator } from './accelerator.ts';
import { answers } from './answers.ts';
import { chooseClock, measureClock } from './hostClock.ts';
import type { Hypervisor } from './hypervisor.ts';
import { qemuHypervisor } from './machine.ts';
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
    const storedAs = storedName(shape, machine.version);
    let owner = folder.readFacts()?.project ?? null;
    const transport = createVmTransport({
      folder,
      hypervisor: machine.hypervisor,
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
      stop: () => machine.hypervisor.stop(folder),
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
      if (await machine.hypervisor.isRunning(folder)) return toVm(folder, machine, kind);
      folder.clear();
      folder.release();
      return undefined;
    },
    create: async (kind) => {
      const machine = await look();
      return toVm(await MachineFolder.create(folders.machines, machine.hypervisor.isRunning), machine, kind);
    },
  });
  return place;
}

/** What VMs are started with here. */
export interface Machine {
  readonly hypervisor: Hypervisor;
  readonly shape: VmShape;
  readonly imageId: string;
  /** Of the hypervisor: only the one that stored a VM starts it. */
  readonly version: string;
}

/** A quarter of the memory and half of the processors, within bounds. */
export function vmSize(): { memoryMB: number; processors: number } {
  const quarterMB = Math.floor(totalmem() / 1024 / 1024 / 4);
  return {
    memoryMB: Math.max(1024, Math.min(4096, quarterMB)),
    processors: Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2))),
  };
}

/** Throws `isolation-missing` with the remedy where there is no image and nothing that runs VMs. */
export async function lookAround(
  around: Pick<VmSurroundings, 'runner' | 'now'>,
  image: string,
  machines: string,
  size: { readonly memoryMB: number; readonly processors: number },
): Promise<Machine> {
  if (process.platform === 'darwin') {
    const { lookAtMac } = await import('./lookAtMac.ts');
    return lookAtMac(around.runner, image, size);
  }
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
  const hypervisor = qemuHypervisor(programs);
  const said = await runTool(spawnSystemTool, { program: qemu, args: ['--version'], folder: image, signal });
  const [, qemuVersion = '0'] = /version (\S+)/.exec(said) ?? [];
  const accelerator = await chooseAccelerator({
    image,
    imageId,
    qemuVersion,
    hasDevice: () => existsSync('/dev/kvm'),
    boots: () =>
      answers({
        ...{ hypervisor, image, imageId, machines, now: around.now, diskMB: vmDiskMB },
        shape: { accelerator: 'kvm', network: false, shares: [], ...size },
        timeoutMs: kvmProbeMs,
      }),
  });
  const clockKHz =
    accelerator === 'tcg' ? await chooseClock(image, () => measureClock(image, spawnSystemTool)) : undefined;
  const shape = { accelerator, clockKHz, network: false, shares: [], ...size };
  return { hypervisor, shape, imageId, version: qemuVersion };
}

const qemuPrograms: Readonly<Record<string, string>> = { x64: 'qemu-system-x86_64' };
/** A kernel that comes up under KVM does so in a tenth of this. */
const kvmProbeMs = 8_000;
