import { readdirSync, readFileSync } from 'node:fs';

/** A process told apart from a later one with the same number by when it started (clock ticks since boot). */
export interface ProcessId {
  readonly pid: number;
  readonly startTicks: string;
}

/** Names a process of this machine, or undefined where there is none (proc_pid_stat(5)). */
export function identifyProcess(pid: number): ProcessId | undefined {
  const stat = readStat(pid);
  return stat && { pid, startTicks: stat.startTicks };
}

/**
 * True until the process is gone or a zombie. The first process of a PID namespace becomes a zombie only after the
 * kernel has ended every other process in it (pid_namespaces(7)), so false for it means that none is left.
 */
export function isAlive(process: ProcessId): boolean {
  const stat = readStat(process.pid);
  return stat !== undefined && stat.startTicks === process.startTicks && !/[ZXx]/.test(stat.state);
}

/** What the processes below one, itself included, use together. */
export interface Usage {
  readonly processes: number;
  readonly threads: number;
  /** Private and shared memory of each, added up: an upper bound, for pages may be shared between them. */
  readonly memoryBytes: number;
  readonly pids: readonly number[];
}

/** Walks from a process to all its descendants. What ends meanwhile is left out. */
export function usageBelow(pid: number): Usage {
  const pids: number[] = [];
  let threads = 0;
  let memoryBytes = 0;
  const waiting = [pid];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    try {
      const tasks = readdirSync(`/proc/${next}/task`);
      memoryBytes += residentBytes(readFileSync(`/proc/${next}/status`, 'utf8'));
      threads += tasks.length;
      pids.push(next);
      for (const task of tasks) waiting.push(...childrenOf(next, task));
    } catch {
      // It ended while it was looked at.
    }
  }
  return { processes: pids.length, threads, memoryBytes, pids };
}

/** The exact memory of processes: pages shared between n of them count 1/n each. Slower than `usageBelow`. */
export function proportionalBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + proportionalOf(pid), 0);
}

/** Memory that the kernel could hand out now, in bytes; undefined where it does not say. */
export function availableMemory(): { available: number; total: number } | undefined {
  try {
    const text = readFileSync('/proc/meminfo', 'utf8');
    const kilobytes = (name: string) => Number(new RegExp(`^${name}: +([0-9]+) kB`, 'm').exec(text)?.[1]);
    const [available, total] = [kilobytes('MemAvailable'), kilobytes('MemTotal')];
    return available >= 0 && total > 0 ? { available: available * 1024, total: total * 1024 } : undefined;
  } catch {
    return undefined;
  }
}

function proportionalOf(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return kilobytesOf(text, 'Pss_Anon') + kilobytesOf(text, 'Pss_Shmem');
  } catch {
    return 0;
  }
}

function residentBytes(status: string): number {
  return kilobytesOf(status, 'RssAnon') + kilobytesOf(status, 'RssShmem');
}

function kilobytesOf(text: string, name: string): number {
  const match = new RegExp(`^${name}:\\s+([0-9]+) kB`, 'm').exec(text);
  return match ? Number(match[1]) * 1024 : 0;
}

function childrenOf(pid: number, task: string): number[] {
  const text = readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

function readStat(pid: number): { state: string; startTicks: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything, parentheses and spaces included; field 3 follows the last one.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state, startTicks] = [fields[0], fields[19]];
    return state !== undefined && startTicks !== undefined ? { state, startTicks } : undefined;
  } catch {
    return undefined;
  }
}
