import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { createDeferred } from '../deferred.ts';
import { identifyProcess, isAlive, type ProcessId } from '../processes.ts';

/** Knows which processes belong to a sandbox, and ends them all. */
export interface Keeper {
  /** Settles with the first process inside as soon as it is known; never where the sandbox does not come about. */
  readonly first: Promise<ProcessId>;
  /** False once the first process is gone, and with it everything that its number stands for. */
  stands(): boolean;
  /**
   * Sends SIGKILL to everything inside and settles when nothing of that is left; what started the sandbox may be about to
   * end. Safe to call at any time, any number of times.
   */
  end(): Promise<void>;
}

/**
 * Ends a bubblewrap sandbox by its PID namespace: with the namespace's first process, which bubblewrap names on its
 * status descriptor, the kernel ends all others, whatever they did to hide, and before it reports that first one dead.
 */
export function keepNamespace(child: ChildProcess, status: Readable): Keeper {
  const found = createDeferred<ProcessId>();
  const exited = whenExited(child);
  let first: ProcessId | undefined;
  let text = '';
  status.setEncoding('utf8').on('data', (chunk: string) => {
    if (first) return;
    text = (text + chunk).slice(0, 4096);
    const pid = /"child-pid": *([0-9]+)/.exec(text)?.[1];
    first = pid === undefined ? undefined : identifyProcess(Number(pid));
    if (first) found.resolve(first);
  });
  return {
    first: found.promise,
    stands: () => first !== undefined && isAlive(first),
    async end() {
      if (!first) {
        child.kill('SIGKILL');
        await exited;
      }
      // The death of the first process is all that counts: bubblewrap hears of it and ends by itself.
      for (let waitMs = 1; first && isAlive(first); waitMs = Math.min(50, waitMs * 1.25)) {
        sendKill(first.pid);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
      }
    },
  };
}

/**
 * Ends a process group, for systems without PID namespaces. A program that leaves its group outlives this: there the
 * sandbox profile is all that holds it.
 */
export function keepGroup(child: ChildProcess): Keeper {
  const pid = child.pid;
  const exited = whenExited(child);
  return {
    first: pid === undefined ? new Promise(() => undefined) : Promise.resolve({ pid, startTicks: '' }),
    stands: () => child.exitCode === null && child.signalCode === null,
    async end() {
      if (pid !== undefined) sendKill(-pid);
      await exited;
    },
  };
}

function whenExited(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
}

function sendKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
