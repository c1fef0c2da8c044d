import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/**
 * A port of loopback for a program that takes no socket and can't choose for itself. It lies below those that the
 * system gives to connections (`net.ipv4.ip_local_port_range`, ip-sysctl of the kernel's documentation), so that
 * nothing that merely connects takes it before that program listens, nor while it is started anew; and it was free a
 * moment ago. Throws where none is.
 */
export async function freePort(): Promise<number> {
  const [lowest, beyond] = [10_000, firstOfConnections()];
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(lowest, beyond);
    if (await isFree(port)) return port;
  }
  throw new Error(`No port of loopback from ${lowest} to ${beyond} is free`);
}

function firstOfConnections(): number {
  try {
    const first = Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s/)[0]);
    return first > 11_000 ? first : 32_768;
  } catch {
    return 32_768;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
