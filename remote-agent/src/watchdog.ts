import { statfsSync } from 'node:fs';
import { hiddenMemory } from './hiddenMemory.ts';
import { memoryBytes, ownProcesses, watchdogIntervalMs } from './limits.ts';
import { availableMemory, proportionalBytes, usageBelow, type Usage } from './processes.ts';
import type { JobLimits } from '../../protocol/src/runner.ts';

export interface Excess {
  readonly limit: 'memory' | 'processes' | 'output';
  readonly detail: string;
}

export interface Watched {
  /** The first process of the sandbox. */
  readonly pid: number;
  readonly limits: JobLimits;
  /** True where its network namespace is not the machine's. */
  readonly ownNetwork: boolean;
  /** Bytes in an outputs folder on disk; undefined where the kernel bounds it. */
  readonly outputBytes: (() => number) | undefined;
  /** Called at most once, after which the job is no longer watched. */
  readonly onExcess: (excess: Excess) => void;
}

/** What the machine says; tests replace it. */
export interface Meters {
  usageBelow(pid: number): Usage;
  proportionalBytes(pids: readonly number[]): number;
  hiddenMemory(pid: number, ownNetwork: boolean): number;
  availableMemory(): { available: number; total: number } | undefined;
}

const systemMeters: Meters = { usageBelow, proportionalBytes, hiddenMemory, availableMemory };

/**
 * Looks after the bounds that no kernel mechanism keeps for a group of processes: memory together, the
 * number of processes, outputs on disk, and the machine's last free memory. Looks only while jobs run.
 */
export class Watchdog {
  readonly #jobs = new Set<Watched>();
  readonly #meters: Meters;
  #timer: NodeJS.Timeout | undefined;

  constructor(meters: Meters = systemMeters) {
    this.#meters = meters;
  }

  /** Returns what ends the watch. */
  watch(job: Watched): () => void {
    this.#jobs.add(job);
    this.#timer ??= setInterval(() => this.look(), watchdogIntervalMs);
    return () => this.#forget(job);
  }

  /** One round over all jobs. */
  look(): void {
    const looks = [...this.#jobs].map((job) => ({ job, usage: this.#meters.usageBelow(job.pid) }));
    for (const { job, usage } of looks) {
      const excess = this.#excessOf(job, usage);
      if (excess) this.#report(job, excess);
    }
    const memory = this.#meters.availableMemory();
    if (!memory || memory.available > scarceBytes(memory.total)) return;
    const [largest] = looks
      .filter(({ job }) => this.#jobs.has(job))
      .sort((a, b) => b.usage.memoryBytes - a.usage.memoryBytes);
    if (largest) this.#report(largest.job, { limit: 'memory', detail: 'the machine ran out of memory' });
  }

  #excessOf(job: Watched, usage: Usage): Excess | undefined {
    const allowed = memoryBytes(job.limits);
    const hidden = this.#meters.hiddenMemory(job.pid, job.ownNetwork);
    if (usage.memoryBytes + hidden > allowed) {
      const exact = this.#meters.proportionalBytes(usage.pids) + hidden;
      if (exact > allowed)
        return { limit: 'memory', detail: `${toMB(exact)} MB of ${job.limits.memoryMB} MB` };
    }
    // The kernel lets one through beyond the limit, so that the limit itself can be used without being mistaken.
    const own = usage.threads - ownProcesses;
    if (own > job.limits.processes) {
      return { limit: 'processes', detail: `${own} processes and threads of ${job.limits.processes}` };
    }
    const written = job.outputBytes?.() ?? 0;
    if (written > job.limits.outputMB * 1024 * 1024) {
      return { limit: 'output', detail: `${toMB(written)} MB of ${job.limits.outputMB} MB` };
    }
    return undefined;
  }

  #report(job: Watched, excess: Excess): void {
    this.#forget(job);
    job.onExcess(excess);
  }

  #forget(job: Watched): void {
    this.#jobs.delete(job);
    if (this.#jobs.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** True where a file system in memory has no room left: something that was written to it was refused. */
export function isFull(path: string): boolean {
  const { bavail } = statfsSync(path);
  return bavail === 0;
}

/** Below this much free memory the kernel would begin to end programs of the person's. */
function scarceBytes(total: number): number {
  return Math.min(256 * 1024 * 1024, total * 0.03);
}

function toMB(bytes: number): number {
  return Math.ceil(bytes / (1024 * 1024));
}
