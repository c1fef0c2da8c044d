import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, lstatSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { UserError } from '../../../../protocol/src/errors.ts';
import { guestAnswer, type GuestOpening, type GuestPort } from '../../../../protocol/src/vmGuest.ts';
import { usageBelow } from '../../../../remote-agent/src/processes.ts';
import type { Hypervisor, StartOptions } from './hypervisor.ts';
import { startedFacts, type MachineFolder } from './machineFolder.ts';
import { qemuArguments } from './qemuArguments.ts';
import { openMonitor } from './qmp.ts';
import { sealedPaths, sealedQemu } from './sealedQemu.ts';
import { serveShares, type ShareServers, type SpawnShare } from './serveShares.ts';
import { shareSocket } from './shares.ts';
import { missingTool, runTool, type SpawnTool } from './tools.ts';
import { imageFiles, storedFiles } from './vmFolder.ts';

/** How QEMU is started; in its place, tests put what they need. */
export interface MachinePrograms {
  readonly qemu: string;
  readonly spawnTool: SpawnTool;
  readonly spawnShare: SpawnShare;
  /** Where the server of a shared folder may be, the best first. */
  readonly virtiofsd: readonly string[];
  readonly spawnMachine: (
    program: string,
    args: readonly string[],
    folder: string,
    files: { readonly output: number; readonly stored?: number | undefined },
  ) => ChildProcess;
}

/** VMs of QEMU, in a sandbox of their own. */
export function qemuHypervisor(programs: MachinePrograms): Hypervisor {
  return { start: (options) => startMachine(programs, options), isRunning, stop: stopMachine };
}

/**
 * Starts the VM of a folder; it goes on when this engine ends, unless it has folders of this machine: what serves those
 * ends with the engine, and the VM with that. Whoever waits for it opens a port.
 */
async function startMachine(programs: MachinePrograms, options: StartOptions): Promise<void> {
  const { folder, shape, shares, image, stored, signal } = options;
  folder.clear();
  const backing = stored
    ? { path: `${sealedPaths.image}/${stored}/disk.qcow2`, format: 'qcow2' }
    : { path: `${sealedPaths.image}/disk.ext4`, format: 'raw' };
  await runTool(programs.spawnTool, {
    program: 'qemu-img',
    args: [
      ...['create', '-q', '-f', 'qcow2', '-u', '-b', backing.path, '-F', backing.format],
      ...['disk.qcow2', `${options.diskMB}M`],
    ],
    folder: folder.path,
    signal,
  });
  const args = qemuArguments(
    shape,
    {
      ...imageFiles(sealedPaths.image),
      disk: 'disk.qcow2',
      diskFormat: 'qcow2',
      control: 'control',
      bulk: 'bulk',
      terminal: 'terminal',
      monitor: 'monitor',
      console: 'console.log',
      shares: shares.map((_, number) => shareSocket(number)),
    },
    stored ? { kind: 'stored', descriptor: storedDescriptor } : { kind: 'boot' },
  );
  const links = rootLinks();
  const output = openSync(folder.file('qemu.log'), 'w', 0o600);
  const memory = stored ? openSync(storedFiles(join(image, stored)).memory, 'r') : undefined;
  let servers: ShareServers | undefined;
  let started: ChildProcess | undefined;
  try {
    servers = await serveShares({ ...programs, folder, shares, links });
    signal.throwIfAborted();
    const child = programs.spawnMachine(
      'bwrap',
      sealedQemu({
        program: programs.qemu,
        args,
        image,
        machine: folder.path,
        accelerator: shape.accelerator,
        network: shape.network,
        endsWithEngine: shares.length > 0,
        links,
      }),
      folder.path,
      { output, stored: memory },
    );
    started = child;
    await new Promise<void>((resolve, reject) => {
      child.once('error', () => reject(missingTool('bwrap')));
      child.once('spawn', resolve);
    });
    child.unref();
    folder.ended = new Promise((resolve) => child.once('exit', () => resolve()));
    servers.onEnd(() => void child.kill('SIGKILL'));
    await untilThere(folder, child, signal);
    // QEMU answers when it has all of its devices.
    if (shares.length > 0) (await openMonitor(folder.socket('monitor'))).close();
  } catch (error) {
    const fault = servers?.fault();
    if (started) endAll(started);
    servers?.stop();
    throw fault ?? error;
  } finally {
    closeSync(output);
    if (memory !== undefined) closeSync(memory);
  }
  if (stored) await resume(folder);
  folder.writeFacts(startedFacts(options));
}

/** The next one after standard error; `spawnMachine` puts the stored memory there. */
const storedDescriptor = 3;
const monitorMs = 10_000;

/** Resolves when QEMU listens. Throws with its own words where it ended instead. */
async function untilThere(folder: MachineFolder, child: ChildProcess, signal: AbortSignal): Promise<void> {
  const until = performance.now() + monitorMs;
  while (!existsSync(folder.file('monitor'))) {
    signal.throwIfAborted();
    if (child.exitCode !== null || child.signalCode !== null) throw ended(folder);
    if (performance.now() > until) throw new UserError('unreachable', 'QEMU did not start in time');
    await wait(3);
  }
}

