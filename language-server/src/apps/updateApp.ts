import type { AppReview, AppView, appRequests } from '../../../protocol/src/apps.ts';
import type { ResultOf } from '../../../protocol/src/contract.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { AppRecord } from './appRecords.ts';
import { createAppReview, decideStage } from './createReview.ts';
import type { ReviewedInstall } from './installReviewed.ts';
import type { Staged, Stages } from './stages.ts';

export interface UpdateOptions {
  readonly stages: Stages;
  readonly install: (staged: Staged, reviewed: ReviewedInstall) => Promise<AppView>;
  /** An update waits for a person. */
  readonly onWaits: (app: string) => void;
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Looks for another version at an app's own source. One that the rules let in is installed, one that asks for more waits
 * for a person. Throws `conflict` where the source now holds another app.
 */
export async function updateApp(
  app: AppRecord,
  options: UpdateOptions,
): Promise<ResultOf<(typeof appRequests)['app/update']>> {
  const { stages, install, onWaits, onProgress, signal } = options;
  // A backup is what it was; it has no newer versions.
  if (app.source.kind === 'backup') return { kind: 'none' };
  const staged = await stages.take(app.source, { isWaiting: true, onProgress, signal });
  const { stage, content } = staged;
  if (stage.app !== app.id) {
    stages.discard(stage.id);
    throw new UserError('conflict', `The source of ${app.id} now holds another app, ${stage.app}.`, {
      app: app.id,
    });
  }
  const parts = stages.partsOf(staged);
  const decision = decideStage(parts);
  if (decision.kind === 'none') {
    stages.discard(stage.id);
    return { kind: 'none' };
  }
  const review: AppReview = createAppReview(parts);
  if (decision.kind === 'ask') {
    onWaits(app.id);
    return { kind: 'waits', review };
  }
  const text = `Version ${app.appVersion} became ${content.manifest.appVersion}: the code changed, it asks for nothing more`;
  const view = await install(staged, { digest: review.digest, line: text, onProgress, signal });
  return { kind: 'applied', view, text };
}
