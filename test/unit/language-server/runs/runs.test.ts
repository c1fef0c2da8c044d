import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UserError } from '../../../../protocol/src/errors.ts';
import { endedWith, gatedBehaviour, noIsolation } from '../../../support/fakeRunner.ts';
import { inputsFrom, writeCard, writeProject } from '../../../support/projectFolder.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { never, statesOf, TestEngine } from '../../../support/testEngine.ts';

describe('runs', () => {
  const folder = useTemporaryFolder();
  let engine: TestEngine;
  const open = (options: ConstructorParameters<typeof TestEngine>[2] = {}) => {
    engine = new TestEngine(join(folder(), 'home'), join(folder(), 'project'), options);
    return engine;
  };
  const diamond = {
    load: {},
    left: { inputs: inputsFrom('load') },
    right: { inputs: inputsFrom('load') },
    join: { inputs: inputsFrom('left', 'right') },
  };
  beforeEach(() => {
    writeProject(join(folder(), 'project'), diamond);
  });
  afterEach(() => engine.dispose());

  it('[FLOW-01] runs cards after their sources and reuses all of an unchanged project', async () => {
    open();
    const first = await engine.run();
    assert.deepEqual(statesOf(first), { load: 'done', left: 'done', right: 'done', join: 'done' });
    assert.equal(first.summary.state, 'done');
    const order = engine.runner.takeRun();
    assert.equal(order[0], 'load');
    assert.equal(order.at(-1), 'join');
    const second = await engine.run();
    assert.deepEqual(statesOf(second), { load: 'done*', left: 'done*', right: 'done*', join: 'done*' });
    assert.deepEqual(engine.runner.takeRun(), []);
    assert.equal(second.summary.cachedCards, 4);
    assert.deepEqual(second.cards[3]?.outputs, first.cards[3]?.outputs);
  });

  it('[FLOW-02] an edit during a run changes nothing of it', async () => {
    open();
    const gate = gatedBehaviour(engine.runner);
    engine.runner.behave('load', gate.behaviour);
    const runId = await engine.start();
    await gate.entered;
    writeCard(engine.root, 'join', { inputs: inputsFrom('left', 'right'), code: 'changed', title: 'New' });
    writeCard(engine.root, 'right', { inputs: inputsFrom('load'), permissions: { network: true } });
    gate.open();
    const view = await engine.finish(runId);
    assert.deepEqual(statesOf(view), { load: 'done', left: 'done', right: 'done', join: 'done' });
    assert.equal(view.cards.find(({ id }) => id === 'join')?.title, 'Card join');
    const job = engine.runner.jobs.find(({ cardId }) => cardId === 'right');
    assert.deepEqual(job?.access, { network: { kind: 'none' }, hostFolders: [] });
  });

  it('[FLOW-03] skips what is downstream of a failure and says of which', async () => {
    open();
    engine.runner.behave('left', () => endedWith({ kind: 'exited', exitCode: 3 }));
    const view = await engine.run();
    assert.deepEqual(statesOf(view), { load: 'done', left: 'failed', right: 'done', join: 'skipped' });
    const [, left, , join] = view.cards;
    assert.equal(left?.status.exitCode, 3);
    assert.equal(left.status.reason?.kind, 'exit');
    assert.equal(join?.status.reason?.kind, 'upstream');
    assert.match(join.status.reason.detail, /left/);
    assert.equal(view.summary.state, 'failed');
  });

  it('[FLOW-04] blocks only the card that asks, and what needs it', async () => {
    writeCard(folder() + '/project', 'left', {
      inputs: inputsFrom('load'),
      permissions: { network: ['example.org'] },
    });
    open();
    const blocked = await engine.run();
    assert.deepEqual(statesOf(blocked), { load: 'done', left: 'blocked', right: 'done', join: 'skipped' });
    assert.equal(await engine.acceptAll(), 1);
    const accepted = await engine.run();
    assert.deepEqual(statesOf(accepted), { load: 'done*', left: 'done', right: 'done*', join: 'done' });
    const job = engine.runner.jobs.find(({ cardId }) => cardId === 'left');
    assert.deepEqual(job?.access.network, { kind: 'hosts', hosts: ['example.org'] });
  });

  it('[FLOW-05] a permission taken back during a run stops the card just before its job', async () => {
    writeCard(folder() + '/project', 'join', {
      inputs: inputsFrom('left', 'right'),
      permissions: { network: ['example.org'] },
    });
    open();
    await engine.acceptAll();
    const gate = gatedBehaviour(engine.runner);
    engine.runner.behave('load', gate.behaviour);
    const runId = await engine.start();
    await gate.entered;
    await engine.handlers['permissions/revoke'](
      { root: engine.root, card: 'join', key: 'network:example.org' },
      never,
    );
    gate.open();
    const view = await engine.finish(runId);
    assert.equal(statesOf(view)['join'], 'blocked');
    assert.ok(!engine.runner.takeRun().includes('join'));
  });

  it('[FLOW-06] nothing runs, and nothing comes from the cache, in an untrusted workspace', async () => {
    open();
    await engine.run();
    engine.services.setTrusted(false);
    await assert.rejects(
      engine.start(),
      (error) => error instanceof UserError && error.code === 'not-trusted',
    );
    engine.services.setTrusted(true);
    assert.equal((await engine.run()).summary.state, 'done');
  });

  it('[FLOW-07] refuses sealed cards where there is no isolation, with the remedy, and runs js cards', async () => {
    writeCard(folder() + '/project', 'script', { runtime: 'js', entry: 'main.py' });
    open();
    engine.runner.info = { ...engine.runner.info, isolation: noIsolation };
    const view = await engine.run();
    assert.deepEqual(statesOf(view), {
      load: 'failed',
      script: 'done',
      left: 'failed',
      right: 'failed',
      join: 'failed',
    });
    const { reason } = view.cards[0]?.status ?? {};
    assert.equal(reason?.kind, 'isolation-missing');
    assert.equal(reason.remedy, 'Install bubblewrap.');
    assert.deepEqual(engine.runner.takeRun(), ['script']);
  });

  it('[FLOW-08] cancel ends what runs and starts nothing more', async () => {
    open();
    const gate = gatedBehaviour(engine.runner);
    engine.runner.behave('load', gate.behaviour);
    const runId = await engine.start();
    await gate.entered;
    assert.deepEqual(await engine.handlers['run/cancel']({ runId }, never), { found: true });
    const view = await engine.finish(runId);
    assert.deepEqual(statesOf(view), {
      load: 'cancelled',
      left: 'cancelled',
      right: 'cancelled',
      join: 'cancelled',
    });
    assert.equal(view.summary.state, 'cancelled');
    assert.deepEqual(engine.runner.takeRun(), ['load']);
    assert.deepEqual(await engine.handlers['run/cancel']({ runId }, never), { found: false });
  });

  it('[FLOW-09] a runner that is lost makes its card unknown, never done or failed', async () => {
    open();
    engine.runner.behave('left', () => Promise.reject(new UserError('closed', 'the runner ended')));
    const view = await engine.run();
    assert.deepEqual(statesOf(view), { load: 'done', left: 'unknown', right: 'done', join: 'skipped' });
    assert.equal(view.cards[1]?.status.reason?.kind, 'interrupted');
    assert.equal(view.summary.state, 'unknown');
  });

  it('what is not stored here is not said to be: its place keeps it', async () => {
    const settled: string[] = [];
    open();
    Object.assign(engine.runner, { settled: (jobId: string) => settled.push(jobId) });
    const gate = gatedBehaviour(engine.runner);
    engine.runner.behave('left', gate.behaviour);
    const runId = await engine.start();
    await gate.entered;
    const other = new DatabaseSync(join(folder(), 'home', 'sallyport.sqlite'));
    other.exec("create trigger full before update on card_runs begin select raise(abort, 'no space'); end");
    gate.open();
    await engine.services.whenFinished(runId);
    other.exec('drop trigger full');
    other.close();
    await engine.handlers['run/list']({ limit: 1 }, never);
    assert.equal(statesOf(await engine.view(runId))['left'], 'unknown');
    // Those of the cards that ended before, and not that of the one whose end is lost.
    assert.ok(settled.length > 0 && !settled.includes(`${runId}-1`), settled.join());
  });

  it('a run that is being prepared when the engine ends does not begin', async () => {
    const looking = Promise.withResolvers<undefined>();
    const look = Promise.withResolvers<undefined>();
    open();
    const { info } = engine.runner;
    engine.runner.ready = async () => {
      looking.resolve(undefined);
      await look.promise;
      return info;
    };
    writeCard(engine.root, 'load', { runtime: 'node' });
    const started = engine.start();
    await looking.promise;
    const disposed = engine.dispose();
    look.resolve(undefined);
    await assert.rejects(started);
    await disposed;
    assert.deepEqual(engine.runner.takeRun(), []);
  });

  it('[FLOW-10] reuses a result only while its blobs are there', async () => {
    open();
    const { cards } = await engine.run();
    const digest = cards[3]?.outputs[0]?.artifact.digest ?? '';
    const { path } = await engine.handlers['artifact/locate']({ digest }, never);
    rmSync(path);
    engine.runner.takeRun();
    assert.deepEqual(statesOf(await engine.run()), {
      load: 'done*',
      left: 'done*',
      right: 'done*',
      join: 'done',
    });
    const why = await engine.handlers['run/why']({ runId: (await lastRun()).runId, card: 'join' }, never);
    assert.equal(why.changes[0]?.part, 'result-removed');
  });

  const lastRun = async () => {
    const { runs } = await engine.handlers['run/list']({ root: engine.root, limit: 1 }, never);
    assert.ok(runs[0]);
    return runs[0];
  };
  const whyOf = async (card: string) =>
    (await engine.handlers['run/why']({ runId: (await lastRun()).runId, card }, never)).changes;

  it('[FLOW-11] says which part changed: the file, the parameter, the port', async () => {
    open();
    await engine.run();
    assert.deepEqual(await whyOf('load'), [{ part: 'first-run', detail: 'it has not run before' }]);
    writeFileSync(join(engine.root, 'cards/load/helper.py'), 'x = 1\n');
    writeCard(engine.root, 'load', { code: 'print("other")\n' });
    await engine.run();
    assert.deepEqual(await whyOf('load'), [
      { part: 'code', detail: 'helper.py was added' },
      { part: 'code', detail: 'main.py' },
    ]);
    assert.deepEqual(await whyOf('left'), [{ part: 'inputs', detail: 'load' }]);
    writeCard(engine.root, 'load', {
      code: 'print("other")\n',
      params: { year: { type: 'integer', default: 2013 } },
      limits: { memoryMB: 99 },
      outputs: { out: { type: 'text' }, more: { type: 'json' } },
    });
    await engine.run();
    assert.deepEqual(await whyOf('load'), [
      { part: 'params', detail: 'year was added' },
      { part: 'outputs', detail: 'more was added' },
      { part: 'limits', detail: 'memoryMB: 1024 became 99' },
    ]);
    await engine.run({ ignoreCache: true });
    assert.equal((await whyOf('join'))[0]?.part, 'cache-ignored');
  });

  it('[FLOW-19] a file that is no output is left behind and named in the log of a card that is done', async () => {
    open();
    engine.runner.behave('load', (job, events) => {
      events.log('stderr', 'half a line');
      return {
        ...engine.runner.succeed(job),
        outputProblems: [
          { port: 'scratch.txt', kind: 'unexpected', detail: 'no output port has this name' },
          { port: '…', kind: 'unexpected', detail: '3 more entries that no output port names' },
        ],
      };
    });
    const run = await engine.run({ cards: ['load'] });
    assert.deepEqual(statesOf(run), { load: 'done' });
    const cardRunId = `${run.summary.runId}-0`;
    const { lines } = await engine.handlers['log/read']({ cardRunId, fromLine: 0, count: 9 }, never);
    assert.deepEqual(lines, [
      { stream: 'stderr', text: 'half a line', cutBytes: 0 },
      {
        stream: 'stderr',
        text: 'Not taken: “scratch.txt” is not one of the card’s outputs (no output port has this name)',
        cutBytes: 0,
      },
      { stream: 'stderr', text: 'Not taken: 3 more entries that no output port names', cutBytes: 0 },
    ]);
  });

  it('[FLOW-12] a change of words runs nothing again', async () => {
    open();
    await engine.run();
    writeCard(engine.root, 'load', {
      title: 'Other words',
      description: 'long',
      limits: { seconds: 5, logMB: 3 },
    });
    assert.deepEqual(statesOf(await engine.run()), {
      load: 'done*',
      left: 'done*',
      right: 'done*',
      join: 'done*',
    });
  });

  it('[FLOW-13] a dry run says what would run and why, and runs nothing', async () => {
    open();
    await engine.run();
    engine.runner.takeRun();
    writeCard(engine.root, 'left', { inputs: inputsFrom('load'), code: 'new' });
    const { cards } = await engine.handlers['run/dryRun']({ root: engine.root }, never);
    assert.deepEqual(
      cards.map(({ id, action }) => [id, action]),
      [
        ['load', 'cached'],
        ['left', 'run'],
        ['right', 'cached'],
        ['join', 'depends'],
      ],
    );
    assert.deepEqual(cards[1]?.why, [{ part: 'code', detail: 'main.py' }]);
    assert.deepEqual(engine.runner.takeRun(), []);
    assert.equal((await engine.handlers['run/list']({ limit: 9 }, never)).runs.length, 1);
  });

  it('[FLOW-14] runs the chosen card with what it needs and no more', async () => {
    open();
    assert.deepEqual(statesOf(await engine.run({ cards: ['left'] })), { load: 'done', left: 'done' });
    engine.runner.takeRun();
    await engine.run({ cards: ['left'], ignoreCache: true });
    assert.deepEqual(engine.runner.takeRun(), ['left']);
    await assert.rejects(
      engine.start({ cards: ['gone'] }),
      (error) => error instanceof UserError && error.code === 'not-found',
    );
    assert.deepEqual((await lastRun()).state, 'done');
  });

  it('runs no more cards at once than there are places', async () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`c${at}`, {}]));
    writeProject(join(folder(), 'project'), many);
    open({ parallel: 3 });
    let now = 0;
    let most = 0;
    for (const id of Object.keys(many)) {
      engine.runner.behave(id, async (job) => {
        most = Math.max(most, ++now);
        await new Promise((resolve) => setImmediate(resolve));
        now--;
        return engine.runner.succeed(job);
      });
    }
    await engine.run();
    assert.equal(most, 3);
  });

  it('[FLOW-15] does not trust an old result of a card that sees files the key knows nothing of', async () => {
    writeCard(folder() + '/project', 'load', {
      permissions: { hostFolders: [{ path: '~/data', name: 'data' }] },
    });
    open();
    await engine.acceptAll();
    await engine.run();
    engine.runner.takeRun();
    await engine.run();
    assert.deepEqual(engine.runner.takeRun(), ['load']);
    assert.equal((await whyOf('load'))[0]?.part, 'cache-ignored');
  });

  it('a card with errors in its manifest fails by itself, with its file named', async () => {
    writeFileSync(join(folder(), 'project/cards/left/_card.json'), '{ "version": 1, ');
    open();
    const view = await engine.run();
    assert.deepEqual(statesOf(view), { load: 'done', left: 'failed', right: 'done', join: 'failed' });
    const left = view.cards.find(({ id }) => id === 'left');
    assert.equal(left?.status.reason?.kind, 'bad-card');
    assert.match(left.status.reason.detail, /left\/_card\.json/);
  });
});
