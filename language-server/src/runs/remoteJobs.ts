import * as z from 'zod/mini';
import type { CardStatus } from '../../../protocol/src/engine.ts';
import { portType, runtime } from '../../../protocol/src/manifests.ts';
import type { RemoteJobs } from '../runners/places/remoteJobs.ts';
import { awaitedRelease } from '../vault/awaitedRelease.ts';
import type { RemoteJobRecord } from '../store/remoteJobRecords.ts';
import type { CardRunKey, CardRunRecord } from '../store/runRecords.ts';
import type { Store } from '../store/store.ts';
import { LeftCard, type LeftCardEvents } from './leftCard.ts';
import type { Ending } from './outcome.ts';

const keptCard = z.strictObject({
  runtime,
  outputs: z.array(z.strictObject({ port: z.string(), type: portType, optional: z.boolean() })),
  logMB: z.number(),
  releaseLater: z.optional(awaitedRelease),
});

export interface RemoteJobsOptions {
  readonly store: Store;
  readonly now: () => number;
  readonly events: LeftCardEvents;
}

/** The jobs elsewhere of this home, in its database, and those of earlier engines that this one looks after. */
export interface HomeJobs extends RemoteJobs {
  /** Cancels what this engine looks after of a run. False where that is nothing. */
  cancelRun(runId: string): boolean;
  /** The status with its progress, while a card is looked after. */
  liveStatus(runId: string, card: string): CardStatus | undefined;
  /** The cards of a project whose end is to be asked for elsewhere, and that no living engine looks after. */
  heldCards(project: string): HeldCard[];
}

export interface HeldCard {
  readonly place: string;
  readonly card: string;
}

export function createRemoteJobs({ store, now, events }: RemoteJobsOptions): HomeJobs {
  const { remoteJobs: records, database } = store;
  const taken = new Map<string, LeftCard>();
  const awaited: RemoteJobs['awaited'] = (jobId) => {
    const kept = records.find(jobId);
    if (kept?.state !== 'sent' || kept.cancelled || !isLeft(store, jobId)) return undefined;
    return parseKept(kept).releaseLater;
  };
  return {
    send: (place, { jobId, runtime: runs, outputs, limits, releaseLater }) =>
      records.add({
        jobId,
        place,
        outputLimitBytes: limits.outputMB * 1024 * 1024,
        cardJson: JSON.stringify({ runtime: runs, outputs, logMB: limits.logMB, releaseLater }),
      }),
    cancel: (jobId) => records.cancel(jobId),
    remove: (jobId) => records.remove(jobId),
    knows: (jobId) => records.find(jobId) !== undefined,
    awaited,
    left: (place) =>
      records.list(place).filter(({ jobId, state }) => state === 'settled' || isLeft(store, jobId)),
    takeUp: (jobId) => {
      store.recover();
      return database.transaction(() => {
        const found = findCard(store, jobId);
        const kept = records.find(jobId);
        if (!found || !kept) return 'nobody';
        const { key, record } = found;
        if (isUnderWay(record)) return 'another';
        if (record.status.state !== 'unknown') return 'nobody';
        const { logMB, ...card } = parseKept(kept);
        const left = new LeftCard({
          ...{ store, now, key, record, card, events },
          logLimitBytes: logMB * 1024 * 1024,
          awaited: awaited(jobId),
          isTakenOver: [...taken.values()].some((each) => each.ownsRun && each.runId === record.status.runId),
          onOver: () => taken.delete(jobId),
        });
        taken.set(jobId, left);
        return left;
      });
    },
    neverAccepted: (jobId) => {
      const place = records.find(jobId)?.place ?? '';
      const ended = database.transaction(() => {
        records.settle(jobId);
        return endUnaccepted(store, jobId, place, now());
      });
      if (ended) events.delta(ended.key.run, ended.record.card, ended.record.status);
    },
    cancelRun: (runId) => {
      const all = [...taken.values()].filter((each) => each.runId === runId);
      for (const each of all) each.cancel();
      return all.length > 0;
    },
    liveStatus: (runId, card) =>
      [...taken.values()].find((each) => each.runId === runId && each.card === card)?.status,
    heldCards: (project) =>
      records.sent().flatMap(({ jobId, place }) => {
        const found = findCard(store, jobId);
        if (!found || !store.runs.belongsTo(found.record.status.runId, project)) return [];
        const isHeld = found.record.status.state === 'unknown' || isUnderWay(found.record);
        return isHeld && isLeft(store, jobId) ? [{ place, card: found.record.card }] : [];
      }),
  };
}

function parseKept({ cardJson }: RemoteJobRecord): z.infer<typeof keptCard> {
  return keptCard.parse(JSON.parse(cardJson));
}

/** True where no living engine waits for this job. */
function isLeft(store: Store, jobId: string): boolean {
  const found = findCard(store, jobId);
  if (!found || !isUnderWay(found.record)) return true;
  const engine = store.runs.engineOf(found.key.run);
  return engine === undefined || !store.isAlive(engine);
}

function isUnderWay({ status: { state } }: CardRunRecord): boolean {
  return state === 'queued' || state === 'running';
}

function findCard(store: Store, jobId: string): { key: CardRunKey; record: CardRunRecord } | undefined {
  const [, runId = '', index = ''] = /^(.+)-([0-9]+)$/.exec(jobId) ?? [];
  const run = store.runs.seqOf(runId);
  const key = run === undefined ? undefined : { run, index: Number(index) };
  const record = key && store.runs.card(key);
  return key && record && { key, record };
}

/** Gives a card run whose end was not known the end of one that did not run. */
function endUnaccepted(
  store: Store,
  jobId: string,
  place: string,
  at: number,
): { key: CardRunKey; record: CardRunRecord } | undefined {
  const found = findCard(store, jobId);
  if (found?.record.status.state !== 'unknown') return undefined;
  const { key, record } = found;
  const ending: Ending = {
    state: 'cancelled',
    reason: {
      kind: 'interrupted',
      detail: `${place} had not accepted it when Sallyport ended, so it did not run`,
      remedy: 'Run it again.',
    },
    exitCode: null,
  };
  const ended = { ...record, status: { ...record.status, ...ending, finishedAt: at } };
  store.runs.saveCard(key, ended);
  store.runs.recount(key.run, at);
  return { key, record: ended };
}
