import type { AppSource } from '../../../protocol/src/apps.ts';
import type { ArtifactRef } from '../../../protocol/src/artifacts.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { AppRecords, StageRecord } from './appRecords.ts';
import { blobsOf, dropBlobs } from './collectBlobs.ts';
import { readApp, type AppContent } from './readApp.ts';
import { readBackup } from './sources/backupSource.ts';
import { takeFolder } from './sources/folderSource.ts';
import type { TakeRepository } from './sources/gitSource.ts';
import { topFolder } from './sources/topFolder.ts';
import { readZip } from './sources/zipSource.ts';
import { FrozenTree, TreeBuilder } from './tree/frozenTree.ts';

/** What a source was found to hold, frozen. */
export interface Taken {
  readonly code: ArtifactRef;
  readonly commit: string | null;
  readonly data: ArtifactRef | null;
}

export interface StagerOptions {
  readonly blobs: BlobStore;
  readonly records: AppRecords;
  readonly takeRepository: TakeRepository;
  readonly createId: () => string;
  readonly now: () => number;
}

/** Takes a source in, reads it and remembers it as a stage. Nothing of it runs; a failure leaves no stage. */
export class Stager {
  readonly #options: StagerOptions;

  constructor(options: StagerOptions) {
    this.#options = options;
  }

  async stage(
    source: AppSource,
    { isWaiting, onProgress, signal }: StageRequest,
  ): Promise<{ readonly stage: StageRecord; readonly content: AppContent }> {
    const { blobs, records, createId, now } = this.#options;
    const taken = await this.#take(source, onProgress, signal);
    signal.throwIfAborted();
    const tree = new FrozenTree(blobs, taken.code);
    const content = this.#readOrDrop(tree, taken);
    const stage: StageRecord = {
      id: createId(),
      app: content.manifest.id,
      source,
      ...taken,
      isWaiting,
      createdAt: now(),
    };
    records.transaction(() => {
      if (isWaiting) {
        for (const each of records.stages())
          if (each.app === stage.app && each.isWaiting) records.removeStage(each.id);
      }
      if (!tree.isWhole()) throw new UserError('conflict', 'Files of it were removed meanwhile. Try again.');
      records.putStage(stage);
    });
    return { stage, content };
  }

  /** What is no app is not kept. */
  #readOrDrop(tree: FrozenTree, taken: Taken): AppContent {
    const { blobs, records } = this.#options;
    try {
      return readApp(tree);
    } catch (error) {
      dropBlobs(records, blobs, [...tree.digests(), ...(taken.data ? blobsOf(blobs, taken.data) : [])]);
      throw error;
    }
  }

  async #take(
    source: AppSource,
    onProgress: StageRequest['onProgress'],
    signal: AbortSignal,
  ): Promise<Taken> {
    const { blobs, takeRepository } = this.#options;
    switch (source.kind) {
      case 'folder':
        return { code: await takeFolder(source.path, blobs, signal), commit: null, data: null };
      case 'zip':
        return { code: await this.#takeZip(source.path, signal), commit: null, data: null };
      case 'backup': {
        const { code, data } = await readBackup(source.path, blobs, signal);
        return { code, data, commit: null };
      }
      case 'git': {
        const { code, commit } = await takeRepository(source, { onProgress, signal });
        return { code, commit, data: null };
      }
    }
  }

  async #takeZip(path: string, signal: AbortSignal): Promise<ArtifactRef> {
    const files: [string, Buffer][] = [];
    await readZip(path, (name, bytes) => void files.push([name, bytes]), signal);
    const top = topFolder(files.map(([name]) => name));
    const builder = new TreeBuilder(this.#options.blobs);
    for (const [name, bytes] of files) builder.add(name.slice(top.length), bytes);
    if (files.length === 0) throw new UserError('bad-app', `${path} holds no files.`, { path });
    return builder.finish();
  }
}

/** How a source is taken in. */
export interface StageRequest {
  /** True for an update that was found by looking. It replaces one that waited before. */
  readonly isWaiting: boolean;
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal;
}
