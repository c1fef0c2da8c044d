import { createHash, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { errorCode, unlinkIfThere, withFile, type VaultFiles } from './vaultFiles.ts';
import { VaultError } from './vaultState.ts';

/**
 * One writer at a time in a folder, among processes. Each puts down a file of its own, `lock.<who>`, and then looks who
 * else has one: of two, the later sees the earlier, so never both go on. The name says who it is and is never used
 * again, so the file of a process that has ended can be taken away by anyone, at any time.
 */
export interface FolderLock {
  release(): void;
}

export interface LockOptions {
  readonly files: VaultFiles;
  readonly timeoutMs?: number;
  readonly self?: LockOwner;
  readonly lifeOf?: (owner: LockOwner) => Life;
}

/** `unknown`: nobody here can tell. Its lock counts for ten minutes. */
export type Life = 'running' | 'ended' | 'unknown';

/** A process, told apart from a later one with its number. */
export interface LockOwner {
  /** The machine and the process namespace, hashed: another one's processes can't be looked at. */
  readonly place: string;
  /** The boot of the machine, hashed: nothing of an earlier one runs. */
  readonly boot: string;
  readonly pid: number;
  /** When the process started, in the system's own count; 0 where the system does not say. */
  readonly startedAt: number;
}

/** Waits for those who have it. Rejects with `busy` at the end of the time, 10 s where none is given. */
export async function lockFolder(folder: string, options: LockOptions): Promise<FolderLock> {
  const { timeoutMs = 10_000 } = options;
  const end = performance.now() + timeoutMs;
  for (let round = 0; ; round++) {
    const lock = tryLock(folder, options);
    if (lock) return lock;
    if (performance.now() >= end) throw new VaultError('busy');
    await pause(Math.random() * Math.min(2 ** round, 32));
  }
}

/** The lock, or undefined where another has it. */
export function tryLock(folder: string, options: LockOptions): FolderLock | undefined {
  const { files, self = thisProcess(), lifeOf = lifeOfProcess } = options;
  const name = nameOf(self);
  withFile(files, `${folder}/${name}`, 'wx', () => undefined);
  const release = () => unlinkIfThere(files, `${folder}/${name}`);
  try {
    const others = files.readdirSync(folder).filter((each) => each.startsWith(prefix) && each !== name);
    const held = others.filter((each) => !isLeftBehind(files, folder, each, lifeOf));
    for (const each of others) if (!held.includes(each)) unlinkIfThere(files, `${folder}/${each}`);
    if (held.length === 0) return { release };
  } catch (error) {
    release();
    throw error;
  }
  release();
  return undefined;
}

const prefix = 'lock.';

const longestUnknownMs = 10 * 60 * 1000;

function nameOf({ place, boot, pid, startedAt }: LockOwner): string {
  return `${prefix}${place}.${boot}.${pid}.${startedAt}.${randomBytes(8).toString('hex')}`;
}

/** A name that is none of ours counts as left behind. */
function isLeftBehind(
  files: VaultFiles,
  folder: string,
  name: string,
  lifeOf: (owner: LockOwner) => Life,
): boolean {
  const match = /^lock\.([0-9a-f]{16})\.([0-9a-f]{16})\.([0-9]+)\.([0-9]+)\.[0-9a-f]{16}$/.exec(name);
  if (!match) return true;
  const [, place = '', boot = '', pid, startedAt] = match;
  const life = lifeOf({ place, boot, pid: Number(pid), startedAt: Number(startedAt) });
  if (life !== 'unknown') return life === 'ended';
  try {
    return withFile(files, `${folder}/${name}`, 'r', (handle) => {
      return Date.now() - files.fstatSync(handle).mtimeMs > longestUnknownMs;
    });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return true;
    throw error;
  }
}

let known: LockOwner | undefined;

export function thisProcess(): LockOwner {
  known ??= {
    place: hashed([
      read(() => fs.readFileSync('/etc/machine-id', 'latin1')),
      read(() => fs.readFileSync('/proc/sys/kernel/hostname', 'latin1')),
      read(() => fs.readlinkSync('/proc/self/ns/pid')),
    ]),
    boot: hashed([read(() => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1'))]),
    pid: process.pid,
    startedAt: startOf(process.pid),
  };
  return known;
}

export function lifeOfProcess(owner: LockOwner): Life {
  const self = thisProcess();
  if (owner.place !== self.place) return 'unknown';
  if (owner.boot !== self.boot) return 'ended';
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: it runs, as another user.
    if (errorCode(error) === 'ESRCH') return 'ended';
  }
  if (owner.startedAt === 0) return 'unknown';
  return startOf(owner.pid) === owner.startedAt ? 'running' : 'ended';
}

/** Linux: the 22nd field of proc(5)'s stat, clock ticks since the boot. */
function startOf(pid: number): number {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]) || 0;
  } catch {
    return 0;
  }
}

function hashed(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16);
}

function read(work: () => string): string {
  try {
    return work();
  } catch {
    return '';
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
