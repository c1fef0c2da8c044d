import * as z from 'zod/mini';
import { portType, runtime } from '../../../protocol/src/manifests.ts';
import type { JobResult } from '../../../protocol/src/runner.ts';
import type { JobEvent } from '../../../protocol/src/servedRunner.ts';
import type { RemoteJobs } from '../runners/places/remoteJobs.ts';
import { awaitedRelease } from '../vault/awaitedRelease.ts';
import { LogPacker } from '../store/logLines.ts';
import type { CardRunKey, CardRunRecord } from '../store/runRecords.ts';
import type { Store } from '../store/store.ts';
import { sumBytes, toOutputs } from './cardJob.ts';
import { leftBehind, toEnding, type Ending } from './outcome.ts';

const keptCard = z.strictObject({
  runtime,
  outputs: z.array(z.strictObject({ port: z.string(), type: portType, optional: z.boolean() })),
  releaseLater: z.optional(awaitedRelease),
});

export interface RemoteJobsOptions {
  readonly store: Store;
  readonly now: () => number;
  /** A card run that was over has another end now. */
  readonly onAdopted: (runSeq: number, record: CardRunRecord) => void;
}

/** The jobs elsewhere of this home, in its database. */
export function createRemoteJobs({ store, now, onAdopted }: RemoteJobsOptions): RemoteJobs {
  const { remoteJobs: records, database } = store;
  return {
    send: (place, { jobId, runtime: runs, outputs, limits, releaseLater }) =>
      records.add({
        jobId,
        place,
        outputLimitBytes: limits.outputMB * 1024 * 1024,
        cardJson: JSON.stringify({ runtime: runs, outputs, releaseLater }),
      }),
    cancel: (jobId) => records.cancel(jobId),
    remove: (jobId) => records.remove(jobId),
    knows: (jobId) => records.find(jobId) !== undefined,
    awaited: (jobId) => {
      const kept = records.find(jobId);
      if (kept?.state !== 'sent' || kept.cancelled || !isLeft(store, jobId)) return undefined;
      return keptCard.parse(JSON.parse(kept.cardJson)).releaseLater;
    },
    left: (place) =>
      records.list(place).filter(({ jobId, state }) => state === 'settled' || isLeft(store, jobId)),
    adopt: (jobId, result, log) => {
      const adopted = database.transaction(() => {
        const done = adopt(store, jobId, result, log, now());
        records.settle(jobId);
        return done;
      });
      if (adopted) onAdopted(adopted.key.run, adopted.record);
    },
  };
}

/** True where no living engine waits for this job. */
function isLeft(store: Store, jobId: string): boolean {
  const found = findCard(store, jobId);
  if (!found) return true;
  const { state } = found.record.status;
  if (state !== 'queued' && state !== 'running') return true;
  const engine = store.runs.engineOf(found.key.run);
  return engine === undefined || !store.isAlive(engine);
}

function findCard(store: Store, jobId: string): { key: CardRunKey; record: CardRunRecord } | undefined {
  const [, runId = '', index = ''] = /^(.+)-([0-9]+)$/.exec(jobId) ?? [];
  const run = store.runs.seqOf(runId);
  const key = run === undefined ? undefined : { run, index: Number(index) };
  const record = key && store.runs.card(key);
  return key && record && { key, record };
}

/** Gives a card run whose end was not known the end that it had. One whose end is known keeps it. */
function adopt(
  store: Store,
  jobId: string,
  result: JobResult | undefined,
  log: readonly Extract<JobEvent, { kind: 'log' }>[],
  at: number,
): { key: CardRunKey; record: CardRunRecord } | undefined {
  const found = findCard(store, jobId);
  const kept = store.remoteJobs.find(jobId);
  if (!found || !kept || found.record.status.state !== 'unknown') return undefined;
  const { key, record } = found;
  const card = keptCard.parse(JSON.parse(kept.cardJson));
  const ending: Ending = result ? toEnding(result, card) : neverAccepted(kept.place);
  const outputs = ending.state === 'done' && result ? toOutputs(card, result.outputs) : [];
  const adopted: CardRunRecord = {
    ...record,
    status: {
      ...record.status,
      ...ending,
      isolation: result?.isolation ?? null,
      runMs: result?.runMs ?? null,
      finishedAt: at,
      outputBytes: sumBytes(outputs),
    },
    result: ending.state === 'done' && record.key !== null ? store.results.add(record.key, outputs) : null,
    logLines: result ? rewriteLog(store, key, log, leftBehind(result.outputProblems)) : record.logLines,
    logCutBytes: result?.logCutBytes ?? record.logCutBytes,
  };
  store.runs.saveCard(key, adopted);
  store.runs.recount(key.run, at);
  return { key, record: adopted };
}

/** The whole log in place of the part that was stored before: neither gap nor line twice. */
function rewriteLog(
  store: Store,
  key: CardRunKey,
  log: readonly Extract<JobEvent, { kind: 'log' }>[],
  lastWords: readonly string[],
): number {
  store.logs.clear(key);
  const packer = new LogPacker();
  for (const { stream, text } of log) packer.push(stream, text);
  const own = packer.take(true);
  for (const line of lastWords) packer.push('stderr', `${line}\n`);
  store.logs.append(key, [...own, ...packer.take(true)], packer.totalLines);
  return packer.totalLines;
}

function neverAccepted(place: string): Ending {
  return {
    state: 'cancelled',
    reason: {
      kind: 'interrupted',
      detail: `${place} had not accepted it when Sallyport ended, so it did not run`,
      remedy: 'Run it again.',
    },
    exitCode: null,
  };
}
