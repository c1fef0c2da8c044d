import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod/mini';
import { factors, noFactors, type Factors } from './factors.ts';

/** The file is there and is not one of ours: nothing is proved until a person has removed it. */
export class DamagedFactors extends Error {
  readonly path: string;
  constructor(path: string, cause?: unknown) {
    super('The file of the presence factors can’t be read', { cause });
    this.name = 'DamagedFactors';
    this.path = path;
  }
}

const largestFile = 256 * 1024;
/** A change takes milliseconds; a lock that is older was left by a process that ended. */
const staleLockMs = 10_000;

/**
 * Keeps the factors in one file of mode 0600 in a folder of mode 0700, replaced whole. Changes of several windows come
 * one after another.
 */
export class FactorStore {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Without a file there are no factors. Rejects with `DamagedFactors` where there is one that can't be understood. */
  async read(): Promise<Factors> {
    let text: string;
    try {
      if ((await stat(this.path)).size > largestFile) throw new RangeError('too large');
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if (isMissing(error)) return noFactors;
      throw new DamagedFactors(this.path, error);
    }
    try {
      return z.parse(factors, JSON.parse(text));
    } catch (error) {
      throw new DamagedFactors(this.path, error);
    }
  }

  /** Puts what `change` makes of the factors in their place; undefined changes nothing. Answers with what `change` did. */
  async update<T extends Factors | undefined>(change: (before: Factors) => T): Promise<T> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    return this.#alone(async () => {
      const after = change(await this.read());
      if (after) await this.#write(JSON.stringify(after));
      return after;
    });
  }

  async #write(text: string): Promise<void> {
    const fresh = `${this.path}.${randomUUID()}`;
    try {
      const file = await open(fresh, 'wx', 0o600);
      try {
        await file.writeFile(text);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(fresh, this.path);
    } catch (error) {
      await rm(fresh, { force: true });
      throw error;
    }
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const lock = `${this.path}.lock`;
    while (!(await take(lock))) {
      const age = await ageMs(lock);
      if (age > staleLockMs) await rm(lock, { force: true });
      else await wait(10);
    }
    try {
      return await work();
    } finally {
      await rm(lock, { force: true });
    }
  }
}

async function take(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function ageMs(path: string): Promise<number> {
  try {
    return Math.abs(Date.now() - (await stat(path)).mtimeMs);
  } catch {
    return 0;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
