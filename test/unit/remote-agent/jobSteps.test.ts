import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { readEnvironment } from '../../../remote-agent/src/environment.ts';
import type { Isolation } from '../../../remote-agent/src/isolation/isolation.ts';
import type { ProgramEnd } from '../../../remote-agent/src/isolation/sandbox.ts';
import { Runner } from '../../../remote-agent/src/runner.ts';
import { makeStageFolders } from '../../../remote-agent/src/stage.ts';
import { putTree } from '../../support/blobs.ts';
import { jobWith } from '../../support/jobs.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

/** A sandbox that runs nothing: it tells what was started in it, and ends when a test says so. */
class PlayedSandbox {
  readonly started: string[] = [];
  readonly streams = [new PassThrough(), new PassThrough(), new PassThrough()] as const;
  readonly #end = Promise.withResolvers<ProgramEnd>();

  readonly isolation: Isolation = {
    kind: 'bubblewrap',
    open: async (_request, folder) => {
      const staged = makeStageFolders(folder);
      const [output, errors, progress] = this.streams;
      return {
        staged,
        owner: undefined,
        cardFolder: '/card',
        environment: {},
        sandbox: {
          ...{ output, errors, progress, outputsPath: staged.outputsFolder },
          stands: () => true,
          first: { pid: process.pid, startTicks: '' },
          start: (script) => void this.started.push(script),
          ended: this.#end.promise,
          end: async () => this.end(),
        },
      };
    },
  };

  /** As when it is killed from outside: what nobody reads of its streams is gone. */
  end(): void {
    this.#end.resolve({ kind: 'lost', said: 'it was killed' });
    for (const stream of this.streams) stream.destroy();
  }
}

describe('a job, at each of its steps', () => {
  const folder = useTemporaryFolder();
  const never = new AbortController().signal;
  const runners: Runner[] = [];
  afterEach(async () => {
    for (const runner of runners.splice(0)) await runner.dispose();
  });

  const open = async (starting: () => Promise<void>) => {
    const sandbox = new PlayedSandbox();
    for (const name of ['blobs', 'scratch']) mkdirSync(join(folder(), name), { recursive: true });
    const nothing = () => undefined;
    const runner = new Runner({
      version: '0',
      environment: readEnvironment(),
      flow: { isCongested: false, whenClear: () => Promise.resolve() },
      now: () => performance.now(),
      events: { starting, started: nothing, log: nothing, progress: nothing, egress: nothing },
      probe: async () => ({
        isolation: sandbox.isolation,
        report: { kind: 'bubblewrap', version: '0', checks: [] },
      }),
      openCgroup: () => undefined,
      onProblem: nothing,
    });
    runners.push(runner);
    const [blobs, scratch] = [join(folder(), 'blobs'), join(folder(), 'scratch')];
    await runner.handlers['runner/hello']({ protocol: 1, blobs, scratch, maxJobs: 1 }, never);
    const code = await putTree(blobs, { 'main.sh': 'true\n' });
    // With a network it gets a sandbox of its own, which no other job has.
    const job = jobWith({ code, access: { network: { kind: 'all' }, hostFolders: [] } });
    return { sandbox, run: (signal: AbortSignal) => runner.handlers['job/run'](job, signal) };
  };

  it('is not run where it was cancelled before it came', async () => {
    const { sandbox, run } = await open(() => Promise.resolve());
    assert.deepEqual((await run(AbortSignal.abort())).outcome, { kind: 'cancelled' });
    assert.deepEqual(sandbox.started, []);
  });

  it('is not started where it was cancelled while that was written down', async () => {
    const stop = new AbortController();
    const { sandbox, run } = await open(async () => stop.abort());
    assert.deepEqual((await run(stop.signal)).outcome, { kind: 'cancelled' });
    assert.deepEqual(sandbox.started, []);
  });

  it('ends where its sandbox ends while that is written down', async () => {
    const { sandbox, run } = await open(async () => {
      const closed = sandbox.streams.map((stream) => new Promise((resolve) => stream.once('close', resolve)));
      sandbox.end();
      await Promise.all(closed);
    });
    const { outcome } = await run(never);
    assert.equal(outcome.kind, 'unknown', JSON.stringify(outcome));
  });
});
