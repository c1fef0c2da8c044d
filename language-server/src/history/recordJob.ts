import { realpathSync } from 'node:fs';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import { emptyResult, type JobResult } from '../../../protocol/src/runner.ts';
import type { CardJob } from '../runners/cardRunner.ts';
import type { Journal } from './journal.ts';

/** Runs a job of a project with everything that it may write outside of its sandbox under record. */
export type RecordWrites = (root: string, job: CardJob, run: () => Promise<JobResult>) => Promise<JobResult>;

/**
 * Puts the shared folders that a job may write under record around it. A job whose folders can't be recorded is refused:
 * what it did could not be taken back. One that writes nowhere costs nothing, and opens no journal.
 */
export function createRecordWrites(journal: () => Journal): RecordWrites {
  return async (root, job, run) => {
    const shared = job.access.hostFolders.filter(({ write }) => write);
    if (shared.length === 0) return run();
    let outcome: Promise<JobResult> | undefined;
    try {
      const folders = shared.map(({ path }) => realpathSync.native(path));
      const context = {
        root: realpathSync.native(root),
        principal: `card:${job.cardId}` as const,
        conversation: null,
        group: job.jobId,
        groupTitle: `Run of the card ${job.cardId}`,
      };
      await journal().recordFolders(context, folders, async () => {
        outcome = run();
        await outcome;
      });
    } catch (error) {
      // What went wrong in or after the run is the run's to tell.
      if (outcome === undefined) return refused(error);
      await outcome;
      throw error;
    }
    if (!outcome) throw new Error('A record that has ended has run its job');
    return outcome;
  };
}

function refused(error: unknown): JobResult {
  const detail = `a shared folder can’t be put under record, so what the card does there could not be undone: ${errorMessage(error)}`;
  const isTooLarge = error instanceof UserError && error.code === 'too-large';
  return emptyResult({
    kind: 'refused',
    code: 'unsafe-path',
    detail,
    remedy: isTooLarge ? 'Share a smaller folder.' : 'Share a folder that you can read and write.',
  });
}
