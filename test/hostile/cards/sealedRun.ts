import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { tree } from '../../../protocol/src/artifacts.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { blobPath, type JobOutcome, type JobSpec } from '../../../protocol/src/runner.ts';
import { damagedBlobs } from '../../support/blobs.ts';
import type { CardClient, JobReport } from '../../support/runnerClient.ts';
import { fillIn, type Attack } from './attack.ts';
import { commonEvidence, routesIn, type Evidence } from './evidence.ts';
import { jobOf } from './jobs.ts';
import type { EnginePlaces, Lures } from './lures.ts';
import { startSealedNeighbour } from './neighbour.ts';

export interface SealedReport {
  readonly outcome: JobOutcome;
  readonly report: JobReport | undefined;
  readonly evidence: readonly Evidence[];
  /** Routes of which the card said that they are closed. */
  readonly held: ReadonlySet<string>;
  readonly log: string;
}

/** Runs the attack as the engine would, through the real runner, and gathers whatever shows that it worked. */
export async function runSealed(
  attack: Attack,
  lures: Lures,
  client: CardClient,
  engine: EnginePlaces,
): Promise<SealedReport> {
  const neighbour = attack.neighbour ? await startSealedNeighbour(client, lures, engine.blobs) : undefined;
  const evidence: Evidence[] = [];
  let last: { report: JobReport | undefined; outcome: JobOutcome; log: string } | undefined;
  const held = new Set<string>();
  try {
    const entries = [
      ...(attack.before ?? []),
      ...Array<Attack['entry']>(attack.times ?? 1).fill(attack.entry),
    ];
    for (const [at, entry] of entries.entries()) {
      const jobId = attack.jobId
        ? fillIn(attack.jobId, lures.values)
        : `${attack.name}-${at}-${lures.token}`.slice(-80);
      last = await runOnce(attack, await jobOf(attack, entry, jobId, lures, engine.blobs), client);
      evidence.push(...(await commonEvidence(lures, last.log, await takenTexts(last.report, engine.blobs))));
      evidence.push(...evidenceOfJob(attack, last.report, client, lures));
      if ((await namesBelow(engine.scratch)).some((name) => name.includes(jobId)))
        evidence.push({ proof: 'left-behind', detail: jobId });
      for (const route of routesIn(last.log)) if (!route.got) held.add(route.name);
    }
    for (const name of await damagedBlobs(engine.blobs)) evidence.push({ proof: 'blob', detail: name });
  } finally {
    await neighbour?.end();
  }
  if (!last) throw new Error(`${attack.name} ran nothing`);
  return { ...last, evidence, held };
}

async function runOnce(
  attack: Attack,
  job: JobSpec,
  client: CardClient,
): Promise<{ report: JobReport | undefined; outcome: JobOutcome; log: string }> {
  let cancelled: Promise<boolean> | undefined;
  try {
    const report = await client.run(job, {
      onLog: (log) => {
        if (attack.cancelAt !== undefined && log.includes(attack.cancelAt))
          cancelled ??= client.cancel(job.jobId);
      },
    });
    await cancelled;
    return { report, outcome: report.result.outcome, log: `${report.stdout}\n${report.stderr}` };
  } catch (error) {
    // What does not fit the contract is refused before it is a job.
    if (!(error instanceof UserError) || error.code !== 'bad-message') throw error;
    return {
      report: undefined,
      outcome: { kind: 'refused', code: 'bad-input', detail: error.message },
      log: '',
    };
  }
}

function evidenceOfJob(
  attack: Attack,
  report: JobReport | undefined,
  client: CardClient,
  lures: Lures,
): Evidence[] {
  const found: Evidence[] = [];
  const outputs = report?.result.outputs ?? {};
  for (const [port, { hostile }] of Object.entries(attack.outputs ?? {})) {
    if (hostile && Object.hasOwn(outputs, port))
      found.push({ proof: 'accepted', detail: `${port} was taken` });
  }
  for (const port of Object.keys(outputs)) {
    if (!Object.hasOwn(attack.outputs ?? {}, port))
      found.push({ proof: 'accepted', detail: `${port} was taken, which is no output of the card` });
  }
  const keptLog = Buffer.byteLength(report?.stdout ?? '') + Buffer.byteLength(report?.stderr ?? '');
  const logLimit = (attack.limits?.logMB ?? 16) * 1024 * 1024;
  // Bytes that are no UTF-8 come as replacement characters of three bytes.
  if ((report?.result.logBytes ?? 0) > logLimit || keptLog > 3 * logLimit)
    found.push({ proof: 'log', detail: `${report?.result.logBytes ?? 0} bytes, ${keptLog} as text` });
  for (const stray of client.strays) {
    if (stray.includes(lures.token) || stray.includes('forged'))
      found.push({ proof: 'forged', detail: stray });
  }
  const memory = residentBytes(client.pid);
  if (memory > runnerMemoryBytes)
    found.push({ proof: 'runner', detail: `it was made to hold ${memory >> 20} MB` });
  if (!client.isRunning) found.push({ proof: 'runner', detail: `it ended: ${client.complaints}` });
  if (client.complaints.includes('TERMINAL INPUT'))
    found.push({ proof: 'terminal', detail: client.complaints });
  return found;
}

/** Far more than any runner needs, far less than what a flood would bring. */
const runnerMemoryBytes = 400 * 1024 * 1024;

function residentBytes(pid: number): number {
  try {
    const kilobytes = /^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** The bytes of all outputs that were taken, those in folders and the names of their files too. */
async function takenTexts(report: JobReport | undefined, blobs: string): Promise<Buffer[]> {
  const texts: Buffer[] = [];
  for (const artifact of Object.values(report?.result.outputs ?? {})) {
    const content = await readFile(path.join(blobs, blobPath(artifact.digest)));
    texts.push(content);
    if (artifact.kind === 'file') continue;
    for (const entry of tree.parse(JSON.parse(content.toString('utf8'))).entries) {
      if (entry.kind === 'file') texts.push(await readFile(path.join(blobs, blobPath(entry.digest))));
    }
  }
  return texts;
}

async function namesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const below = await Promise.all(
    entries.filter((entry) => entry.isDirectory()).map((entry) => readdir(path.join(folder, entry.name))),
  );
  return [...entries.map((entry) => entry.name), ...below.flat()];
}
