import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** The processes of one use of the terminal, whatever they did to get away from one another. */
export interface TerminalGroup {
  add(pid: number): void;
  /** Ends all of them; settles when none is left. */
  end(): Promise<void>;
}

/**
 * Makes the group below the root of the cgroup v2 tree, with limits where the controllers are on. Throws where the
 * kernel refuses: a terminal that can't be ended is not opened.
 */
export function openTerminalGroup(mount = '/sys/fs/cgroup'): TerminalGroup {
  const path = join(mount, 'sallyport-terminal');
  if (!existsSync(path)) mkdirSync(path);
  const set = (file: string, value: string) => writeFileSync(join(path, file), value);
  for (const [file, value] of Object.entries(limits)) if (existsSync(join(path, file))) set(file, value);
  return {
    add: (pid) => set('cgroup.procs', String(pid)),
    async end() {
      // cgroup.kill of Documentation/admin-guide/cgroup-v2.rst reaches those too that are being forked.
      for (let waitMs = 1; ; waitMs = Math.min(2 * waitMs, 100)) {
        set('cgroup.kill', '1');
        try {
          rmdirSync(path);
          return;
        } catch {
          await wait(waitMs);
        }
      }
    },
  };
}

/** So that a terminal can't take from cards what they were promised. */
const limits = { 'pids.max': '256', 'memory.max': String(192 * 1024 * 1024) } as const;
