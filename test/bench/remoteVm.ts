import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packCpio } from '../../language-server/src/runners/vm/cpio.ts';
import { openPort } from '../../language-server/src/runners/vm/machine.ts';
import { MachineFolder } from '../../language-server/src/runners/vm/machineFolder.ts';
import { lookAround, vmDiskMB, vmSize } from '../../language-server/src/runners/vm/openVmPlace.ts';
import { qemuArguments } from '../../language-server/src/runners/vm/qemuArguments.ts';
import { hasStored, storedName } from '../../language-server/src/runners/vm/storedMachine.ts';
import { imageFiles, openVmFolder } from '../../language-server/src/runners/vm/vmFolder.ts';
import { putTree } from '../support/blobs.ts';
import { bundledRunner } from '../support/bundledRunner.ts';
import { jobWith } from '../support/jobs.ts';
import { Heard } from '../support/remotePlace.ts';
import { builtVmHome, openTestVms, vmFault } from '../support/vm.ts';
import { limitRow, measureInTurns, median, missingRow, ratioRow, type BenchRow } from './benchRow.ts';

const never = new AbortController().signal;
const starts = 5;
const cards = 20;

/** A VM from its start to its first answer, against a bare QEMU that boots the same kernel; and a card in one that runs. */
export async function remoteVmBench(): Promise<BenchRow[]> {
  const fault = vmFault();
  if (fault !== undefined) return [missingRow('remote', `a VM: ${fault}`, '')];
  const runner = bundledRunner();
  const home = await builtVmHome(runner);
  return [...(await startRows(home, runner)), ...(await cardRows(home, runner))];
}

async function startRows(home: string, runner: string): Promise<BenchRow[]> {
  const { image, machines } = openVmFolder(home);
  const machine = await lookAround({ runner, now: () => Date.now() }, image, machines, vmSize());
  const work = mkdtempSync(join(tmpdir(), 'sallyport-bench-vm-'));
  const files = imageFiles(image);
  const initrd = bareInitrd(files.initrd, work);
  const start = async (stored: string | undefined) => {
    const folder = await MachineFolder.create(machines, machine.hypervisor.isRunning);
    try {
      await machine.hypervisor.start({
        folder,
        image,
        imageId: machine.imageId,
        shape: machine.shape,
        shares: [],
        stored,
        diskMB: vmDiskMB,
        project: () => null,
        signal: never,
      });
      const instance = folder.readFacts()?.instance ?? '';
      const socket = await openPort(folder, 'control', instance, () => Date.now(), {
        timeoutMs: 60_000,
        isUsed: false,
        signal: never,
      });
      socket.destroy();
      return folder;
    } catch (error) {
      folder.release();
      throw error;
    }
  };
  const stop = async (folder: MachineFolder) => {
    await machine.hypervisor.stop(folder);
    folder.release();
  };
  const bareBoot = () => {
    const args = qemuArguments(
      machine.shape,
      {
        ...files,
        initrd,
        disk: files.root,
        diskFormat: 'raw',
        control: 'c',
        bulk: 'b',
        terminal: 't',
        monitor: 'm',
        console: 'log',
        shares: [],
      },
      { kind: 'boot' },
    ).filter((each, at, all) => each !== '-sandbox' && all[at - 1] !== '-sandbox');
    // The kernel ends QEMU when the first program is reached.
    execFileSync(
      'qemu-system-x86_64',
      args.map((each) => each.replace(',discard=unmap', ',readonly=on')),
      {
        cwd: work,
        stdio: 'ignore',
      },
    );
  };
  try {
    const storedAs = storedName(machine.shape, machine.version);
    const stored = hasStored(image, storedAs) ? storedAs : undefined;
    const running: MachineFolder[] = [];
    const times = await measureInTurns(starts, {
      bare: bareBoot,
      stored: async () => running.push(await start(stored)),
      stop1: async () => stop(running.splice(0)[0]!),
      booted: async () => running.push(await start(undefined)),
      stop2: async () => stop(running.splice(0)[0]!),
    });
    const name = (what: string) => `${what} (${machine.shape.accelerator})`;
    return [
      ratioRow(
        {
          group: 'remote',
          name: name('a VM, from nothing to its first answer, from the store, against a bare boot to /init'),
          unit: 'ms',
          goal: '≤ 1.15 × bare QEMU',
          ours: times.stored,
          peer: times.bare,
        },
        1.15,
      ),
      ratioRow(
        {
          group: 'remote',
          name: name('the same without a store'),
          unit: 'ms',
          goal: '',
          ours: times.booted,
          peer: times.bare,
        },
        null,
      ),
    ];
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function cardRows(home: string, runner: string): Promise<BenchRow[]> {
  const work = mkdtempSync(join(tmpdir(), 'sallyport-bench-vm-'));
  const blobs = join(work, 'blobs');
  mkdirSync(blobs);
  const { place, blobs: store } = openTestVms(home, runner, blobs);
  try {
    const code = await putTree(store.folder, { 'main.sh': 'true' });
    let count = 0;
    const times: number[] = [];
    for (let round = 0; round < cards + 3; round += 1) {
      const job = {
        ...jobWith({ jobId: `bench-vm-${process.pid}-${(count += 1)}`, code }),
        limits: { seconds: 60, memoryMB: 256, processes: 64, outputMB: 1, logMB: 1 },
        project: 'bench',
      };
      const startedAt = performance.now();
      const { outcome } = await place.run(job, new Heard(), never);
      if (round >= 3) times.push(performance.now() - startedAt);
      place.settled(job.jobId);
      if (outcome.kind !== 'exited') throw new Error(JSON.stringify(outcome));
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    return [
      limitRow(
        { group: 'remote', name: 'a sealed card in a VM that runs', unit: 'ms', ours: median(times) },
        60,
      ),
    ];
  } finally {
    await place.dispose();
    rmSync(work, { recursive: true, force: true });
  }
}

/** The image's own first memory, with a first program that ends at once. */
function bareInitrd(initrd: string, folder: string): string {
  const own = readFileSync(initrd);
  const path = join(folder, 'initrd');
  // Two archives one after the other: what is in the later one stands (initramfs of the Linux kernel).
  const init = '#!/bin/busybox sh\n/bin/busybox mount -t proc p /proc\nexec /bin/busybox reboot -f\n';
  writeFileSync(
    path,
    Buffer.concat([own, packCpio([{ path: 'init', mode: 0o755, content: Buffer.from(init) }])]),
  );
  return path;
}
