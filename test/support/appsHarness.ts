import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AppRecords } from '../../language-server/src/apps/appRecords.ts';
import { createApps, type Apps, type AppsOptions } from '../../language-server/src/apps/apps.ts';
import { openHome } from '../../language-server/src/store/home.ts';
import { openStore, type Store } from '../../language-server/src/store/store.ts';
import { createAppStorage, type AppStorage } from '../../language-server/src/plugins/appStorage.ts';
import type { AppReview, AppSource, AppView } from '../../protocol/src/apps.ts';
import { UserError } from '../../protocol/src/errors.ts';
import { createBlobStore, type BlobStore } from '../../remote-agent/src/files/blobStore.ts';

/** The apps of one engine over a real database, without page building or plugins unless they are given. */
export interface AppsHarness {
  readonly apps: Apps;
  readonly records: AppRecords;
  readonly blobs: BlobStore;
  readonly storage: AppStorage;
  readonly store: Store;
  readonly problems: unknown[];
  readonly changed: string[];
  /** Milliseconds since the epoch; set it to go on. */
  readonly clock: { now: number };
  stage(source: AppSource, signal?: AbortSignal): Promise<AppReview>;
  install(review: AppReview): Promise<AppView>;
  /** Stages and installs. */
  add(source: AppSource): Promise<AppView>;
  update(app: string): Promise<Awaited<ReturnType<Apps['handlers']['app/update']>>>;
  close(): Promise<void>;
}

export function openApps(
  folder: string,
  options: Partial<AppsOptions> = {},
  /** Stands between the apps and what they change. */
  watch: <T extends object>(target: T) => T = (target) => target,
): AppsHarness {
  const clock = { now: Date.parse('2026-11-01T00:00:00Z') };
  const now = () => clock.now;
  const home = openHome(join(folder, 'home'));
  mkdirSync(join(home.path, 'apps'), { recursive: true });
  const store = openStore(home, now);
  const blobs = watch(createBlobStore(join(home.path, 'apps', 'blobs')));
  const storage = watch(createAppStorage({ folder: join(home.path, 'apps', 'data'), now }));
  const restoring = watch(createAppStorage({ folder: join(home.path, 'apps', 'restoring'), now }));
  const records = watch(new AppRecords(store.database));
  const problems: unknown[] = [];
  const changed: string[] = [];
  const never = new AbortController().signal;
  let isClosed = false;
  const harness: AppsHarness = {
    get apps() {
      return apps;
    },
    records,
    blobs,
    storage,
    store,
    problems,
    changed,
    clock,
    stage: async (source, signal = never) => apps.handlers['app/stage']({ source, progressId: 'p' }, signal),
    install: async ({ stageId, digest }) =>
      apps.handlers['app/install']({ stageId, digest, progressId: 'p' }, never),
    add: async (source) => harness.install(await harness.stage(source)),
    update: async (app) => apps.handlers['app/update']({ app, progressId: 'p' }, never),
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      await apps.dispose();
      storage.close();
      restoring.close();
      store.close();
    },
  };
  const apps = createApps({
    records,
    blobs,
    storage,
    restoring,
    stops: { clear: () => undefined },
    takeRepository: () => Promise.reject(new UserError('unreachable', 'There is no network here')),
    buildPage: async (tree, { manifest }) =>
      blobs.putBytes(Buffer.concat([Buffer.from('built: '), tree.read(manifest.entry)])),
    official: [],
    notify: (method, params) => {
      if (method === 'app/changed' && 'app' in params) changed.push(params.app);
    },
    onProblem: (error) => void problems.push(error),
    createId: () => randomBytes(12).toString('hex'),
    now,
    ...options,
  });
  return harness;
}

/** Opens the apps of a test in its folder, once for each test, and closes them afterwards. */
export function useApps(folder: () => string, options: Partial<AppsOptions> = {}): () => AppsHarness {
  let harness: AppsHarness | undefined;
  afterEach(async () => {
    await harness?.close();
    harness = undefined;
  });
  return () => (harness ??= openApps(folder(), options));
}
