import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import type { Scrubber } from '../../../../protocol/src/scrub/scrubber.ts';

export interface CommandRun {
  readonly command: readonly [string, ...string[]];
  /** The whole environment (`childEnvironment`). */
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  /** What is taken out of both outputs. */
  readonly scrubber: Scrubber;
  readonly output: Pick<Writable, 'write'>;
  readonly errors: Pick<Writable, 'write'>;
  /** Where the command's input comes from: this process's own, or nowhere. */
  readonly input: 'inherit' | 'ignore';
  /** Signals for the command come from here. */
  readonly onSignal?: (listener: (signal: NodeJS.Signals) => void) => () => void;
  readonly platform: NodeJS.Platform;
}

/** How long the command must be silent for the beginning of what may be a value to be shown. */
const pauseMs = 50;

/**
 * Runs one command and passes its output on without the values. The values are in its environment alone, never among its
 * words; it leaves no core dump. Resolves with its exit code, 128 and the number of the signal that ended it, or 127
 * where it could not be started.
 */
export function runWithValues(run: CommandRun): Promise<number> {
  const [program, ...words] = withoutCore(run);
  const child = spawn(program, words, {
    cwd: run.folder,
    env: run.environment,
    stdio: [run.input, 'pipe', 'pipe'],
    windowsHide: true,
  });
  const stop = run.onSignal?.((signal) => void child.kill(signal));
  const passed = [pass(child.stdout, run.output, run.scrubber), pass(child.stderr, run.errors, run.scrubber)];
  return new Promise((resolve) => {
    const finish = (code: number): void => {
      stop?.();
      resolve(code);
    };
    child.once('error', (error) => {
      run.errors.write(run.scrubber.text(`sallyport: ${error.message}\n`));
      finish(127);
    });
    child.once('close', (code, signal) => {
      const number = signal === null ? 0 : constants.signals[signal];
      void Promise.all(passed).then(() => finish(code ?? 128 + number));
    });
  });
}

/** `ulimit` is the shell's own; `exec` leaves nothing of the shell. */
function withoutCore({ command, platform }: CommandRun): [string, ...string[]] {
  if (platform === 'win32') return [...command];
  return ['/bin/sh', '-c', 'ulimit -c 0; exec "$@"', 'sh', ...command];
}

function pass(source: Readable, target: Pick<Writable, 'write'>, scrubber: Scrubber): Promise<void> {
  const stream = scrubber.stream();
  let pause: NodeJS.Timeout | undefined;
  const give = (bytes: Uint8Array): void => {
    if (bytes.length > 0) target.write(bytes);
  };
  source.on('data', (chunk: Uint8Array) => {
    clearTimeout(pause);
    give(stream.push(chunk));
    pause = setTimeout(() => give(stream.idle()), pauseMs);
  });
  return new Promise((resolve) => {
    source.once('close', () => {
      clearTimeout(pause);
      give(stream.end());
      resolve();
    });
  });
}
