import { join } from 'node:path';
import type { RunToolDeps } from '../../language-server/src/agent/tools/runServices.ts';
import { Consents } from '../../language-server/src/permissions/consents.ts';
import { openProjects } from '../../language-server/src/project/nodeProjects.ts';
import { createCodeCapture } from '../../language-server/src/runs/captureCode.ts';
import { History } from '../../language-server/src/runs/history.ts';
import { createPlaces } from '../../language-server/src/runs/place.ts';
import { Slots } from '../../language-server/src/runs/slots.ts';
import { Runs } from '../../language-server/src/runs/runs.ts';
import { openHome } from '../../language-server/src/store/home.ts';
import { openStore, type Store } from '../../language-server/src/store/store.ts';
import { createBlobStore, type BlobStore } from '../../remote-agent/src/files/blobStore.ts';
import { FakeRunner } from './fakeRunner.ts';

/** The services behind the run tools, over real files and a real database, with a runner that runs nothing. */
export class RunToolServices {
  readonly runner: FakeRunner;
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly runs: Runs;
  readonly deps: RunToolDeps;

  constructor(home: string, roots: readonly string[]) {
    const opened = openHome(join(home, 'state'));
    const store = openStore(opened);
    const blobs = createBlobStore(opened.blobs);
    const projects = openProjects({ roots });
    const runner = new FakeRunner(blobs);
    const projectKey = (root: string) => `path:${root}`;
    const isTrusted = () => true;
    const consents = new Consents({
      projects,
      scopeOf: projectKey,
      isTrusted,
      now: Date.now,
      store: () => store,
    });
    const code = createCodeCapture(blobs, store.results);
    const slots = new Slots(2);
    const runs = new Runs({
      store,
      blobs,
      projects,
      code,
      accepted: (root) => consents.acceptedByCard(root),
      isTrusted,
      projectKey,
      lookAtPlaces: createPlaces({
        runner,
        elsewhere: (id) => {
          throw new Error(`nothing is asked of ${id} here`);
        },
        jsFiles: [],
      }),
      runnerFor: () => runner,
      recordWrites: (_root, _job, run) => run(),
      userFolder: '/home/nobody',
      slotsOf: () => slots,
      release: () => Promise.resolve({}),
      clock: { now: Date.now, monotonic: () => performance.now() },
      events: {
        delta: () => undefined,
        log: () => undefined,
        finished: () => undefined,
        problem: () => undefined,
      },
    });
    const history = new History(store, runs);
    this.runner = runner;
    this.store = store;
    this.blobs = blobs;
    this.runs = runs;
    this.deps = {
      projects,
      open: () => ({ runs, history, code, blobs, store }),
      review: (root) => consents.review(root),
      projectKey,
      scheduler: {
        setTimer: (act, ms) => {
          const timer = setTimeout(act, ms);
          return () => clearTimeout(timer);
        },
      },
    };
  }

  async dispose(): Promise<void> {
    await this.runs.dispose();
    this.store.close();
  }
}
