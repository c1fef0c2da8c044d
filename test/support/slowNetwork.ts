import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createServer, connect, type Socket } from 'node:net';
import { putBlob, putTree } from './blobs.ts';
import { jobWith } from './jobs.ts';
import { Heard, openPlace, quickTimes } from './remotePlace.ts';
import { SshHost } from './sshHost.ts';
import { sshParts } from './sshPlace.ts';

/**
 * Run in a network namespace of its own (`unshare --net`), with a folder in `argv[2]`: makes its loopback slow and
 * lossy, runs cards over SSH through it, and prints what came of it as one line of JSON.
 */
const [, , folder = ''] = process.argv;
const delayMs = 100;
execFileSync('ip', ['link', 'set', 'lo', 'up']);
const how = makeBad();
const host = new SshHost({ folder: join(folder, 'host') });
await host.start();
const port = how === 'netem' ? host.port : await startRelay(host.port);
const parts = sshParts({
  folder: join(folder, 'here'),
  config: host.configBlock('lab').replace(`Port ${host.port}`, `Port ${port}`),
  known: host.knownLine('ed25519', `[127.0.0.1]:${port}`),
});
const place = openPlace(parts.transport('lab'), join(folder, 'blobs'), {
  times: { ...quickTimes, heartbeatMs: 5000 },
});
const input = await putBlob(place.blobs.folder, Buffer.alloc(2 * 1024 * 1024, 3));
const code = await putTree(place.blobs.folder, {
  'main.sh': 'for i in $(seq 200); do echo line $i; done; cp $SALLYPORT_INPUTS/in $SALLYPORT_OUTPUTS/out',
});
const results = await Promise.all(
  [1, 2, 3].map(async (n) => {
    const heard = new Heard();
    const result = await place.runner.run(
      {
        ...jobWith({ jobId: `slow-${n}`, code, params: JSON.stringify({ n }) }),
        limits: { seconds: 60, memoryMB: 256, processes: 16, outputMB: 16, logMB: 1 },
        inputs: [{ port: 'in', type: 'file', artifact: input }],
        outputs: [{ port: 'out', type: 'file', optional: false }],
      },
      heard,
      new AbortController().signal,
    );
    place.blobs.remove(input.digest);
    return {
      outcome: result.outcome,
      lines: heard.stdout,
      starts: heard.starts,
      same: result.outputs['out']?.digest === input.digest,
    };
  }),
);
const { latencyMs } = place.runner.view();
process.stdout.write(`${JSON.stringify({ how, latencyMs, results })}\n`);
await place.runner.dispose();
host.killRunner();
await host.stop();
process.exit(0);

/** Delay and loss by the kernel's netem; where it has none, loss by its packet filter and delay by a relay. */
function makeBad(): 'netem' | 'filter' {
  try {
    const words = ['qdisc', 'add', 'dev', 'lo', 'root', 'netem', 'delay', `${delayMs}ms`, 'loss', '5%'];
    execFileSync('tc', words, { stdio: 'ignore' });
    return 'netem';
  } catch {
    const words = ['-A', 'INPUT', '-i', 'lo', '-p', 'tcp', '-m', 'statistic', '--mode', 'random'];
    execFileSync('iptables', [...words, '--probability', '0.05', '-j', 'DROP'], { stdio: 'ignore' });
    return 'filter';
  }
}

/** Passes bytes on in both directions, each chunk after the delay. */
function startRelay(to: number): Promise<number> {
  const late = (from: Socket, into: Socket) => {
    from.on('data', (chunk: Buffer) => setTimeout(() => into.writable && into.write(chunk), delayMs));
    from.on('close', () => setTimeout(() => into.destroy(), delayMs));
    from.on('error', () => undefined);
  };
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    late(near, far);
    late(far, near);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
}
