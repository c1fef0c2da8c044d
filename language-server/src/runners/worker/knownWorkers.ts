import { join } from 'node:path';
import * as z from 'zod/mini';
import { UserError } from '../../../../protocol/src/errors.ts';
import { parsePlace } from '../../../../protocol/src/places.ts';
import type { WorkerView } from '../../../../protocol/src/pinnedWorker.ts';
import { fingerprintOf } from '../../../../remote-agent/src/worker/identity.ts';
import { readOwnFile, writeOwnFile } from '../../../../remote-agent/src/worker/workerFiles.ts';
import type { PinnedWorker } from './workerTransport.ts';

const stored = z.record(
  z.string(),
  z.strictObject({ host: z.string(), port: z.int(), identity: z.string() }),
);

/** The workers that this home is enrolled at, in a file of this user alone. */
export class KnownWorkers {
  readonly #path: string;
  readonly #uid: number;

  constructor(home: string, uid: number) {
    this.#path = join(home, 'workers.json');
    this.#uid = uid;
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

  /** Throws `conflict` where the name is another worker's, `bad-message` where it is none. */
  add(name: string, worker: PinnedWorker): WorkerView {
    this.assertFree(name);
    writeOwnFile(this.#path, JSON.stringify({ ...this.#read(), [name]: worker }, null, 2));
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

  forget(name: string): boolean {
    const all = this.#read();
    if (!Object.hasOwn(all, name)) return false;
    const rest = Object.fromEntries(Object.entries(all).filter(([each]) => each !== name));
    writeOwnFile(this.#path, JSON.stringify(rest, null, 2));
    return true;
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
