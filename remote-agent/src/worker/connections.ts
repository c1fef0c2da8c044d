import type { Socket } from 'node:net';

type Peer = Pick<Socket, 'remoteAddress' | 'remotePort'>;

/** Connections of which it is not known yet whose they are, by their ends: few from one origin, not many in all. */
export class Newcomers {
  readonly #limits: { readonly address: number; readonly unknown: number };
  readonly #origins = new Map<string, string>();

  constructor(limits: { readonly address: number; readonly unknown: number }) {
    this.#limits = limits;
  }

  /** False where there are as many as there may be. */
  add(peer: Peer): boolean {
    const origin = originOf(peer.remoteAddress ?? '');
    const fromThere = [...this.#origins.values()].filter((each) => each === origin).length;
    if (fromThere >= this.#limits.address || this.#origins.size >= this.#limits.unknown) return false;
    this.#origins.set(nameOf(peer), origin);
    return true;
  }

  /** Takes out one that has shown who it is, or has ended. Its ends are those of the connection as it was made. */
  remove(name: string): void {
    this.#origins.delete(name);
  }
}

/**
 * Whose an address is, as far as it says: of IPv6 the first 64 bits, which are one network's (RFC 4291, 2.5.4), since
 * whoever has one address there can take any other; an address of IPv4 itself, however it is written.
 */
export function originOf(address: string): string {
  const [plain = ''] = address.toLowerCase().split('%');
  const [, inside] = /^::ffff:([0-9.]+)$/.exec(plain) ?? [];
  if (inside !== undefined) return inside;
  if (!plain.includes(':')) return plain;
  const [head = '', tail] = plain.split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros =
    tail === undefined ? [] : Array<string>(Math.max(0, 8 - groups.length - after.length)).fill('0');
  return [...groups, ...zeros, ...after].slice(0, 4).join(':');
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
