import type { ArtifactRef } from '../../../protocol/src/artifacts.ts';
import { canonicalJson } from '../../../protocol/src/canonicalJson.ts';
import type { CardJob } from '../runners/cardRunner.ts';
import type { StoredOutput } from '../store/resultRecords.ts';
import { localPlace } from '../../../protocol/src/places.ts';
import { cardRunId, type CardRunRecord } from '../store/runRecords.ts';
import type { KeyInput } from './cacheKey.ts';
import type { FrozenCard } from './snapshot.ts';

/** A card as it enters a run. */
export function queuedRecord(runId: string, card: FrozenCard, index: number): CardRunRecord {
  return {
    card: card.id,
    title: card.title,
    runtime: card.runtime,
    viewOutput: card.viewOutput,
    status: {
      runId,
      cardRunId: cardRunId(runId, index),
      state: 'queued',
      cached: false,
      reason: null,
      exitCode: null,
      isolation: null,
      runMs: null,
      waitMs: null,
      startedAt: null,
      finishedAt: null,
      outputBytes: 0,
      progress: null,
      ...(card.place === localPlace ? {} : { place: card.place }),
    },
    key: null,
    result: null,
    why: [],
    logLines: 0,
    logCutBytes: 0,
  };
}

/** The job of a frozen card of a project, with the inputs that it has in this run. */
export function toJob(
  jobId: string,
  project: string,
  card: FrozenCard,
  inputs: readonly KeyInput[],
): CardJob {
  const types = new Map(card.inputs.map(({ port, type }) => [port, type]));
  return {
    jobId,
    project,
    cardId: card.id,
    runtime: card.runtime,
    entry: card.entry,
    code: card.code,
    inputs: inputs.map(({ port, artifact }) => ({ port, type: types.get(port) ?? 'file', artifact })),
    outputs: card.outputs,
    params: canonicalJson(card.params),
    limits: card.limits,
    access: card.access,
  };
}

/** Only what the card declared: a port of another name is not taken, whatever the runner says. */
export function toOutputs(
  card: Pick<FrozenCard, 'outputs'>,
  taken: Readonly<Record<string, ArtifactRef>>,
): StoredOutput[] {
  return card.outputs.flatMap(({ port, type }) => {
    const artifact = Object.hasOwn(taken, port) ? taken[port] : undefined;
    return artifact ? [{ port, type, artifact }] : [];
  });
}

/** Bytes of all outputs together. */
export function sumBytes(outputs: readonly StoredOutput[]): number {
  return outputs.reduce((sum, { artifact }) => sum + artifact.sizeBytes, 0);
}
