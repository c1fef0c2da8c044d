import { UserError } from '../../../protocol/src/errors.ts';
import { showHidden } from '../../../protocol/src/text.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { AppRecord, AppRecords, StageRecord } from './appRecords.ts';
import type { AppContent } from './readApp.ts';
import { FrozenTree } from './tree/frozenTree.ts';

/** Makes the page of an app: fetches what it needs, builds, and stores one document. */
export type BuildPage = (
  tree: FrozenTree,
  content: AppContent,
  options: { readonly onProgress: (text: string) => void; readonly signal: AbortSignal },
) => Promise<AppRecord['page']>;

/** Puts the data of a backup in the place of an app's own, in three steps around the transaction that installs it. */
export interface DataRestore {
  /** Writes it to a file beside; throws where it does not fit. */
  prepare(app: string, data: FrozenTree, content: AppContent): PreparedData;
}
export interface PreparedData {
  /** Within the transaction. */
  record(): void;
  /** After it. What was cut off is done at the next start. */
  settle(): void;
  /** Where there was none. */
  drop(): void;
}

export interface InstallerOptions {
  readonly blobs: BlobStore;
  readonly records: AppRecords;
  readonly buildPage: BuildPage;
  readonly restore: DataRestore;
  readonly now: () => number;
}

export interface InstallRequest {
  readonly stage: StageRecord;
  readonly content: AppContent;
  readonly isOfficial: boolean;
  /** Called within the transaction that installs; throwing means that nothing is. */
  readonly assertCurrent: () => void;
  /** The line of the log. */
  readonly line: string;
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Installs exactly a staged tree: every byte of it is read again, its page is built, and one transaction makes it the
 * app. Whatever ends before that leaves the version that was there.
 */
export async function installStage(options: InstallerOptions, request: InstallRequest): Promise<AppRecord> {
  const { blobs, records, buildPage, restore, now } = options;
  const { stage, content, isOfficial, onProgress, signal } = request;
  const { manifest } = content;
  const tree = new FrozenTree(blobs, stage.code);
  onProgress('Checking every file again');
  await tree.verify(signal);
  const data = stage.data && new FrozenTree(blobs, stage.data);
  await data?.verify(signal);
  const page = await buildPage(tree, content, { onProgress, signal });
  signal.throwIfAborted();
  const app = {
    id: manifest.id,
    name: showHidden(manifest.name),
    appVersion: manifest.appVersion,
    source: stage.source,
    commit: stage.commit,
    code: stage.code,
    page,
    isOfficial,
    installedAt: now(),
    deletedAt: null,
  };
  const restored = data && restore.prepare(app.id, data, content);
  let installed: AppRecord;
  try {
    installed = records.transaction(() => commit(records, request, { app, tree, blobs, restored }));
  } catch (error) {
    restored?.drop();
    throw error;
  }
  restored?.settle();
  return installed;
}

function commit(
  records: AppRecords,
  { stage, content, assertCurrent, line }: InstallRequest,
  made: {
    app: Omit<AppRecord, 'installation'>;
    tree: FrozenTree;
    blobs: BlobStore;
    restored: PreparedData | null;
  },
): AppRecord {
  const { app, tree, blobs, restored } = made;
  assertCurrent();
  if (!tree.isWhole() || !blobs.has(app.page.digest))
    throw new UserError('conflict', 'Files of it were removed meanwhile. Stage the app again.');
  if (!records.removeStage(stage.id))
    throw new UserError('conflict', 'It was installed or discarded meanwhile. Stage the app again.');
  const installed = records.put(app);
  records.accept(app.id, app.source, app.code.digest, content.asked, app.installedAt);
  for (const plugin of records.plugins(app.id).keys())
    if (!content.plugins.has(plugin)) records.forgetPlugin(app.id, plugin);
  records.log(app.id, app.installedAt, 'install', line);
  restored?.record();
  return installed;
}
