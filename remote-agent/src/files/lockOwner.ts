import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { identifyProcess, isAlive } from '../processes.ts';
import { systemCode } from './fileError.ts';

/** `unknown`: nobody here can tell. */
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

let known: LockOwner | undefined;

export function thisProcess(): LockOwner {
  known ??= {
    place: hashed([
      read(() => readFileSync('/etc/machine-id', 'latin1')),
      hostname(),
      read(() => readlinkSync('/proc/self/ns/pid')),
    ]),
    boot: hashed([read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1'))]),
    pid: process.pid,
    startedAt: Number(identifyProcess(process.pid)?.startTicks ?? 0),
  };
  return known;
}

/** Never `ended` for a process that may run: what can't be looked at is `unknown`. A zombie has ended. */
export function lifeOfProcess(owner: LockOwner): Life {
  const self = thisProcess();
  if (owner.place !== self.place) return 'unknown';
  if (owner.boot !== self.boot) return 'ended';
  const found = owner.startedAt === 0 ? undefined : identifyProcess(owner.pid);
  if (!found) return hasProcess(owner.pid) ? 'unknown' : 'ended';
  return Number(found.startTicks) === owner.startedAt && isAlive(found) ? 'running' : 'ended';
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user.
    return systemCode(error) !== 'ESRCH';
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
