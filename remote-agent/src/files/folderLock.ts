import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { systemCode } from './fileError.ts';
import { lifeOfProcess, thisProcess, type Life, type LockOwner } from './lockOwner.ts';

/**
 * One at a time in a folder, among processes. Each puts down a file of its own, `lock.<who>`, and then looks who else
 * has one: of two, the later sees the earlier, so never both go on. The name says who it is and is never used again, so
 * the file of a process that has ended can be taken away by anyone at any time, and nobody takes anything over.
 */
export interface FolderLock {
  release(): void;
}

/** The calls of `node:fs` that a lock makes, so that a test can fail or end the process at each. */
export type LockFiles = Pick<
  typeof fs,
  'openSync' | 'closeSync' | 'fstatSync' | 'unlinkSync' | 'readdirSync'
>;

export interface LockOptions {
  readonly files?: LockFiles;
  readonly self?: LockOwner;
  readonly lifeOf?: (owner: LockOwner) => Life;
}

/** The lock, or undefined where another has it, or asks for it at this moment. Throws what the system throws. */
export function tryLock(folder: string, options: LockOptions = {}): FolderLock | undefined {
  const { files = fs, self = thisProcess(), lifeOf = lifeOfProcess } = options;
  const name = nameOf(self);
  const release = () => unlinkIfThere(files, `${folder}/${name}`);
  const handle = files.openSync(`${folder}/${name}`, 'wx', 0o600);
  let now: number;
  try {
    try {
      // By the clock that dates the others' files: that of a server of files may be another one than here.
      now = files.fstatSync(handle).mtimeMs;
    } finally {
      files.closeSync(handle);
    }
    const others = files.readdirSync(folder).filter((each) => each.startsWith(prefix) && each !== name);
    const held = others.filter((each) => !isLeftBehind(files, folder, each, lifeOf, now));
    for (const each of others) if (!held.includes(each)) unlinkIfThere(files, `${folder}/${each}`);
    if (held.length === 0) return { release };
  } catch (error) {
    release();
    throw error;
  }
  release();
  return undefined;
}

/** How long to wait before trying again, in ms: by chance, so that two who met do not meet again. */
export function pauseBeforeRound(round: number, random: () => number = Math.random): number {
  return random() * Math.min(2 ** round, 32);
}

const prefix = 'lock.';

/**
 * A lock whose owner nobody here can tell of, as on another machine, counts for so long: no change takes a thousandth of
 * it, and a machine that is gone must not keep everybody else out.
 */
const longestUnknownMs = 10 * 60 * 1000;

function nameOf({ place, boot, pid, startedAt }: LockOwner): string {
  return `${prefix}${place}.${boot}.${pid}.${startedAt}.${randomBytes(8).toString('hex')}`;
}

/** A name that is none of ours counts as left behind. */
function isLeftBehind(
  files: LockFiles,
  folder: string,
  name: string,
  lifeOf: (owner: LockOwner) => Life,
  now: number,
): boolean {
  const match = /^lock\.([0-9a-f]{16})\.([0-9a-f]{16})\.([0-9]+)\.([0-9]+)\.[0-9a-f]{16}$/.exec(name);
  if (!match) return true;
  const [, place = '', boot = '', pid, startedAt] = match;
  const life = lifeOf({ place, boot, pid: Number(pid), startedAt: Number(startedAt) });
  if (life !== 'unknown') return life === 'ended';
  try {
    const handle = files.openSync(`${folder}/${name}`, 'r');
    try {
      return now - files.fstatSync(handle).mtimeMs > longestUnknownMs;
    } finally {
      files.closeSync(handle);
    }
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return true;
    throw error;
  }
}

function unlinkIfThere(files: LockFiles, path: string): void {
  try {
    files.unlinkSync(path);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}
