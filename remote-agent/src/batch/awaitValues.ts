import { setTimeout as wait } from 'node:timers/promises';
import { UserError } from '../../../protocol/src/errors.ts';
import type { AwaitedValues } from '../../../protocol/src/runner.ts';
import type { ReleasedValue } from '../../../protocol/src/vault.ts';
import { proveKey } from '../vault/keyProof.ts';
import type { BatchFolder, KeptValues } from './batchFolder.ts';

export interface AwaitValuesOptions {
  readonly folder: BatchFolder;
  readonly jobId: string;
  readonly awaits: AwaitedValues;
  /** The key of this runner, in whose memory alone the private half is. */
  readonly publicKey: string;
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

const firstPollMs = 50;
const longestPollMs = 1000;

/**
 * Tells the job's key in the shared folder and waits until somebody has brought the values, sealed to it. Undefined
 * where another start of the same job has told a key since: that one goes on. Throws `permission-needed` in the words of
 * who refused them, and where nobody came in time; `cancelled` when the signal aborts.
 */
export async function awaitValues(
  options: AwaitValuesOptions,
): Promise<readonly ReleasedValue[] | undefined> {
  const { folder, jobId, awaits, publicKey } = options;
  folder.writeKey(jobId, { publicKey, proof: proveKey(awaits.ticket, jobId, publicKey) });
  folder.writeProgress(jobId, 0, 'It has started and waits for its vault values');
  let answer: KeptValues | 'another' | undefined;
  try {
    answer = await awaitAnswer(options);
  } finally {
    if (answer !== 'another') folder.removeValues(jobId);
  }
  if (answer === 'another') return undefined;
  if (answer?.kind === 'released') return answer.values;
  throw new UserError(
    'permission-needed',
    answer?.detail ??
      `Its vault values did not come within ${awaits.waitSeconds} seconds after it had started`,
    { remedy: answer ? (answer.remedy ?? '') : keepOpen },
  );
}

/** Undefined where nobody has answered in time. */
async function awaitAnswer({
  folder,
  jobId,
  awaits,
  publicKey,
  now,
  signal,
}: AwaitValuesOptions): Promise<KeptValues | 'another' | undefined> {
  const endAt = now() + awaits.waitSeconds * 1000;
  for (let waitMs = firstPollMs; now() < endAt; waitMs = Math.min(1.5 * waitMs, longestPollMs)) {
    // A look at the folder, not at the file: a network file system remembers for long what was not there.
    const answer = folder.runFiles().has(`${jobId}.values`) ? folder.valuesOf(jobId) : undefined;
    if (answer?.publicKey === publicKey) return answer;
    if (folder.keyOf(jobId)?.publicKey !== publicKey) return 'another';
    await wait(waitMs, undefined, { signal }).catch(() => {
      throw new UserError('cancelled', 'It was cancelled while it waited for its vault values');
    });
  }
  return undefined;
}

const keepOpen = 'Values come from VS Code: keep it open and connected while the card waits in the queue.';
