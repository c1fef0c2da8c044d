import { execFile } from 'node:child_process';
import { hostname } from 'node:os';
import { promisify } from 'node:util';
import { remoteTimes } from '../../language-server/src/runners/places/remoteRunner.ts';
import { defaultCardLimits } from '../../protocol/src/limits.ts';
import { putTree } from '../support/blobs.ts';
import { jobWith } from '../support/jobs.ts';
import { Heard } from '../support/remotePlace.ts';
import { hasSlurm } from '../support/slurmCluster.ts';
import { SlurmRig } from '../support/slurmRig.ts';
import { hasSshd } from '../support/sshPlace.ts';
import { until } from '../support/until.ts';
import { limitRow, measureInTurns, missingRow, ratioRow, type BenchRow } from './benchRow.ts';

const execute = promisify(execFile);
const rounds = 7;
const many = 1000;
const limits = { ...defaultCardLimits, memoryMB: 64 };

/** Cards through a real Slurm of one node against `sbatch` by hand on the same cluster. */
export async function slurmBench(): Promise<BenchRow[]> {
  if (!hasSlurm || !hasSshd) return [missingRow('remote', 'cards through Slurm: slurm-wlm', '')];
  const rig = new SlurmRig();
  try {
    await rig.start();
    return [...(await oneCard(rig)), ...(await manyCards(rig))];
  } finally {
    await rig.remove();
  }
}

async function oneCard(rig: SlurmRig): Promise<BenchRow[]> {
  const place = rig.open({ times: remoteTimes });
  await place.runner.ready();
  const code = await putTree(place.blobs.folder, { 'main.sh': 'true' });
  let count = 0;
  const card = async () => {
    const job = { ...jobWith({ jobId: `one-${++count}`, code }), limits };
    const { outcome } = await place.runner.run(job, new Heard(), new AbortController().signal);
    if (outcome.kind !== 'exited') throw new Error(JSON.stringify(outcome));
  };
  await card();
  const env = { ...process.env, ...rig.cluster.environment };
  const words = ['--wait', '--output=/dev/null', '--wrap=true', '--chdir=/', '--export=NONE'];
  const times = await measureInTurns(rounds, { card, byHand: () => execute('sbatch', words, { env }) });
  return [
    ratioRow(
      {
        group: 'remote',
        name: 'a sealed card through Slurm, queue and all, against sbatch --wait of true (which looks every 2 s)',
        unit: 'ms',
        goal: '≤ 1.5 × sbatch',
        ours: times.card,
        peer: times.byHand,
      },
      1.5,
    ),
  ];
}

async function manyCards(rig: SlurmRig): Promise<BenchRow[]> {
  const place = rig.open({ engine: 'engine-of-many', times: remoteTimes });
  await place.runner.ready();
  const node = `NodeName=${hostname().split('.')[0] ?? ''}`;
  await rig.cluster.run('scontrol', 'update', node, 'State=DRAIN', 'Reason=bench');
  const before = new Set((await rig.cluster.jobs()).map(({ name }) => name));
  const code = await putTree(place.blobs.folder, { 'main.sh': 'true' });
  const stop = new AbortController();
  const startedAt = performance.now();
  const all = Array.from({ length: many }, (_, index) =>
    place.runner.run(
      { ...jobWith({ jobId: `many-${index}`, code, params: `{"n":${index}}` }), limits },
      new Heard(),
      stop.signal,
    ),
  );
  const waiting = async () => (await rig.cluster.jobs()).filter(({ name }) => !before.has(name));
  await until(async () => (await waiting()).length === many, 60_000);
  const seconds = (performance.now() - startedAt) / 1000;
  const requests = new Set((await waiting()).map(({ name }) => name)).size;
  stop.abort();
  await Promise.all(all);
  return [
    limitRow(
      {
        group: 'remote',
        name: `${many} cards that are ready together: requests to Slurm`,
        unit: '',
        ours: requests,
      },
      1,
    ),
    limitRow(
      {
        group: 'remote',
        name: `${many} cards: from the first to all in Slurm’s queue`,
        unit: 's',
        ours: seconds,
      },
      10,
    ),
  ];
}
