import { readdirSync, readFileSync, readlinkSync, renameSync } from 'node:fs';
import { createServer } from 'node:net';

/** A Unix socket that listens, for another program to answer on: nothing here ever does. */
export interface LentSocket {
  /** Its descriptor, for the program's standard input. Valid until `publish`. */
  readonly descriptor: number;
  /** Puts it in its place, where it is found, and lets go of it here. */
  publish(): void;
}

/**
 * Makes a listening socket in a folder of this process alone. `address` gives the path of a name in the folder as a
 * socket's address (unix(7) limits its length), `file` as any other path.
 */
export async function lendSocket(
  name: string,
  address: (name: string) => string,
  file: (name: string) => string,
): Promise<LentSocket> {
  const server = createServer();
  const unpublished = `${name}.new`;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address(unpublished), resolve);
  });
  try {
    const descriptor = descriptorOf(address(unpublished));
    return {
      descriptor,
      publish: () => {
        // Closing removes the name that it was made under.
        renameSync(file(unpublished), file(name));
        server.close();
      },
    };
  } catch (error) {
    server.close();
    throw error;
  }
}

/** Node does not tell the descriptor of a server: it is the one of this process that the kernel lists under the path. */
function descriptorOf(address: string): number {
  const lines = readFileSync('/proc/self/net/unix', 'utf8').split('\n');
  const sockets = lines
    .filter((line) => line.endsWith(` ${address}`))
    .map((line) => `socket:[${line.trim().split(/\s+/)[6] ?? ''}]`);
  const found = readdirSync('/proc/self/fd').find((each) => sockets.includes(linkOf(each)));
  if (found === undefined) throw new Error('a socket that was made is not there');
  return Number(found);
}

function linkOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return '';
  }
}
