import type { AppSource } from '../../../protocol/src/apps.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { AppLibrary } from './appLibrary.ts';
import type { AppRecords, StageRecord } from './appRecords.ts';
import { blobsOf, dropBlobs } from './collectBlobs.ts';
import type { ReviewParts } from './createReview.ts';
import { quietly } from './quietly.ts';
import { readApp, type AppContent } from './readApp.ts';
import { isOfficialSource } from './sources/source.ts';
import type { Stager, StageRequest } from './stager.ts';
import { FrozenTree } from './tree/frozenTree.ts';

export interface StagesOptions {
  readonly records: AppRecords;
  readonly blobs: BlobStore;
  /** Addresses of the repositories of Sallyport's own maintainers. */
  readonly official: readonly string[];
  readonly onProblem: (error: unknown) => void;
  readonly library: AppLibrary;
  readonly stager: Stager;
}

/** An app that was taken in, and what its frozen manifests say. */
export interface Staged {
  readonly stage: StageRecord;
  readonly content: AppContent;
}

/** The apps that were taken in and are not installed yet. */
export interface Stages {
  /** Takes a source in. An aborted one leaves no stage. */
  take(source: AppSource, request: StageRequest): Promise<Staged>;
  /** Throws `not-found` where the review is over. */
  get(id: string): StageRecord;
  read(stage: StageRecord): AppContent;
  /** What a review compares, as things are now. */
  partsOf(staged: Staged): ReviewParts;
  /** Lets go of a stage and of what it alone refers to. False where there is none. */
  discard(id: string): boolean;
}

/** The stages of one store. */
export function createStages(options: StagesOptions): Stages {
  const { records, blobs, official, onProblem, library, stager } = options;
  const discard = (id: string) => {
    const found = records.stage(id);
    if (!found || !records.removeStage(id)) return false;
    const { code, data } = found;
    quietly(onProblem, () =>
      dropBlobs(records, blobs, [...blobsOf(blobs, code), ...(data ? blobsOf(blobs, data) : [])]),
    );
    return true;
  };
  return {
    take: async (source, request) => {
      const made = await stager.stage(source, request);
      if (request.signal.aborted) discard(made.stage.id);
      request.signal.throwIfAborted();
      return made;
    },
    get: (id) => {
      const stage = records.stage(id);
      if (!stage)
        throw new UserError('not-found', 'This review is over: stage the app again.', { stageId: id });
      return stage;
    },
    read: ({ code }) => readApp(new FrozenTree(blobs, code)),
    partsOf: ({ stage, content }) => {
      const there = records.find(stage.app);
      const installed = there && there.deletedAt === null ? there : null;
      return {
        stage,
        content,
        installed: installed && { app: installed, accepted: library.accepted(installed) },
        isOfficial: isOfficialSource(stage.source, official),
        dataBytes: stage.data?.sizeBytes ?? 0,
      };
    },
    discard,
  };
}
