import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openPort } from '../../language-server/src/runners/vm/machine.ts';
import { MachineFolder } from '../../language-server/src/runners/vm/machineFolder.ts';
import { lookAround, vmDiskMB, vmSize } from '../../language-server/src/runners/vm/openVmPlace.ts';
import { hasStored, storedName } from '../../language-server/src/runners/vm/storedMachine.ts';
import { openVmFolder } from '../../language-server/src/runners/vm/vmFolder.ts';
import { usageBelow } from '../../remote-agent/src/processes.ts';
import { putTree } from '../support/blobs.ts';
import { bundledRunner } from '../support/bundledRunner.ts';
import { jobWith } from '../support/jobs.ts';
import { Heard } from '../support/remotePlace.ts';
import { builtVmHome, openTestVms, vmFault } from '../support/vm.ts';
import { bareArguments, startBareGuest, writeInitrd } from './bareGuest.ts';
import { limitRow, measureInTurns, missingRow, ratioRow, type BenchRow } from './benchRow.ts';
import { ProcessorMeter } from './processorTime.ts';

const never = new AbortController().signal;
const starts = 5;
const cards = 20;
const warmCards = 8;

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
  writeInitrd(image, join(work, 'initrd'), endAtOnce);
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
    // The kernel ends QEMU when the first program is reached.
    execFileSync('qemu-system-x86_64', bareArguments(machine.shape, image, 'initrd'), {
      cwd: work,
      stdio: 'ignore',
    });
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
  const { image, machines } = openVmFolder(home);
  const { shape } = await lookAround({ runner, now: () => Date.now() }, image, machines, vmSize());
  const { place, blobs: store } = openTestVms(home, runner, blobs);
  const bare = await startBareGuest(shape, image);
  try {
    const code = await putTree(store.folder, { 'main.sh': 'true' });
    let count = 0;
    let spentMs = 0;
    const card = async () => {
      const job = {
        ...jobWith({ jobId: `bench-vm-${process.pid}-${(count += 1)}`, code }),
        limits: { seconds: 60, memoryMB: 256, processes: 64, outputMB: 1, logMB: 1 },
        project: 'bench',
      };
      const startedAt = performance.now();
      const { outcome } = await place.run(job, new Heard(), never);
      spentMs += performance.now() - startedAt;
      place.settled(job.jobId);
      if (outcome.kind !== 'exited' || outcome.exitCode !== 0) throw new Error(JSON.stringify(outcome));
    };
    const rest = () => pause(restMs);
    const turns = {
      ...{ rest, card, rest1: rest, bubblewrap: bare.bubblewrap, rest2: rest, shell: bare.shell },
      ...{ rest3: rest, request: () => place.held() },
    };
    const others = new Set(usageBelow(process.pid).pids);
    // What is translated once, and what the runner's own compiler makes faster, is so by then.
    await measureInTurns(warmCards, turns);
    const vm = usageBelow(process.pid).pids.filter((pid) => !others.has(pid));
    if (vm.length === 0)
      throw new Error('an earlier bench has left its VM; it ends by itself in two minutes');
    spentMs = 0;
    const meter = new ProcessorMeter({ vm: () => vm });
    const times = await measureInTurns(cards, { ...turns, ...meter.over({ card }) });
    const computed = { ours: (meter.secondsOf('card', 'vm') * 1000) / cards, peer: spentMs / cards };
    const name = `a sealed card in a VM that runs (${shape.accelerator})`;
    const row = { group: 'remote', unit: 'ms', goal: '', ours: times.card };
    return [
      limitRow({ ...row, name }, 60),
      ratioRow({ ...row, name: `${name}, against a bare bwrap and sh there`, peer: times.bubblewrap }, null),
      ratioRow({ ...row, name: `${name}, against a bare sh there`, peer: times.shell }, null),
      // What is left is the engine's part and waiting: to be woken, or for a processor.
      ratioRow({ ...row, ...computed, name: `on average, what QEMU computes for ${name}, against it` }, null),
      ratioRow(
        { ...row, ours: times.request, peer: times.card, name: `an empty request there, against ${name}` },
        null,
      ),
    ];
  } finally {
    await bare.stop();
    await place.dispose();
    rmSync(work, { recursive: true, force: true });
  }
}

/** So that the next sandbox, which is made while nobody waits, does not fall on the next measurement. */
const restMs = 500;

/** A first program that ends the VM. */
const endAtOnce = '#!/bin/busybox sh\n/bin/busybox mount -t proc p /proc\nexec /bin/busybox reboot -f\n';
