import { execFile } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createBlobStore, type StoredBlob } from '../../remote-agent/src/files/blobStore.ts';
import { buildPrograms } from '../support/builtPrograms.ts';
import type { SshHost } from '../support/sshHost.ts';
import { measureInTurns, type BenchRow } from './benchRow.ts';
import { ProcessorMeter } from './processorTime.ts';
import { builtTransport, openLink, put, type OpenSsh } from './sshBench.ts';

const run = promisify(execFile);
const rounds = 5;
const megabytes = 256;

/**
 * One big file to a host and back, against what a person would type instead, with the processor time of each side: with
 * few processors for both ends it decides, and unlike the time on the clock it says the same on a busy machine.
 */
export async function bigCopies(folder: string, host: SshHost, openssh: OpenSsh): Promise<BenchRow[]> {
  const [blobs, back] = [join(folder, 'blobs'), join(folder, 'back')];
  const [store, stored] = [createBlobStore(blobs), createBlobStore(back)];
  const built = await buildPrograms();
  const transport = await builtTransport(folder, host, join(built, 'dist'));
  const [to, from] = [await openLink(transport, blobs), await openLink(transport, back)];
  try {
    await openssh.run('true');
    const owner = openssh.owner();
    const meter = new ProcessorMeter({
      here: () => [process.pid, owner],
      sshd: () => [host.child?.pid ?? 0, ...host.sessions()],
      runner: () => host.runnerPids(),
    });
    const bytes = Buffer.alloc(megabytes * 1024 * 1024);
    const [file, copy] = [join(folder, 'file'), join(folder, 'copy')];
    const there = join(host.home, 'copy');
    const ssh = openssh.words.join(' ');
    let blob: StoredBlob = store.putBytes(Buffer.alloc(0));
    const work = meter.over({
      up: () => to.put([blob]),
      upCat: () => openssh.run(`cat > ${there}`, { input: file }),
      upChecked: () => openssh.run(`tee ${there} | sha256sum`, { input: file }),
      upScp: () => openssh.scp(file, `lab:${there}`),
      down: () => from.fetch([{ ...blob, kind: 'file', files: 1 }], bytes.length),
      downCat: () => openssh.run(`cat ${there}`, { output: copy }),
      downChecked: () => run('sh', ['-c', `${ssh} 'cat ${there}' | tee ${copy} | sha256sum`]),
      downScp: () => openssh.scp(`lab:${there}`, copy),
    });
    const times = await measureInTurns(rounds, {
      make: async () => {
        store.remove(blob.digest);
        stored.remove(blob.digest);
        writeFileSync(file, randomFillSync(bytes));
        blob = await put(store, file);
      },
      ...work,
    });
    return (['up', 'down'] as const).flatMap((way) => {
      const where = way === 'up' ? 'to the host' : 'back from the host';
      const against = (peer: keyof typeof work, words: string, least: number | null) =>
        rateRow(`256 MB ${where}, against OpenSSH (${words})`, times[way], times[peer], least);
      const seconds = (part: 'here' | 'sshd' | 'runner', words: string) => {
        const [ours, peer] = [way, `${way}Cat`].map(
          (name) => (meter.secondsOf(name, part) * 1024) / (megabytes * rounds),
        );
        return secondsRow(`processor time of 1 GB ${where}: ${words}`, ours ?? NaN, peer || null);
      };
      return [
        against(`${way}Cat`, way === 'up' ? 'cat > file' : 'cat file', 0.9),
        against(`${way}Checked`, 'tee file | sha256sum', null),
        against(`${way}Scp`, 'scp', null),
        seconds('here', 'here'),
        seconds('sshd', 'sshd and what it runs'),
        seconds('runner', 'the runner there'),
      ];
    });
  } finally {
    to.close();
    from.close();
    rmSync(built, { recursive: true, force: true });
  }
}

function rateRow(name: string, oursMs: number, peerMs: number, least: number | null): BenchRow {
  const rate = (ms: number) => megabytes / (ms / 1000);
  const [ours, peer] = [rate(oursMs), rate(peerMs)];
  const ratio = ours / peer;
  return {
    group: 'remote',
    name,
    unit: 'MB/s',
    goal: least === null ? '' : `≥ ${least} × OpenSSH`,
    ours,
    peer,
    ratio,
    holds: least === null ? null : ratio >= least,
  };
}

function secondsRow(name: string, ours: number, peer: number | null): BenchRow {
  const ratio = peer === null ? null : ours / peer;
  return { group: 'remote', name, unit: 's', goal: '', ours, peer, ratio, holds: null };
}
