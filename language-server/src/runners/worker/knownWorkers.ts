import { join } from 'node:path';
import * as z from 'zod/mini';
import { UserError } from '../../../../protocol/src/errors.ts';
import { parsePlace } from '../../../../protocol/src/places.ts';
import type { WorkerView } from '../../../../protocol/src/pinnedWorker.ts';
import { changeAlone, type ChangeOptions } from '../../../../remote-agent/src/worker/changeAlone.ts';
import { fingerprintOf } from '../../../../remote-agent/src/worker/identity.ts';
import { readOwnFile, writeOwnFile } from '../../../../remote-agent/src/worker/workerFiles.ts';
import type { PinnedWorker } from './workerTransport.ts';

const stored = z.record(
  z.string(),
  z.strictObject({ host: z.string(), port: z.int(), identity: z.string() }),
);

/** The workers that this home is enrolled at, in a file of this user alone that one process changes at a time. */
export class KnownWorkers {
  readonly #home: string;
  readonly #path: string;
  readonly #uid: number;
  readonly #alone: ChangeOptions;

  constructor(home: string, uid: number, alone: ChangeOptions = {}) {
    this.#home = home;
    this.#path = join(home, 'workers.json');
    this.#uid = uid;
    this.#alone = alone;
  }

  list(): WorkerView[] {
    return Object.entries(this.#read()).map(([name, { host, port, identity }]) => ({
      name,
      host,
      port,
      fingerprint: fingerprintOf(Buffer.from(identity, 'base64')),
    }));
  }

  /** Throws `not-found` with what to do. */
  get(name: string): PinnedWorker {
    const all = this.#read();
    const found = Object.hasOwn(all, name) ? all[name] : undefined;
    if (found) return found;
    throw new UserError('not-found', `This computer is not enrolled at a worker “${name}”`, {
      remedy:
        'Ask who keeps it for an invitation, then: Sallyport: Enrol at Worker, or sallyport worker join.',
    });
  }

  /**
   * Throws `conflict` where the name is another worker's or another process does not come to the end of its change,
   * `bad-message` where it is none.
   */
  add(name: string, worker: PinnedWorker): WorkerView {
    this.#change(() => {
      this.assertFree(name);
      this.#write({ ...this.#read(), [name]: worker });
    });
    return this.list().find((each) => each.name === name) ?? { name, ...worker, fingerprint: '' };
  }

  assertFree(name: string): void {
    if (!parsePlace(`worker:${name}`)) {
      throw new UserError('bad-message', `“${name}” can’t name a worker: letters, digits, “.”, “-” and “_”`);
    }
    if (Object.hasOwn(this.#read(), name)) {
      throw new UserError('conflict', `There is a worker “${name}” already`, {
        remedy: 'Choose another name, or forget that one first.',
      });
    }
  }

  /** False where there is none. Throws `conflict` where another process does not come to the end of its change. */
  forget(name: string): boolean {
    return this.#change(() => {
      const all = this.#read();
      if (!Object.hasOwn(all, name)) return false;
      this.#write(Object.fromEntries(Object.entries(all).filter(([each]) => each !== name)));
      return true;
    });
  }

  #change<T>(change: () => T): T {
    return changeAlone(this.#home, change, this.#alone);
  }

  #write(all: z.infer<typeof stored>): void {
    writeOwnFile(this.#path, JSON.stringify(all, null, 2));
  }

  #read(): z.infer<typeof stored> {
    const text = readOwnFile(this.#path, this.#uid);
    if (text === undefined) return {};
    try {
      return z.parse(stored, JSON.parse(text));
    } catch (error) {
      throw new UserError(
        'unreadable',
        `${this.#path} can’t be read as a list of workers`,
        {},
        { cause: error },
      );
    }
  }
}