/** Also what bubblewrap has started: without a monitor yet, nobody could end it later. */
function endAll({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  for (const each of usageBelow(pid).pids) {
    try {
      process.kill(each, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

function ended(folder: MachineFolder): UserError {
  const said = readFileSync(folder.file('qemu.log'), 'utf8').trim().split('\n').slice(-3).join(' · ');
  return new UserError('isolation-missing', `QEMU did not start: ${said || 'it said nothing'}`, {
    remedy: 'Sallyport: Doctor says what a VM needs here.',
  });
}

/** A VM that was stored goes on when all of its memory is read. */
async function resume(folder: MachineFolder): Promise<void> {
  const monitor = await openMonitor(folder.socket('monitor'));
  try {
    const until = performance.now() + resumeMs;
    for (;;) {
      const { status } = (await monitor.execute('query-status')) as { status?: unknown };
      if (status === 'running') return;
      if (status !== 'inmigrate') {
        await monitor.execute('cont');
        return;
      }
      if (performance.now() > until)
        throw new UserError('unreachable', 'The stored VM did not start in time');
      await wait(3);
    }
  } finally {
    monitor.close();
  }
}

const resumeMs = 30_000;

/**
 * Opens a port of the guest: a byte stream that begins after the guest's answer. Throws `unreachable` where the guest
 * does not answer in `timeoutMs`, or has ended.
 */
export async function openPort(
  folder: MachineFolder,
  port: GuestPort,
  instance: string,
  now: () => number,
  { timeoutMs, isUsed, signal }: OpenPortOptions,
): Promise<Socket> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    signal.throwIfAborted();
    const left = until - performance.now();
    if (left <= 0)
      throw new UserError('unreachable', `The VM did not answer in ${Math.round(timeoutMs / 1000)} s`);
    // A guest that still thinks the port is in use takes the line for data of that use. It notices the end of a use
    // when nobody is connected for a moment.
    const socket = await tryOpen(
      folder,
      port,
      instance,
      now,
      isUsed ? Math.min(left, answerMs) : left,
      signal,
    );
    if (socket) return socket;
    await wait(300, undefined, { signal });
  }
}

/** A guest that runs answers well before. */
const answerMs = 3_000;

export interface OpenPortOptions {
  readonly timeoutMs: number;
  /** True where the port may have been used before: then it can take more than one attempt. */
  readonly isUsed: boolean;
  readonly signal: AbortSignal;
}

async function tryOpen(
  folder: MachineFolder,
  port: GuestPort,
  instance: string,
  now: () => number,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Socket | undefined> {
  const socket = connect(folder.socket(port));
  socket.on('error', () => undefined);
  const token = randomBytes(16).toString('hex');
  const answer = Buffer.from(guestAnswer(token), 'latin1');
  const opening: GuestOpening = {
    token,
    epochMs: now(),
    entropy: randomBytes(64).toString('base64'),
    instance,
  };
  socket.write(`${JSON.stringify(opening)}\n`);
  let held = Buffer.alloc(0);
  return new Promise((resolve) => {
    const done = (found: Socket | undefined) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', give);
      socket.off('readable', look).off('close', give);
      if (!found) socket.destroy();
      resolve(found);
    };
    const give = () => done(undefined);
    const look = () => {
      for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null) {
        held = Buffer.concat([held, chunk]);
        const at = held.indexOf(answer);
        if (at >= 0) {
          const rest = held.subarray(at + answer.length);
          if (rest.length > 0) socket.unshift(rest);
          done(socket);
          return;
        }
        // What a use before has left.
        held = held.subarray(Math.max(0, held.length - answer.length));
      }
    };
    const timer = setTimeout(give, timeoutMs);
    signal.addEventListener('abort', give, { once: true });
    socket.on('readable', look).once('close', give);
  });
}

/** True where QEMU answers on the folder's monitor. */
export async function isRunning(folder: MachineFolder): Promise<boolean> {
  try {
    (await openMonitor(folder.socket('monitor'))).close();
    return true;
  } catch {
    return false;
  }
}

/** Ends the VM at once, with everything in it. */
async function stopMachine(folder: MachineFolder): Promise<void> {
  try {
    const monitor = await openMonitor(folder.socket('monitor'));
    await monitor.execute('quit').catch(() => undefined);
    monitor.close();
    await untilEnded(folder, AbortSignal.timeout(stopMs));
    await endedOrLate(folder.ended);
  } catch {
    // It has ended.
  }
  folder.clear();
}

const stopMs = 10_000;

/** The child keeps nothing waiting by itself; here somebody waits for it. */
async function endedOrLate(ended: Promise<void>): Promise<void> {
  const settled = new AbortController();
  const late = wait(stopMs, undefined, { signal: settled.signal }).catch(() => undefined);
  await Promise.race([ended, late]);
  settled.abort();
}

/** Resolves when QEMU has let go of its disk. */
export async function untilEnded(folder: MachineFolder, signal: AbortSignal): Promise<void> {
  while (await isRunning(folder)) await wait(10, undefined, { signal });
}

/** The top-level names that are links into /usr. */
function rootLinks(): [string, string][] {
  return ['/bin', '/sbin', '/lib', '/lib64'].flatMap((path): [string, string][] => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found?.isSymbolicLink() ? [[path, readlinkSync(path)]] : [];
  });
}
