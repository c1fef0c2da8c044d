import { spawn } from 'node:child_process';

export interface GroupOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Milliseconds without a word until it is given up. */
  readonly silentMs: number;
}

/** Characters of what it said last that an error holds. */
const keptLength = 16 * 1024;

/**
 * Runs a program in a process group of its own and waits for its end. A stop or silence ends the whole group: what the
 * program has started, such as git's ssh, would go on otherwise. Rejects with the reason of the signal, or with what was
 * written to standard error.
 */
export function runGroup(program: string, args: readonly string[], options: GroupOptions): Promise<void> {
  const { cwd, env, signal, silentMs } = options;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    let failure: Error | undefined;
    const end = (reason: Error): void => {
      failure ??= reason;
      killGroup(child.pid);
    };
    const onAbort = (): void => end(signal.reason instanceof Error ? signal.reason : new Error('Stopped'));
    const onSilence = (): void => end(new Error('block timeout reached'));
    let timer = setTimeout(onSilence, silentMs);
    signal.addEventListener('abort', onAbort, { once: true });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-keptLength);
      clearTimeout(timer);
      timer = setTimeout(onSilence, silentMs);
    });
    const finish = (error: Error | undefined): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      if (error) reject(error);
      else resolve();
    };
    // Where the program ended by itself, what it started may not have, and holds what it says open.
    child.once('exit', () => killGroup(child.pid));
    child.once('error', (error) => finish(failure ?? error));
    child.once('close', (code) =>
      finish(failure ?? (code === 0 ? undefined : new Error(withoutProgress(said)))),
    );
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

/** Git writes how far it is over itself, with carriage returns; ssh ends its lines with one as well. */
function withoutProgress(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.slice(line.lastIndexOf('\r') + 1))
    .filter((line) => !/^(remote: )?[A-Z][a-z]+ [a-z]+: +[0-9]+/.test(line))
    .join('\n');
}
