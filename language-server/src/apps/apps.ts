import type { appEvents, appRequests, AppView } from '../../../protocol/src/apps.ts';
import type { ParamsOf, RequestHandlers } from '../../../protocol/src/contract.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { AppStorage } from '../plugins/appStorage.ts';
import type { PluginStops } from '../plugins/pluginRecords.ts';
import { AppLibrary, deletedMs } from './appLibrary.ts';
import { createAppPages } from './appPages.ts';
import type { AppRecords } from './appRecords.ts';
import { createAppReview, sourceText } from './createReview.ts';
import { createDataRestore, finishRestores } from './dataRestore.ts';
import type { BuildPage } from './installer.ts';
import { installReviewed, type ReviewedInstall } from './installReviewed.ts';
import { quietly } from './quietly.ts';
import type { TakeRepository } from './sources/gitSource.ts';
import { Stager } from './stager.ts';
import { createStages, type Staged, type Stages } from './stages.ts';
import { listStore } from './storeList.ts';
import { sweepApps } from './sweepApps.ts';
import { Turns } from './turns.ts';
import { updateApp } from './updateApp.ts';
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
  const { records, storage, notify, now, onProblem } = options;
  const library = new AppLibrary(options);
  const stages = createStages({ ...options, library, stager: new Stager(options) });
  const pages = createAppPages({ ...options, library });
  const restore = createDataRestore(options);
  const turns = new Turns();
  const listeners: ((app: string) => void)[] = [];
  finishRestores(options, now());
  quietly(onProblem, () => sweepApps(options));

  const changed = (app: string) => {
    for (const listener of listeners) listener(app);
    notify('app/changed', { app });
  };
  const progress = (progressId: string) => (text: string) =>
    notify('app/progress', { progressId, fraction: null, text });
  const install = async (staged: Staged, reviewed: ReviewedInstall) => {
    const app = await installReviewed({ ...options, restore, stages }, staged, reviewed);
    changed(app.id);
    return library.view(app);
  };

  return {
    handlers: {
      ...createStageHandlers({ stages, turns, install, progress }),
      ...createKeepHandlers({ library, records, now, changed }),
      'app/update': ({ app: id, progressId }, signal) =>
        turns.take(id, () =>
          updateApp(library.get(id), {
            ...{ stages, install, signal },
            onWaits: changed,
            onProgress: progress(progressId),
          }),
        ),
      // A look-up for updates, which may take long, does not keep the page from opening.
      'app/page': async ({ app }, signal) =>
        (await pages.whole(app, signal)) ?? turns.take(app, () => pages.rebuild(app, signal)),
      'app/export': async ({ app, path, progressId }, signal) => {
        const { tree } = library.open(app);
        return writeBackup({ app, path, tree, storage, now }, progress(progressId), signal);
      },
      'app/log': ({ app }) => records.logOf(app),
      'appStore/list': ({ progressId, ...asked }, signal) =>
        listStore(options, asked, progress(progressId), signal),
    },
    library,
    onChanged: (listener) => void listeners.push(listener),
    dispose: () => turns.idle(),
  };
}

interface StageHandlersOptions {
  readonly stages: Stages;
  readonly turns: Turns;
  readonly install: (staged: Staged, reviewed: ReviewedInstall) => Promise<AppView>;
  readonly progress: (progressId: string) => (text: string) => void;
}

/** Taking an app in, reviewing it, and what a person answers. */
function createStageHandlers({
  stages,
  turns,
  install,
  progress,
}: StageHandlersOptions): Pick<AppHandlers, 'app/stage' | 'app/review' | 'app/install' | 'app/discard'> {
  return {
    'app/stage': async ({ source, progressId }, signal) => {
      const request = { isWaiting: false, onProgress: progress(progressId), signal };
      return createAppReview(stages.partsOf(await stages.take(source, request)));
    },
    'app/review': ({ stageId }) => {
      const stage = stages.get(stageId);
      return createAppReview(stages.partsOf({ stage, content: stages.read(stage) }));
    },
    'app/install': ({ stageId, digest, progressId }, signal) => {
      const stage = stages.get(stageId);
      return turns.take(stage.app, async () => {
        const content = stages.read(stage);
        const line = `A person installed version ${content.manifest.appVersion} from ${sourceText(stage.source)}`;
        return install({ stage, content }, { digest, line, onProgress: progress(progressId), signal });
      });
    },
    'app/discard': ({ stageId }) => ({ found: stages.discard(stageId) }),
  };
}

interface KeepHandlersOptions {
  readonly library: AppLibrary;
  readonly records: AppRecords;
  readonly now: () => number;
  readonly changed: (app: string) => void;
}

/** The apps that are there: switching plugins, deleting, bringing back. */
function createKeepHandlers({
  library,
  records,
  now,
  changed,
}: KeepHandlersOptions): Pick<AppHandlers, 'app/list' | 'app/setPlugin' | 'app/delete' | 'app/restore'> {
  return {
    'app/list': ({ withDeleted = false }) =>
      records
        .list()
        .filter(({ deletedAt }) => withDeleted || deletedAt === null)
        .map((app) => library.view(app)),
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
  };
}
