import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { identifyProcess, isAlive } from '../processes.ts';

/**
 * Ends the bubblewraps that hold a file of one of these folders open, which belong to runners that are gone. Returns how
 * many. Bubblewrap ends with its parent, but for one moment: its inner process, once made, waits on an eventfd for the
 * outer one's word and asks to end with it only afterwards. Where the outer one is killed in between, the inner one waits
 * for ever. By then each has the descriptors that it was given, the first of which is a file of its runner's folder.
 */
export function endSandboxesOf(folders: readonly string[]): number {
  let count = 0;
  for (const entry of folders.length > 0 ? pidsOf('/proc') : []) {
    const found = identifyProcess(entry);
    if (!found || !isBubblewrapOfHere(entry) || !holdsFileOf(entry, folders) || !isAlive(found)) continue;
    try {
      process.kill(entry, 'SIGKILL');
      count += 1;
    } catch {
      // It has ended, or is another user's.
    }
  }
  return count;
}

function pidsOf(proc: string): number[] {
  try {
    return readdirSync(proc)
      .filter((name) => /^[0-9]+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** Of a container that shares the folder, a runner's number means nothing here: what it started has one more number. */
function isBubblewrapOfHere(pid: number): boolean {
  const status = read(() => readFileSync(`/proc/${pid}/status`, 'utf8')) ?? '';
  return /^Name:\tbwrap$/m.test(status) && /^NSpid:(\s+[0-9]+){1,2}$/m.test(status);
}

function holdsFileOf(pid: number, folders: readonly string[]): boolean {
  const held = read(() => readdirSync(`/proc/${pid}/fd`)) ?? [];
  return held.some((descriptor) => {
    const path = read(() => readlinkSync(`/proc/${pid}/fd/${descriptor}`)) ?? '';
    return folders.some((folder) => path.startsWith(`${folder}/`));
  });
}

/** Undefined where the process has ended meanwhile, or may not be looked at. */
function read<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
