import { readdirSync, readFileSync } from 'node:fs';
import { until } from './until.ts';

/**
 * Fails a mocha run that leaves child processes behind: a killed sandbox must take everything with it. What was told to
 * end has a while for it, since a busy machine may be late. What is left then is killed, as mocha would wait for it.
 */
export const mochaHooks = {
  async afterAll(): Promise<void> {
    const left = () => childrenOf(process.pid);
    await until(() => left().length === 0, 30_000).catch(() => {
      const found = left();
      for (const { pid } of found) kill(pid);
      throw new Error(
        `The suite left child processes running: ${found.map(({ pid, command }) => `${pid} ${command}`).join('; ')}`,
      );
    });
  },
};

interface Child {
  readonly pid: number;
  readonly command: string;
}

function childrenOf(parent: number): Child[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .filter((pid) => parentOf(pid) === parent)
    .map((pid) => ({ pid: Number(pid), command: commandOf(pid) }))
    .filter(({ command }) => !command.includes('esbuild'));
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').slice(0, 200);
  } catch {
    return '(gone)';
  }
}
