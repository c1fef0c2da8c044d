import { join } from 'node:path';
import type { CardState, RunView } from '../../protocol/src/engine.ts';
import { openProjects } from '../../language-server/src/project/nodeProjects.ts';
import { createEngineServices, type EngineServicesOptions } from '../../language-server/src/services.ts';
import { createBlobStore } from '../../remote-agent/src/files/blobStore.ts';
import { FakeRunner } from './fakeRunner.ts';

/** What the engine told, in order. */
export interface Told {
  readonly method: string;
  readonly params: unknown;
}

/** The engine's services over real files and a real database, with a runner that runs nothing. */
export class TestEngine {
  readonly runner: FakeRunner;
  readonly told: Told[] = [];
  readonly problems: string[] = [];
  readonly services: ReturnType<typeof createEngineServices>;
  readonly root: string;

  constructor(home: string, root: string, options: Partial<EngineServicesOptions> = {}) {
    const blobs = createBlobStore(join(home, 'blobs'));
    this.root = root;
    this.runner = new FakeRunner(blobs);
    this.services = createEngineServices({
      home,
      trusted: true,
      projects: openProjects({ roots: [root] }),
      programs: '/nowhere',
      notify: (method, params) => this.told.push({ method, params }),
      onProblem: (problem) => this.problems.push(problem),
      createRunner: () => this.runner,
      createJsRunner: () => this.runner,
      parallel: 2,
      ...options,
    });
  }

  get handlers() {
    return this.services.handlers;
  }

  async start(options: { cards?: string[]; ignoreCache?: boolean } = {}): Promise<string> {
    const { runId } = await this.handlers['run/start']({ root: this.root, ...options }, never);
    return runId;
  }

  /** Runs to the end and returns what is remembered of it. */
  async run(options: { cards?: string[]; ignoreCache?: boolean } = {}): Promise<RunView> {
    return this.finish(await this.start(options));
  }

  async finish(runId: string): Promise<RunView> {
    await this.services.whenFinished(runId);
    return this.view(runId);
  }

  view(runId: string): Promise<RunView> {
    return Promise.resolve(this.handlers['run/get']({ runId }, never));
  }

  async acceptAll(): Promise<number> {
    const review = await this.handlers['permissions/review']({ root: this.root }, never);
    const accepted = review.cards.map(({ id, permissions }) => ({
      card: id,
      keys: permissions.map(({ key }) => key),
    }));
    const answer = await this.handlers['permissions/accept'](
      { root: this.root, digest: review.digest, accepted },
      never,
    );
    return answer.accepted;
  }

  dispose(): Promise<void> {
    return this.services.dispose();
  }
}

/** A signal that is never aborted. */
export const never = new AbortController().signal;

/** The state of each card of a run, with `done*` for one that came from the cache. */
export function statesOf(view: RunView): Record<string, CardState | 'done*'> {
  return Object.fromEntries(
    view.cards.map(({ id, status }) => [
      id,
      status.cached && status.state === 'done' ? 'done*' : status.state,
    ]),
  );
}
