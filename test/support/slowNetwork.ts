import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { createServer, connect, type Socket } from 'node:net';
import { putBlob, putTree } from './blobs.ts';
import { jobWith } from './jobs.ts';
import { Heard, openPlace, quickTimes } from './remotePlace.ts';
import { SshHost } from './sshHost.ts';
import { sshParts } from './sshPlace.ts';

/**
 * With a folder in `argv[2]`: runs cards over SSH through a slow and lossy network, and prints what came of it as one
 * line of JSON. With `own` in `argv[3]` it runs in a network namespace of its own (`unshare --net`), whose loopback it
 * makes bad by the kernel; where that can't be, a relay makes what a bad network makes of a TCP connection.
 */
const [, , folder = '', namespace = ''] = process.argv;
const delayMs = 100;
/** How long a segment that was lost is missing: until TCP sends it again (RFC 6298). */
const lossMs = 2 * delayMs + 200;
const lossRate = 0.05;
if (namespace === 'own') execFileSync('ip', ['link', 'set', 'lo', 'up']);
const how = namespace === 'own' ? makeBad() : 'relay';
const segmentBytes = 1448;
/** The same each time (mulberry32). */
let seed = 20;
const random = (): number => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), seed | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};
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
function makeBad(): 'netem' | 'filter' | 'relay' {
  const lossy = ['-A', 'INPUT', '-i', 'lo', '-p', 'tcp', '-m', 'statistic', '--mode', 'random'];
  const ways = {
    netem: ['tc', 'qdisc', 'add', 'dev', 'lo', 'root', 'netem', 'delay', `${delayMs}ms`, 'loss', '5%'],
    filter: ['iptables', ...lossy, '--probability', String(lossRate), '-j', 'DROP'],
  } as const;
  for (const way of ['netem', 'filter'] as const) {
    const [program, ...words] = ways[way];
    try {
      execFileSync(program, words, { stdio: 'ignore' });
      return way;
    } catch {
      // This kernel has no such thing.
    }
  }
  return 'relay';
}

/**
 * Passes bytes on in both directions, in their order, each chunk after the delay. As `relay` it loses some too: what
 * TCP makes of that is that they, and all that comes after them, come late.
 */
function startRelay(to: number): Promise<number> {
  const late = (from: Socket, into: Socket) => {
    // One after the other, whatever timers do: a stream has an order.
    const waiting: { readonly at: number; readonly segment: Buffer | undefined }[] = [];
    let free = 0;
    const drain = () => {
      for (let [next] = waiting; next && next.at <= performance.now(); [next] = waiting) {
        waiting.shift();
        if (!next.segment) into.destroy();
        else if (into.writable) into.write(next.segment);
      }
      if (waiting[0]) setTimeout(drain, waiting[0].at - performance.now());
    };
    const add = (segment: Buffer | undefined) => {
      const isLost = how === 'relay' && random() < lossRate;
      free = Math.max(free, performance.now() + delayMs + (isLost ? lossMs : 0));
      waiting.push({ at: free, segment });
      if (waiting.length === 1) setTimeout(drain, free - performance.now());
    };
    from.on('data', (chunk: Buffer) => {
      // Segments of an Ethernet, each of which may be lost.
      for (let start = 0; start < chunk.length; start += segmentBytes)
        add(chunk.subarray(start, start + segmentBytes));
    });
    from.on('close', () => add(undefined));
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
