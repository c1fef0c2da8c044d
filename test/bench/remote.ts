import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { CardJob } from '../../language-server/src/runners/cardRunner.ts';
import { defaultCardLimits } from '../../protocol/src/limits.ts';
import { putTree } from '../support/blobs.ts';
import { jobWith } from '../support/jobs.ts';
import { Heard, openPlace } from '../support/remotePlace.ts';
import { removeHost, SshHost } from '../support/sshHost.ts';
import { sshParts } from '../support/sshPlace.ts';
import { limitRow, measureInTurns, missingRow, ratioRow, type BenchRow } from './benchRow.ts';
import { never, openLink, openSsh, partsFor, put } from './sshBench.ts';

const rounds = 25;
const inputBytes = 1024 * 1024 * 1024;
const restMs = 25;

/** A card over SSH against OpenSSH itself, over one connection each that is open already, on loopback. */
export async function remoteBench(): Promise<BenchRow[]> {
  if (!existsSync('/usr/sbin/sshd')) return [missingRow('remote', 'a card over SSH: sshd', '')];
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bench-ssh-'));
  const host = new SshHost({ folder: join(folder, 'host') });
  try {
    await host.start();
    return [...(await cardRows(folder, host)), await secondRunRow(folder, host)];
  } finally {
    await removeHost(host);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function cardRows(folder: string, host: SshHost): Promise<BenchRow[]> {
  const parts = partsFor(folder, host);
  const place = openPlace(parts.transport('lab'), join(folder, 'blobs'));
  const openssh = openSsh(folder, host);
  try {
    const code = await putTree(place.blobs.folder, { 'main.sh': 'true' });
    let count = 0;
    const run = async (more: Partial<CardJob> = {}) => {
      const job = { ...jobWith({ jobId: `bench-${++count}`, code }), limits: defaultCardLimits, ...more };
      const { outcome } = await place.runner.run(job, new Heard(), never);
      place.runner.settled?.(job.jobId);
      if (outcome.kind !== 'exited' || outcome.exitCode !== 0) throw new Error(JSON.stringify(outcome));
    };
    for (let warm = 0; warm < 5; warm++) {
      await run();
      await openssh.run('true');
      await pause(restMs);
    }
    const times = await measureInTurns(rounds, {
      rest: () => pause(restMs),
      card: () => run(),
      rest1: () => pause(restMs),
      openssh: () => openssh.run('true'),
    });
    const rtts: number[] = [];
    const link = await openLink(parts.transport('lab'), join(folder, 'blobs'));
    for (let round = 0; round < 200; round++) {
      const startedAt = performance.now();
      await link.channel.call('lease/renew', {});
      rtts.push(performance.now() - startedAt);
    }
    link.close();
    rtts.sort((a, b) => a - b);
    return [
      ratioRow(
        {
          group: 'remote',
          name: 'a sealed card over SSH, warm, against ssh HOST true (multiplexed)',
          unit: 'ms',
          goal: '≤ 1.3 × ssh',
          ours: times.card,
          peer: times.openssh,
        },
        1.3,
      ),
      limitRow(
        {
          group: 'remote',
          name: 'control round trip over SSH on loopback',
          unit: 'ms',
          ours: rtts[100] ?? NaN,
        },
        1,
      ),
    ];
  } finally {
    openssh.close();
    await place.runner.dispose();
  }
}

/** What the second run with the same inputs sends, counted on the way to the host. */
async function secondRunRow(folder: string, host: SshHost): Promise<BenchRow> {
  const blobs = join(folder, 'bulk');
  const counter = await startCounter(host.port);
  const counted = sshParts({
    folder: join(folder, 'counted'),
    config: host.configBlock('lab').replace(`Port ${host.port}`, `Port ${counter.port}`),
    known: host.knownLine('ed25519', `[127.0.0.1]:${counter.port}`),
  });
  const place = openPlace(counted.transport('lab'), blobs);
  try {
    const before = process.memoryUsage().rss;
    const big = await put(place.blobs, makeFile(folder, inputBytes));
    const code = await putTree(place.blobs.folder, { 'main.sh': 'wc -c < $SALLYPORT_INPUTS/in' });
    const job = (jobId: string): CardJob => ({
      ...jobWith({ jobId, code }),
      limits: { seconds: 120, memoryMB: 512, processes: 16, outputMB: 1, logMB: 1 },
      inputs: [{ port: 'in', type: 'file', artifact: { ...big, kind: 'file', files: 1 } }],
    });
    await place.runner.run(job('first'), new Heard(), never);
    const sentBefore = counter.sent();
    await place.runner.run(job('second'), new Heard(), never);
    const sentMB = (counter.sent() - sentBefore) / 1024 / 1024;
    process.stderr.write(
      `remote: memory grew by ${Math.round((process.memoryUsage().rss - before) / 1048576)} MB\n`,
    );
    return limitRow(
      {
        group: 'remote',
        name: 'sent in the second run with the same 1 GB of inputs',
        unit: 'MB',
        ours: sentMB,
      },
      1,
    );
  } finally {
    await place.runner.dispose();
    counter.close();
  }
}

function makeFile(folder: string, bytes: number): string {
  const file = join(folder, 'big-file');
  execFileSync('truncate', ['-s', String(bytes), file]);
  return file;
}

/** A way to the host that counts what goes to it. */
async function startCounter(to: number): Promise<{ port: number; sent: () => number; close: () => void }> {
  let sent = 0;
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    near.on('data', (chunk: Buffer) => (sent += chunk.length));
    near.pipe(far).pipe(near);
    for (const each of [near, far]) each.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return { port, sent: () => sent, close: () => void server.close() };
}
