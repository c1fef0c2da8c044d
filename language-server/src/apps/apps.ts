import type { appEvents, appRequests, AppReview, AppSource, AppView } from '../../../protocol/src/apps.ts';
import type { ParamsOf, RequestHandlers } from '../../../protocol/src/contract.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { AppStorage } from '../plugins/appStorage.ts';
import type { PluginStops } from '../plugins/pluginRecords.ts';
import { AppLibrary } from './appLibrary.ts';
import type { AppRecord, AppRecords, StageRecord } from './appRecords.ts';
import { blobsOf, dropBlobs, sweepBlobs } from './collectBlobs.ts';
import { createAppReview, decideStage, sourceText, type ReviewParts } from './createReview.ts';
import { createDataRestore, finishRestores } from './dataRestore.ts';
import { deletedMs } from './appLibrary.ts';
import { installStage, type BuildPage } from './installer.ts';
import { readApp, type AppContent } from './readApp.ts';
import { isOfficialSource } from './sources/source.ts';
import type { TakeRepository } from './sources/gitSource.ts';
import { Stager } from './stager.ts';
import { listStore } from './storeList.ts';
import { FrozenTree } from './tree/frozenTree.ts';
import { writeBackup } from './writeBackup.ts';

type Events = typeof appEvents;
export type AppHandlers = RequestHandlers<typeof appRequests>;
export type AppNotify = <M extends keyof Events>(method: M, params: ParamsOf<Events[M]>) => void;

export interface AppsOptions {
  readonly records: AppRecords;
  /** Of the apps alone: code, pages and packages. */
  readonly blobs: BlobStore;
  readonly storage: AppStorage;
  /** Where the data of a backup is until its app is installed; on the same disk. */
  readonly restoring: AppStorage;
  readonly stops: Pick<PluginStops, 'clear'>;
  readonly takeRepository: TakeRepository;
  readonly buildPage: BuildPage;
  /** Addresses of the repositories of Sallyport's own maintainers. */
  readonly official: readonly string[];
  readonly notify: AppNotify;
  readonly onProblem: (error: unknown) => void;
  readonly createId: () => string;
  readonly now: () => number;
}

export interface Apps {
  readonly handlers: Omit<AppHandlers, 'bridge/call'>;
  readonly library: AppLibrary;
  /** Called where what an app may do, or what it is, changed: what runs of it is to end. */
  onChanged(listener: (app: string) => void): void;
  /** Waits for what was begun. */
  dispose(): Promise<void>;
}

