import { existsSync, mkdirSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { Database } from './database.ts';

/**
 * Tells whether another engine is alive. Each engine holds an exclusive lock on a file of its own for as long as it
 * lives; the operating system takes it back when the process ends, however it ends, so no process number that was
 * given out again and no clock can mislead.
 */
export class Lease {
  readonly #folder: string;
  readonly #id: string;
  readonly #file: Database;

  /** Takes the lease `id` in `folder`. Throws `UserError` where the file can't be written. */
  constructor(folder: string, id: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#folder = folder;
    this.#id = id;
    this.#file = new Database(join(folder, id));
    this.#file.exec('begin exclusive');
  }

  /**
   * True while the engine that holds lease `id` lives. A lease that can't be looked at counts as alive. To those who
   * watch leases a look is no change.
   */
  isHeld(id: string): boolean {
    if (id === this.#id) return true;
    let file: Database | undefined;
    try {
      if (!existsSync(join(this.#folder, id))) return false;
      file = new Database(join(this.#folder, id), 0);
      file.exec('begin immediate');
      file.exec('rollback');
      return false;
    } catch {
      return true;
    } finally {
      file?.close();
    }
  }

  /** Removes the file of an engine that is gone. */
  forget(id: string): void {
    rmSync(join(this.#folder, id), { force: true });
  }

  release(): void {
    this.#file.close();
    this.forget(this.#id);
  }
}

/**
 * Calls `changed` when an engine takes or gives back its lease, or a lease that was left is removed: the system tells,
 * nothing is polled. Returns what ends that; undefined where the folder can't be watched.
 */
export function watchLeases(folder: string, changed: () => void): (() => void) | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      // SQLite's own files come and go with each look at a lease.
      if (name?.endsWith('-journal') !== true) changed();
    });
    // A folder that is removed is watched no more.
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return undefined;
  }
}
