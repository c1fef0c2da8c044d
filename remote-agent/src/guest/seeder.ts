import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

/**
 * The program that may set the clock and the kernel's random generator, neither of which Node can. It is started
 * before a VM is stored, so that it costs nothing when one is started from the store. Each line is a request.
 *
 * RNDADDENTROPY and RNDRESEEDCRNG are of random(4).
 */
export const seederSource = `
import base64, fcntl, struct, sys, time
for line in sys.stdin:
    seconds, entropy = line.split()
    time.clock_settime(time.CLOCK_REALTIME, float(seconds))
    seed = base64.b64decode(entropy)
    with open("/dev/urandom", "wb") as device:
        fcntl.ioctl(device, 0x40085203, struct.pack("ii", len(seed) * 8, len(seed)) + seed)
        fcntl.ioctl(device, 0x5207)
    print("done", flush=True)
`;

export interface Seeder {
  /** Settles when clock and generator are set; rejects where they are not. */
  seed(epochMs: number, entropy: string): Promise<void>;
}

/** Talks to the seeder. `child` has piped standard input and output. */
export function createSeeder(child: ChildProcess): Seeder {
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error('the seeder has no pipes');
  const waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  createInterface({ input: stdout }).on('line', (line) => {
    const next = waiting.shift();
    if (line === 'done') next?.resolve();
    else next?.reject(new Error(`the seeder said ${line}`));
  });
  stdin.on('error', () => undefined);
  child.once('exit', () => {
    for (const { reject } of waiting.splice(0)) reject(new Error('the seeder ended'));
  });
  return {
    seed: (epochMs, entropy) =>
      new Promise((resolve, reject) => {
        if (child.exitCode !== null) {
          reject(new Error('the seeder ended'));
          return;
        }
        waiting.push({ resolve, reject });
        stdin.write(`${epochMs / 1000} ${entropy}\n`);
      }),
  };
}