/** Composes staging, review, installation and management of apps over one store. */
export function createApps(options: AppsOptions): Apps {
  const { records, blobs, storage, official, notify, now } = options;
  const library = new AppLibrary(options);
  const stager = new Stager(options);
  const restore = createDataRestore(options);
  const listeners: ((app: string) => void)[] = [];
  const busy = new Turns();
  finishRestores(options, now());

  const changed = (app: string) => {
    for (const listener of listeners) listener(app);
    notify('app/changed', { app });
  };
  const progress = (progressId: string) => (text: string) =>
    notify('app/progress', { progressId, fraction: null, text });
  const quietly = (work: () => void) => {
    try {
      work();
    } catch (error) {
      options.onProblem(error);
    }
  };
  quietly(() => {
    for (const app of records.list())
      if (app.deletedAt !== null && app.deletedAt + deletedMs <= now()) forget(app.id);
    if (now() - (records.logOf(sweeps).at(-1)?.at ?? 0) < dayMs) return;
    sweepBlobs(records, blobs, now());
    records.log(sweeps, now(), 'sweep', '');
  });

  function forget(app: string): void {
    storage.clear(app);
    options.stops.clear(app);
    records.transaction(() => records.forget(app));
  }
  const stageOf = (id: string): StageRecord => {
    const stage = records.stage(id);
    if (!stage)
      throw new UserError('not-found', 'This review is over: stage the app again.', { stageId: id });
    return stage;
  };
  const partsOf = (stage: StageRecord, content?: AppContent): ReviewParts => {
    const there = records.find(stage.app);
    const installed = there && there.deletedAt === null ? there : null;
    return {
      stage,
      content: content ?? readApp(new FrozenTree(blobs, stage.code)),
      installed: installed && { app: installed, accepted: library.accepted(installed) },
      isOfficial: isOfficialSource(stage.source, official),
      dataBytes: stage.data?.sizeBytes ?? 0,
    };
  };
  const stagedBlobs = ({ code, data }: StageRecord) => [
    ...blobsOf(blobs, code),
    ...(data ? blobsOf(blobs, data) : []),
  ];
  const discard = (id: string) => {
    const found = records.stage(id);
    if (!found || !records.removeStage(id)) return false;
    quietly(() => dropBlobs(records, blobs, stagedBlobs(found)));
    return true;
  };

  const stage = async (source: AppSource, request: Parameters<Stager['stage']>[1]) => {
    const made = await stager.stage(source, request);
    if (request.signal.aborted) discard(made.stage.id);
    request.signal.throwIfAborted();
    return made;
  };

  /** Installs a stage whose review has this digest, then lets go of what was there. */
  const install = async (
    stageRecord: StageRecord,
    content: AppContent,
    bound: { digest: string; line: string; onProgress: (text: string) => void; signal: AbortSignal },
  ): Promise<AppView> => {
    const { digest, line, onProgress, signal } = bound;
    const isCurrent = () => createAppReview(partsOf(stageRecord, content)).digest === digest;
    const assertCurrent = () => {
      if (!isCurrent())
        throw new UserError('conflict', 'What was reviewed is not what is there now. Review it again.', {
          stageId: stageRecord.id,
        });
    };
    assertCurrent();
    const before = records.find(stageRecord.app);
    const { isOfficial } = partsOf(stageRecord, content);
    const app = await installStage(
      { ...options, restore },
      { stage: stageRecord, content, isOfficial, assertCurrent, line, onProgress, signal },
    );
    if (before?.deletedAt !== null && before !== undefined && stageRecord.data === null)
      keepOrClear(before, app);
    quietly(() => {
      const dropped = before ? [...blobsOf(blobs, before.code), before.page.digest] : [];
      dropBlobs(records, blobs, [...dropped, ...(stageRecord.data ? blobsOf(blobs, stageRecord.data) : [])]);
    });
    changed(app.id);
    return library.view(app);
  };
  /** The data of a deleted app goes on only where the same source brings it back. */
  const keepOrClear = (before: AppRecord, app: AppRecord) => {
    if (JSON.stringify(before.source) !== JSON.stringify(app.source)) storage.clear(app.id);
  };

  const pageOf = ({ id, name, code, page }: AppRecord) => ({
    app: id,
    name,
    treeDigest: code.digest,
    documentPath: blobs.pathOf(page.digest),
    documentBytes: page.sizeBytes,
  });
  /** The document was removed or is not what was built: the frozen tree gives the same one again. */
  const rebuild = async (id: string, signal: AbortSignal) => {
    const { app, tree, content } = library.open(id);
    // Where the page is a file of the app as well, that file is damaged, and building says so.
    if (!tree.digests().has(app.page.digest)) blobs.remove(app.page.digest);
    const page = await options.buildPage(tree, content, { onProgress: () => undefined, signal });
    records.setPage(id, page);
    return pageOf({ ...app, page });
  };

  const handlers: Apps['handlers'] = {
    'app/list': ({ withDeleted = false }) =>
      records
        .list()
        .filter(({ deletedAt }) => withDeleted || deletedAt === null)
        .map((app) => library.view(app)),
    'app/stage': async ({ source, progressId }, signal) => {
      const made = await stage(source, { isWaiting: false, onProgress: progress(progressId), signal });
      return createAppReview(partsOf(made.stage, made.content));
    },
    'app/review': ({ stageId }) => createAppReview(partsOf(stageOf(stageId))),
    'app/install': ({ stageId, digest, progressId }, signal) => {
      const found = stageOf(stageId);
      return busy.take(found.app, async () => {
        const content = readApp(new FrozenTree(blobs, found.code));
        const line = `A person installed version ${content.manifest.appVersion} from ${sourceText(found.source)}`;
        return install(found, content, { digest, line, onProgress: progress(progressId), signal });
      });
    },
    'app/discard': ({ stageId }) => ({ found: discard(stageId) }),
    'app/update': ({ app: id, progressId }, signal) =>
      busy.take(id, async () => {
        const app = library.get(id);
        // A backup is what it was; it has no newer versions.
        if (app.source.kind === 'backup') return { kind: 'none' as const };
        const made = await stage(app.source, { isWaiting: true, onProgress: progress(progressId), signal });
        if (made.stage.app !== id) {
          discard(made.stage.id);
          throw new UserError('conflict', `The source of ${id} now holds another app, ${made.stage.app}.`, {
            app: id,
          });
        }
        const parts = partsOf(made.stage, made.content);
        const decision = decideStage(parts);
        if (decision.kind === 'none') {
          discard(made.stage.id);
          return { kind: 'none' as const };
        }
        const review: AppReview = createAppReview(parts);
        if (decision.kind === 'ask') {
          changed(id);
          return { kind: 'waits' as const, review };
        }
        const text = `Version ${app.appVersion} became ${made.content.manifest.appVersion}: the code changed, it asks for nothing more`;
        const view = await install(made.stage, made.content, {
          digest: review.digest,
          line: text,
          onProgress: progress(progressId),
          signal,
        });
        return { kind: 'applied' as const, view, text };
      }),
    'app/page': async ({ app: id }, signal) => {
      const { app } = library.open(id);
      // A look-up for updates, which may take long, does not keep the page from opening.
      const isThere = await blobs.verify(app.page.digest, signal);
      return isThere ? pageOf(app) : busy.take(id, () => rebuild(id, signal));
    },
    'app/setPlugin': ({ app, plugin, state }) => {
      library.setPlugin(app, plugin, state);
      changed(app);
      return library.view(library.get(app));
    },
    'app/delete': ({ app: id }) => {
      const app = library.get(id);
      const at = now();
      records.transaction(() => {
        records.setDeleted(id, at);
        for (const each of records.stages()) if (each.app === id) records.removeStage(each.id);
        records.log(id, at, 'install', `A person deleted version ${app.appVersion}`);
      });
      changed(id);
      return { until: at + deletedMs };
    },
    'app/restore': ({ app: id }) => {
      const app = records.find(id);
      if (!app) throw new UserError('not-found', `There is no deleted app ${id}.`, { app: id });
      if (app.deletedAt !== null) {
        records.setDeleted(id, null);
        records.log(id, now(), 'install', `A person brought version ${app.appVersion} back`);
        changed(id);
      }
      return library.view(library.get(id));
    },
    'app/export': async ({ app: id, path, progressId }, signal) => {
      const { tree } = library.open(id);
      return writeBackup({ app: id, path, tree, storage, now }, progress(progressId), signal);
    },
    'app/log': ({ app }) => records.logOf(app),
    'appStore/list': ({ progressId, ...asked }, signal) =>
      listStore(options, asked, progress(progressId), signal),
  };

  return {
    handlers,
    library,
    onChanged: (listener) => void listeners.push(listener),
    dispose: () => busy.idle(),
  };
}

/** Looking at every blob takes as long as there are many: once a day, remembered under a name that no app has. */
const sweeps = '';
const dayMs = 24 * 60 * 60 * 1000;

/** One act after the other for each app. */
class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  take<T>(app: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(app) ?? Promise.resolve();
    const turn = before.then(work, work);
    const settled = turn
      .catch(() => undefined)
      .finally(() => {
        if (this.#last.get(app) === settled) this.#last.delete(app);
      });
    this.#last.set(app, settled);
    return turn;
  }

  async idle(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
