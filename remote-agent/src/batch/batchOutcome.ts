import type { JobOutcome, JobResult } from '../../../protocol/src/runner.ts';
import type { KeptResult } from './batchFolder.ts';
import type { BatchEnd, BatchTask } from './batchSystem.ts';

export interface Ended {
  /** How the batch system says that the task ended; undefined where it knows nothing of it any more. */
  readonly task: Pick<BatchTask, 'end' | 'word'> | undefined;
  /** True where a node took the job's claim: its program may have run. */
  readonly wasStarted: boolean;
  readonly title: string;
  readonly seconds: number;
  /** What the script said on the node. */
  readonly said: string;
  readonly folder: string;
  /** How another folder is named. */
  readonly otherFolder: string;
}

/** The outcome of a job whose task is over and which left no result: only what is known for certain. */
export function outcomeWithoutResult(ended: Ended): JobOutcome {
  const { task, wasStarted, title, seconds, said, folder, otherFolder } = ended;
  const word = task?.word ?? '';
  const words = said.trim() === '' ? '' : `. On the node it said: ${said.trim().slice(-600)}`;
  const end: BatchEnd | 'gone' = task?.end ?? 'gone';
  const unknown = (why: string): JobOutcome => ({
    kind: 'unknown',
    detail: `${why}, and the card had been started; it is not run again by itself${words}`,
  });
  const notRun = (why: string, remedy: string): JobOutcome => ({
    kind: 'refused',
    code: 'internal',
    detail: `${why} before the card was started${words}`,
    remedy,
  });
  const again = 'Nothing of it ran. Run it again.';
  switch (end) {
    case 'timeout':
      // The card's own limit comes first; what ran out is the time of its job.
      return wasStarted
        ? { kind: 'timeout', seconds, detail: `${title} ended it at the time limit of its job (${word})` }
        : notRun(`${title} ended it at its time limit`, again);
    case 'memory':
      return {
        kind: 'limit',
        limit: 'memory',
        detail: `${title} ended it because it used more memory than it had asked for (${word})`,
      };
    case 'cancelled':
      return {
        kind: 'cancelled',
        detail: `it was cancelled in ${title}, not from Sallyport (${word})`,
      };
    case 'preempted':
      return { kind: 'cancelled', detail: `${title} gave its node to a job of higher priority (${word})` };
    case 'node-lost':
      return wasStarted
        ? unknown(`The node failed while it ran (${word})`)
        : notRun(`The node failed (${word})`, again);
    case 'not-started':
      return notRun(`${title} gave it up (${word})`, again);
    case 'completed':
    case 'failed':
      return wasStarted
        ? unknown(`${title} says ${word}, but there is no result`)
        : notRun(
            `The job ended on the node (${word})`,
            `Compute nodes must see the folder ${folder} and have Node.js. ${otherFolder}`,
          );
    case 'gone':
      return wasStarted
        ? unknown(`${title} knows nothing of it any more and there is no result`)
        : notRun(`${title} knows nothing of it any more: it ended`, again);
  }
}

/**
 * True where a card ended in a way that the batch system may have brought about. It signals the runner and everything
 * below it at once, so that a card may seem to have ended by itself, with any exit code. And of a card whose memory ran
 * out one process may be ended alone: a script that goes on says in the end that all went well.
 */
export function needsReason({ result, killedForMemory }: Omit<KeptResult, 'lastSeq'>): boolean {
  if (isSuccess(result)) return killedForMemory !== false;
  const { outcome } = result;
  if (outcome.kind === 'exited') return true;
  return outcome.kind === 'cancelled' || outcome.kind === 'unknown' || outcome.kind === 'signalled';
}

export function isSuccess({ outcome }: JobResult): boolean {
  return outcome.kind === 'exited' && outcome.exitCode === 0;
}

/** Ends that the batch system itself brought about. */
const broughtAbout: ReadonlySet<BatchEnd> = new Set(['memory', 'timeout', 'preempted', 'cancelled']);

/**
 * The result with the batch system's reason in place of what the runner could see of it. Where the batch system gives
 * none, an end that the node counted stands.
 */
export function withReason(
  { result, killedForMemory }: Omit<KeptResult, 'lastSeq'>,
  task: Pick<BatchTask, 'end' | 'word'> | undefined,
  title: string,
  seconds: number,
): JobResult {
  const end = task?.end;
  if (end === undefined && isSuccess(result) && killedForMemory === true) {
    const detail = `the kernel of its node ended a process of its job for want of memory; ${title} does not say more`;
    return { ...result, outcome: { kind: 'limit', limit: 'memory', detail }, outputs: {} };
  }
  // What ended the job of a card that had come to its end took nothing away from it, but for memory that it lacked.
  if (end !== undefined && (isSuccess(result) ? end === 'memory' : broughtAbout.has(end))) {
    const ended = { task, wasStarted: true, title, seconds, said: '', folder: '', otherFolder: '' };
    return { ...result, outcome: outcomeWithoutResult(ended), outputs: {} };
  }
  if (result.outcome.kind !== 'cancelled') return result;
  const detail = `${title} ended it (${task?.word ?? 'it does not say why'})`;
  return { ...result, outcome: { kind: 'cancelled', detail } };
}

/** What a person sees of a task that has not begun to tell anything itself. */
export function describeTask(task: BatchTask | undefined, title: string): string {
  if (!task) return `${title} has it`;
  if (task.isRunning) return `${title} starts it (${task.word.toLowerCase()})`;
  return `In ${title}’s queue: ${task.reason === '' ? 'waiting' : task.reason}`;
}
