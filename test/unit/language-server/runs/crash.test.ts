import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createLocalRunner } from '../../../../language-server/src/runners/local.ts';
import { spawnScriptedRunner } from '../../../support/scriptedRunner.ts';
import { inputsFrom, writeCard, writeProject } from '../../../support/projectFolder.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { never, statesOf, TestEngine } from '../../../support/testEngine.ts';

const program = join(import.meta.dirname, '../../../support/crashEngine.ts');

describe('crashes', () => {
  const folder = useTemporaryFolder();
  const chain = { a: {}, b: { inputs: inputsFrom('a') }, c: { inputs: inputsFrom('b') } };
  beforeEach(() => {
    writeProject(join(folder(), 'project'), chain);
  });

  const crash = async (kind: string, count: number) => {
    const child = spawn(process.execPath, [program, folder(), kind, String(count)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    return { code, signal, output };
  };

  it('an engine that is not killed leaves a finished run (control)', async () => {
    const { code, output } = await crash('', 1);
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(output), [
      ['a', 'done'],
      ['b', 'done'],
      ['c', 'done'],
    ]);
  });

  /** Kills before the n-th statement of a kind: the insert of the run, each step's begin and commit, each result. */
  const points: readonly (readonly [string, number])[] = [
    ['insert into runs', 1],
    ...[2, 4, 5, 7].map((count) => ['begin', count] as const),
    ...[1, 3, 5, 6, 8].map((count) => ['commit', count] as const),
    ...[1, 3].map((count) => ['insert into results', count] as const),
    ['update runs', 1],
  ];
  for (const [kind, count] of points) {
    it(`[CRA-01] an engine killed before “${kind}” ${count} loses no finished card and leaves none running`, async () => {
      const { signal } = await crash(kind, count);
      const engine = new TestEngine(join(folder(), 'home'), join(folder(), 'project'));
      try {
        const { runs } = await engine.handlers['run/list']({ limit: 9 }, never);
        assert.ok(runs.every(({ state }) => (signal === null ? state === 'done' : state === 'unknown')));
        const finished: string[] = [];
        for (const { runId } of runs) {
          const view = await engine.view(runId);
          for (const { id, status, outputs } of view.cards) {
            assert.ok(!['queued', 'running'].includes(status.state), `${id} ${status.state}`);
            if (status.state === 'unknown') assert.equal(status.reason?.kind, 'interrupted');
            if (status.state !== 'done') continue;
            finished.push(id);
            assert.equal(outputs.length, 1);
          }
        }
        const again = statesOf(await engine.run());
        for (const [id, state] of Object.entries(again)) {
          assert.equal(state, finished.includes(id) ? 'done*' : 'done', id);
        }
      } finally {
        await engine.dispose();
      }
    });
  }

  it('[CRA-02] a runner killed in a card makes that card unknown, and another runner takes the rest', async () => {
    writeCard(join(folder(), 'project'), 'killer', { runtime: 'command', entry: ['die'] });
    const spawned: number[] = [];
    const engine = new TestEngine(join(folder(), 'home'), join(folder(), 'project'), {
      parallel: 1,
      createRunner: (home) =>
        createLocalRunner({
          spawn: () => {
            const child = spawnScriptedRunner();
            spawned.push(child.pid ?? 0);
            return child;
          },
          ...home,
          maxJobs: 1,
          onProblem: () => undefined,
        }),
    });
    try {
      const view = await engine.run();
      assert.deepEqual(statesOf(view), { a: 'done', killer: 'unknown', b: 'done', c: 'done' });
      assert.equal(view.cards.find(({ id }) => id === 'killer')?.status.reason?.kind, 'interrupted');
      assert.equal(view.summary.state, 'unknown');
      assert.equal(spawned.length, 2);
    } finally {
      await engine.dispose();
    }
  });

  it('[CRA-03] two engines run the same project at once, and both end', async () => {
    const open = () => new TestEngine(join(folder(), 'home'), join(folder(), 'project'));
    const engines = [open(), open()];
    try {
      const views = await Promise.all(engines.map((engine) => engine.run({ ignoreCache: true })));
      for (const view of views) assert.deepEqual(statesOf(view), { a: 'done', b: 'done', c: 'done' });
      const { runs } = await engines[0]!.handlers['run/list']({ limit: 9 }, never);
      assert.deepEqual(
        runs.map(({ state }) => state),
        ['done', 'done'],
      );
    } finally {
      for (const engine of engines) await engine.dispose();
    }
  });

  it('[CRA-04] a clock that is turned back changes neither order nor durations', async () => {
    let now = 2_000_000_000_000;
    const engine = new TestEngine(join(folder(), 'home'), join(folder(), 'project'), {
      now: () => (now -= 3_600_000),
    });
    try {
      const first = await engine.run();
      const second = await engine.run({ ignoreCache: true });
      const { runs } = await engine.handlers['run/list']({ limit: 9 }, never);
      assert.deepEqual(
        runs.map(({ runId }) => runId),
        [second.summary.runId, first.summary.runId],
      );
      for (const { status } of second.cards)
        assert.ok((status.waitMs ?? -1) >= 0 && (status.waitMs ?? 0) < 60_000);
    } finally {
      await engine.dispose();
    }
  });
});
