import type { JobLimits } from '../../protocol/src/runner.ts';
import type { ProcessLimits } from './isolation/initScript.ts';

const mebibyte = 1024 * 1024;

/** Up to this a card's outputs are kept in memory until they are taken; larger ones need the disk. */
const memoryOutputMB = 1024;

/** Sizes of what a card may write besides its outputs. */
export const scratchBytes = { '/tmp': 256 * mebibyte, '/home/card': 64 * mebibyte } as const;

/** How long a card may go beyond its bounds unseen where no kernel mechanism keeps them. */
export const watchdogIntervalMs = 100;

/**
 * The kernel's bound counts what a process may write to, the limit of a card what it uses: thread stacks and arrays
 * that stay empty must not fail it. The watchdog keeps the limit itself; this stops what is faster than it.
 */
const reserveBytes = 256 * mebibyte;

/** bubblewrap's first process and the shell, which count as the card's own. */
export const ownProcesses = 2;

export function isOutputInMemory(limits: Pick<JobLimits, 'outputMB'>): boolean {
  return limits.outputMB <= memoryOutputMB;
}

export function outputBytes(limits: Pick<JobLimits, 'outputMB'>): number {
  return limits.outputMB * mebibyte;
}

export function logBytes(limits: JobLimits): number {
  return limits.logMB * mebibyte;
}

export function memoryBytes(limits: JobLimits): number {
  return limits.memoryMB * mebibyte;
}

/** A cgroup also counts what is written to folders in memory, which have bounds of their own. */
export function groupMemoryBytes(limits: JobLimits): number {
  const folders = Object.values(scratchBytes).reduce((sum, bytes) => sum + bytes, 0);
  return memoryBytes(limits) + folders + (isOutputInMemory(limits) ? outputBytes(limits) : 0);
}

/**
 * The part of a job's limits that the kernel keeps without a cgroup. Processes are counted by user namespace since
 * Linux 5.14; before, the count would take in the person's other programs, so the watchdog counts alone.
 */
export function processLimits(limits: JobLimits, kernelRelease: string): ProcessLimits {
  return {
    processes: countsByNamespace(kernelRelease) ? limits.processes + ownProcesses + 1 : undefined,
    dataBytes: 2 * memoryBytes(limits) + reserveBytes,
    fileBytes: isOutputInMemory(limits) ? undefined : outputBytes(limits),
    openFiles: 1024,
  };
}

/** V8 gives up at its own bound with a message, and well before the kernel refuses it memory. */
export function nodeHeapFlag(limits: JobLimits): string {
  return `--max-old-space-size=${Math.max(16, Math.floor(limits.memoryMB * 0.75))}`;
}

function countsByNamespace(kernelRelease: string): boolean {
  const [major = 0, minor = 0] = kernelRelease.split('.').map((part) => Number.parseInt(part, 10));
  return major > 5 || (major === 5 && minor >= 14);
}
