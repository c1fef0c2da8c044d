import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { groupMemoryBytes } from './limits.ts';
import type { JobLimits } from '../../protocol/src/runner.ts';

/** Limits kept by the kernel for all processes of one job together. */
export interface JobGroup {
  /** Puts a process and all that it will start into the group. */
  add(pid: number): void;
  /** Sets the limits. Before that the group has none, so nothing of a job may run in it. */
  limit(limits: JobLimits): void;
  /** Which limit the job ran into, if any. */
  excess(): 'memory' | 'processes' | undefined;
  /** Removes the group, now or with the next one. Call once no process is left in it. */
  remove(): void;
}

export interface CgroupRoot {
  createGroup(name: string): JobGroup;
}

/** Where cgroup v2 is, if it is anywhere. */
export const cgroupMount = '/sys/fs/cgroup';

/** In which groups this process is (cgroups(7), /proc/pid/cgroup); empty where the system does not say. */
export function readOwnCgroup(): string {
  try {
    return readFileSync('/proc/self/cgroup', 'utf8');
  } catch {
    return '';
  }
}

const controllers = ['memory', 'pids'];

/**
 * Takes over the runner's own part of the cgroup v2 tree where that was delegated to it (kernel
 * Documentation/admin-guide/cgroup-v2.rst, "Delegation"): moves the runner into a leaf and enables the controllers
 * for groups beside it. Found out by writing. Undefined where any step is refused: then the watchdog keeps the limits.
 */
export function openCgroup(mount: string, membership: string, pid: number): CgroupRoot | undefined {
  const path = /^0::(\/.*)$/m.exec(membership)?.[1];
  if (path === undefined) return undefined;
  const own = join(mount, path);
  const leaf = join(own, `sallyport-runner-${pid}`);
  try {
    const available = readFileSync(join(own, 'cgroup.controllers'), 'utf8').trim().split(' ');
    if (!controllers.every((name) => available.includes(name))) return undefined;
    mkdirSync(leaf);
    writeFileSync(join(leaf, 'cgroup.procs'), String(pid));
    writeFileSync(join(own, 'cgroup.subtree_control'), controllers.map((name) => `+${name}`).join(' '));
    const left = new Set<string>();
    return {
      createGroup(name) {
        for (const path of left) removeGroup(path, left);
        return createGroup(join(own, `sallyport-${pid}-${name}`), left);
      },
    };
  } catch {
    giveBack(own, leaf, pid);
    return undefined;
  }
}

function createGroup(path: string, left: Set<string>): JobGroup {
  mkdirSync(path);
  const set = (file: string, value: string) => writeFileSync(join(path, file), value);
  try {
    if (existsSync(join(path, 'memory.swap.max'))) set('memory.swap.max', '0');
    // One out of memory ends all of the job, so that no half of it goes on.
    set('memory.oom.group', '1');
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
  return {
    add: (pid) => set('cgroup.procs', String(pid)),
    limit: (limits) => {
      set('memory.max', String(groupMemoryBytes(limits)));
      set('pids.max', String(limits.processes + 2));
    },
    excess: () => {
      if (counter(path, 'memory.events', 'oom_kill') > 0) return 'memory';
      return counter(path, 'pids.events', 'max') > 0 ? 'processes' : undefined;
    },
    remove: () => removeGroup(path, left),
  };
}

/** A process that was just reaped can still count for a moment; such a group is tried again with the next job. */
function removeGroup(path: string, left: Set<string>): void {
  try {
    rmdirSync(path);
    left.delete(path);
  } catch {
    left.add(path);
  }
}

function counter(path: string, file: string, name: string): number {
  const text = readFileSync(join(path, file), 'utf8');
  return Number(new RegExp(`^${name} ([0-9]+)$`, 'm').exec(text)?.[1] ?? 0);
}

function giveBack(own: string, leaf: string, pid: number): void {
  try {
    writeFileSync(join(own, 'cgroup.procs'), String(pid));
    rmdirSync(leaf);
  } catch {
    // Nothing was moved, or it may stay where it is: an empty leaf does no harm.
  }
}
