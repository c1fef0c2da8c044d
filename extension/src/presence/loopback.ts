import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A port of this machine that is ours on both loopback addresses. */
export interface Loopback {
  readonly port: number;
  /** Closes both, with every connection. Safe to call twice. */
  close(): void;
}

/**
 * Listens on 127.0.0.1 and on ::1, on the same port that the system chose: browsers try `localhost` at ::1 first, so a
 * program that held the port there would be given the page's place. Rejects after `tries` ports that were held by
 * somebody on one of them. Where the machine has no ::1, nobody can listen there.
 */
export async function listenOnLoopback(handle: RequestListener, options: Options = {}): Promise<Loopback> {
  const listenAt = options.listen ?? listen;
  const tries = options.tries ?? 20;
  for (let left = tries; left > 0; left--) {
    const first = create(handle);
    const port = await listenAt(first, '127.0.0.1', 0);
    const second = create(handle);
    const close = (): void => {
      for (const each of [first, second]) {
        each.closeAllConnections();
        each.close();
      }
    };
    try {
      await listenAt(second, '::1', port);
    } catch (error) {
      if (isWithoutAddress(error)) return { port, close };
      close();
      if (codeOf(error) === 'EADDRINUSE') continue;
      throw error;
    }
    return { port, close };
  }
  throw new Error(`No free port on both loopback addresses in ${tries} tries`);
}

interface Options {
  readonly tries?: number;
  readonly listen?: typeof listen;
}

/** Resolves with the port. Rejects with the system's error, the server then being unused. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true, ipv6Only: host === '::1' }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** The page is small and asked for by one person: whatever is slow or large is somebody else. */
function create(handle: RequestListener): Server {
  const server = createServer(
    { requestTimeout: 10_000, headersTimeout: 5_000, maxHeaderSize: 16_384, keepAliveTimeout: 5_000 },
    handle,
  );
  server.maxConnections = 16;
  return server;
}

function isWithoutAddress(error: unknown): boolean {
  return ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
