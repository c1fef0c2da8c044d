import type { Socket } from 'node:net';

type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>;

/** Connections of which it is not known yet whose they are, by their ends: few from one address, not many in all. */
export class Newcomers {
  readonly #limits: { readonly address: number; readonly unknown: number };
  readonly #addresses = new Map<string, string>();

  constructor(limits: { readonly address: number; readonly unknown: number }) {
    this.#limits = limits;
  }

  /** False where there are as many as there may be. */
  add(peer: Peer): boolean {
    const { remoteAddress: address = '' } = peer;
    const fromThere = [...this.#addresses.values()].filter((each) => each === address).length;
    if (fromThere >= this.#limits.address || this.#addresses.size >= this.#limits.unknown) return false;
    this.#addresses.set(nameOf(peer), address);
    return true;
  }

  /** Takes out one that has shown who it is, or has ended. Its ends are those of the connection as it was made. */
  remove(name: string): void {
    this.#addresses.delete(name);
  }
}

/** What tells a connection from every other one while it lives; the same for the socket below TLS and the one above. */
export function nameOf({ remoteAddress = '', remotePort = 0 }: Peer): string {
  return `${remoteAddress} ${remotePort}`;
}

/** How many of each there are. */
export class Counts {
  readonly #counts = new Map<string, number>();

  of(name: string): number {
    return this.#counts.get(name) ?? 0;
  }

  add(name: string): void {
    this.#counts.set(name, this.of(name) + 1);
  }

  remove(name: string): void {
    const left = this.of(name) - 1;
    if (left > 0) this.#counts.set(name, left);
    else this.#counts.delete(name);
  }
}

/** Does one thing at a time for each name, in order: of many connections at once the first alone starts a runner. */
export class InOrder {
  readonly #last = new Map<string, Promise<void>>();

  run<T>(name: string, act: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(name) ?? Promise.resolve()).then(act);
    const done = result.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(name, done);
    void done.then(() => {
      if (this.#last.get(name) === done) this.#last.delete(name);
    });
    return result;
  }
}
