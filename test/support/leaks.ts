import { readdirSync, readFileSync } from 'node:fs';
import { until } from './until.ts';

/**
 * Fails a mocha run that leaves child processes behind: a killed sandbox must take everything with it. What was told to
 * end has a while for it, since a busy machine may be late.
 */
export const mochaHooks = {
  async afterAll(): Promise<void> {
    const left = () => childrenOf(process.pid);
    await until(() => left().length === 0, 30_000).catch(() => {
      throw new Error(`The suite left child processes running: ${left().join('; ')}`);
    });
  },
};

function childrenOf(parent: number): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .filter((pid) => parentOf(pid) === parent)
    .map((pid) => `${pid} ${commandOf(pid)}`)
    .filter((text) => !text.includes('esbuild'));
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
