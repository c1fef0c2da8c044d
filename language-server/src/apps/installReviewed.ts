import { UserError } from '../../../protocol/src/errors.ts';
import type { AppStorage } from '../plugins/appStorage.ts';
import type { AppRecord } from './appRecords.ts';
import { blobsOf, dropBlobs } from './collectBlobs.ts';
import { createAppReview } from './createReview.ts';
import { installStage, type InstallerOptions } from './installer.ts';
import { quietly } from './quietly.ts';
import type { Staged, Stages } from './stages.ts';

export interface InstallReviewedOptions extends InstallerOptions {
  readonly storage: AppStorage;
  readonly stages: Pick<Stages, 'partsOf'>;
  readonly onProblem: (error: unknown) => void;
}

export interface ReviewedInstall {
  /** Of the review that was answered. */
  readonly digest: string;
  /** The line of the log. */
  readonly line: string;
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Installs a stage whose review has this digest, then lets go of what was there. Throws `conflict` where what would be
 * reviewed is another by then.
 */
export async function installReviewed(
  options: InstallReviewedOptions,
  { stage, content }: Staged,
  { digest, line, onProgress, signal }: ReviewedInstall,
): Promise<AppRecord> {
  const { records, blobs, storage, stages, onProblem } = options;
  const parts = () => stages.partsOf({ stage, content });
  const assertCurrent = () => {
    if (createAppReview(parts()).digest === digest) return;
    throw new UserError('conflict', 'What was reviewed is not what is there now. Review it again.', {
      stageId: stage.id,
    });
  };
  assertCurrent();
  const before = records.find(stage.app);
  const { isOfficial } = parts();
  const request = { stage, content, isOfficial, assertCurrent, line, onProgress, signal };
  const app = await installStage(options, request);
  // The data of a deleted app goes on only where the same source brings it back.
  const wasDeleted = before !== undefined && before.deletedAt !== null;
  if (wasDeleted && stage.data === null && JSON.stringify(before.source) !== JSON.stringify(app.source))
    storage.clear(app.id);
  quietly(onProblem, () => {
    const replaced = before ? [...blobsOf(blobs, before.code), before.page.digest] : [];
    dropBlobs(records, blobs, [...replaced, ...(stage.data ? blobsOf(blobs, stage.data) : [])]);
  });
  return app;
}
