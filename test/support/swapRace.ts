import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Exchanges two paths as fast as it can, until its input closes. renameat2(2) leaves neither name empty. */
const swapper = `
import ctypes, os, select, sys
libc = ctypes.CDLL(None, use_errno=True)
a, b = (os.fsencode(path) for path in sys.argv[1:3])
print("swapping", flush=True)
rounds = 0
while True:
    for _ in range(50):
        if libc.renameat2(-100, a, -100, b, 2) != 0:
            raise OSError(ctypes.get_errno(), "renameat2")
        rounds += 1
    if select.select([sys.stdin], [], [], 0)[0]:
        break
print(rounds)
`;

/** Runs `act` while another process exchanges `a` and `b`, and returns how often it did. Linux only. */
export async function whileSwapping(a: string, b: string, act: () => Promise<void>): Promise<number> {
  const child = spawn('python3', ['-c', swapper, a, b], { stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const exited = once(child, 'exit');
  try {
    await Promise.race([once(child.stdout, 'data'), exited]);
    await act();
  } finally {
    child.stdin.end();
    await exited;
  }
  return Number(said.split('\n')[1] ?? 0);
}
