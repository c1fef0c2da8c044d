import { Worker, type ResourceLimits } from 'node:worker_threads';
import type { SandboxWorkerData } from '../../../protocol/src/worker.ts';

/**
 * V8's own bounds for a thread. They don't count WebAssembly memory, which has its own maximum. The stack must be well
 * above QuickJS's 256 KiB, or V8 runs out first and leaves a damaged instance.
 */
const standardLimits: ResourceLimits = {
  maxOldGenerationSizeMb: 160,
  maxYoungGenerationSizeMb: 16,
  codeRangeSizeMb: 16,
  stackSizeMb: 8,
};

export interface SandboxThreadOptions {
  /** Absolute path of the worker's script. */
  readonly script: string;
  /** What it is called in a debugger. */
  readonly name: string;
  readonly data: SandboxWorkerData;
  /** Replaces all of `standardLimits`. */
  readonly resourceLimits?: ResourceLimits;
}

/** A worker thread without environment, arguments, input or output of the engine's. */
export interface SandboxThread {
  readonly worker: Worker;
  readonly ended: boolean;
  /** What ended it, where it ended by an error of its own. */
  readonly lastError: unknown;
  /** Resolves once it has ended, for whatever reason. */
  readonly gone: Promise<void>;
  /** Ends it, whatever it does. Resolves when it is gone. */
  end(): Promise<void>;
}

export function startSandboxThread(options: SandboxThreadOptions): SandboxThread {
  const worker = new Worker(options.script, {
    workerData: options.data,
    name: options.name,
    env: {},
    argv: [],
    execArgv: [],
    stdin: false,
    stdout: true,
    stderr: true,
    resourceLimits: options.resourceLimits ?? standardLimits,
  });
  let lastError: unknown;
  let ended = false;
  let terminated: Promise<void> | undefined;
  const gone = new Promise<void>((resolve) => {
    worker.on('error', (error: unknown) => (lastError = error));
    worker.on('exit', () => {
      ended = true;
      resolve();
    });
  });
  return {
    worker,
    gone,
    get ended() {
      return ended;
    },
    get lastError() {
      return lastError;
    },
    end: () => (terminated ??= worker.terminate().then(() => gone)),
  };
}
