import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { ParamsOf, ResultOf } from '../../../../protocol/src/contract.ts';
import { engineEvents, engineSide } from '../../../../protocol/src/engine.ts';
import { UserError, type ErrorCode } from '../../../../protocol/src/errors.ts';
import { limits } from '../../../../protocol/src/limits.ts';
import { gatedBehaviour } from '../../../support/fakeRunner.ts';
import { writeProject } from '../../../support/projectFolder.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { never, TestEngine } from '../../../support/testEngine.ts';
import { until } from '../../../support/until.ts';

type Requests = (typeof engineSide)['requests'];
type Events = (typeof engineEvents)['notifications'];

const failsWith = (code: ErrorCode) => (error: unknown) => error instanceof UserError && error.code === code;

describe('history', () => {
  const folder = useTemporaryFolder();
  let engine: TestEngine;
  beforeEach(() => {
    engine = new TestEngine(
      join(folder(), 'home'),
      writeProject(join(folder(), 'project'), { a: {}, b: {} }),
    );
  });
  afterEach(() => engine.dispose());

  /** Asks as the other process does: the answer must fit its contract. */
  const ask = async <M extends keyof Requests>(
    method: M,
    params: ParamsOf<Requests[M]>,
  ): Promise<ResultOf<Requests[M]>> =>
    engineSide.requests[method].result.parse(await engine.handlers[method](params, never)) as ResultOf<
      Requests[M]
    >;
  const told = <M extends keyof Events>(method: M) =>
    engine.told
      .filter((each) => each.method === method)
      .map(({ params }) => engineEvents.notifications[method].params.parse(params) as ParamsOf<Events[M]>);

  it('gives every answer in the form of its contract', async () => {
    const view = await engine.run();
    const { runId } = view.summary;
    await ask('project/list', {});
    const project = await ask('project/get', { root: engine.root });
    assert.equal(project.runId, runId);
    assert.equal(project.cards[0]?.status?.state, 'done');
    await ask('run/get', { runId });
    await ask('run/why', { runId, card: 'a' });
    await ask('run/dryRun', { root: engine.root });
    await ask('permissions/review', { root: engine.root });
    await ask('doctor/report', {});
    await ask('store/usage', {});
    await ask('store/clean', {});
    assert.deepEqual(told('run/delta').at(-1)?.summary, view.summary);
  });

  it('[STO-06] pages through runs, newest first, with cursors that fit their own list alone', async () => {
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.unshift((await engine.run()).summary.runId);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await ask('run/list', {
        root: engine.root,
        limit: 2,
        ...(cursor === undefined ? {} : { cursor }),
      });
      seen.push(...page.runs.map(({ runId }) => runId));
      cursor = page.cursor;
    } while (cursor !== undefined);
    assert.deepEqual(seen, ids);
    const { cursor: ofProject = '' } = await ask('run/list', { root: engine.root, limit: 1 });
    await assert.rejects(ask('run/list', { limit: 1, cursor: ofProject }), failsWith('bad-message'));
    await assert.rejects(
      ask('egress/list', { root: engine.root, limit: 1, cursor: ofProject }),
      failsWith('bad-message'),
    );
    await assert.rejects(ask('run/list', { limit: 1, cursor: '3' }), failsWith('bad-message'));
    assert.equal((await ask('run/list', { limit: -5 })).runs.length, 1);
  });

  it('keeps every request of a card, with the run and the card it belongs to', async () => {
    engine.runner.behave('a', (job, events) => {
      for (const host of ['one.test', 'two.test', 'three.test']) {
        events.egress({
          jobId: job.jobId,
          at: 1,
          method: 'CONNECT',
          host,
          port: 443,
          verdict: 'refused',
          reason: 'not in the list',
          sentBytes: 0,
          receivedBytes: 0,
        });
      }
      return engine.runner.succeed(job);
    });
    const { summary } = await engine.run();
    const first = await ask('egress/list', { root: engine.root, limit: 2 });
    assert.deepEqual(
      first.records.map(({ host, card, runId }) => [host, card, runId]),
      [
        ['three.test', 'a', summary.runId],
        ['two.test', 'a', summary.runId],
      ],
    );
    const next = await ask('egress/list', {
      root: engine.root,
      limit: 2,
      ...(first.cursor ? { cursor: first.cursor } : {}),
    });
    assert.deepEqual(
      next.records.map(({ host }) => host),
      ['one.test'],
    );
    assert.equal(next.cursor, undefined);
  });

  it('stores a log while the card runs, and reads what fits a message', async () => {
    const gate = gatedBehaviour(engine.runner);
    engine.runner.behave('a', (job, events, signal) => {
      events.log('stdout', 'first\nhalf');
      events.log('stderr', 'warning\n');
      events.progress(7, 'x'.repeat(1000));
      return gate.behaviour(job, events, signal);
    });
    const runId = await engine.start();
    const cardRunId = `${runId}-0`;
    await until(() =>
      told('log/appended').some((each) => each.cardRunId === cardRunId && each.totalLines === 2),
    );
    const read = (fromLine: number, count: number) => ask('log/read', { cardRunId, fromLine, count });
    assert.deepEqual(
      (await read(0, 10)).lines.map(({ stream, text }) => `${stream} ${text}`),
      ['stdout first', 'stderr warning'],
    );
    await until(() =>
      told('run/delta').some(({ cards }) => cards.some(({ status }) => status.progress?.fraction === 1)),
    );
    assert.equal((await engine.view(runId)).cards[0]?.status.progress?.text.length, 200);
    gate.open();
    await engine.finish(runId);
    const whole = await read(0, 10);
    assert.equal(whole.totalLines, 3);
    assert.equal(whole.lines[2]?.text, 'half');
    assert.equal((await engine.view(runId)).cards[0]?.status.progress, null);
    assert.deepEqual(
      (await read(-3, 1)).lines.map(({ text }) => text),
      ['first'],
    );
    assert.deepEqual((await read(99, 10)).lines, []);
  });

  it('gives no more of a log than a message holds', async () => {
    engine.runner.behave('a', (job, events) => {
      for (let at = 0; at < 2000; at++) events.log('stdout', `${'y'.repeat(limits.logLineShownBytes * 2)}\n`);
      return engine.runner.succeed(job);
    });
    const { summary } = await engine.run();
    const { lines, totalLines } = await ask('log/read', {
      cardRunId: `${summary.runId}-0`,
      fromLine: 0,
      count: 1_000_000,
    });
    assert.equal(totalLines, 2000);
    assert.ok(lines.length > 100 && JSON.stringify(lines).length < limits.messageBytes);
    assert.equal(lines[0]?.cutBytes, limits.logLineShownBytes);
  });

  it('says what is not there', async () => {
    const { summary } = await engine.run();
    const absent: Promise<unknown>[] = [
      ask('run/get', { runId: 'r0' }),
      ask('run/why', { runId: summary.runId, card: 'gone' }),
      ask('log/read', { cardRunId: `${summary.runId}-99`, fromLine: 0, count: 1 }),
      ask('log/read', { cardRunId: '../../etc', fromLine: 0, count: 1 }),
      ask('artifact/locate', { digest: '0'.repeat(64) }),
    ];
    for (const each of absent) await assert.rejects(each, failsWith('not-found'));
    await assert.rejects(ask('project/get', { root: '/nowhere' }), failsWith('no-project'));
    await assert.rejects(ask('artifact/locate', { digest: '../../../etc/passwd' }), failsWith('bad-message'));
  });

  it('a database that can’t be written any more ends the run with a notice, and no card is left running', async () => {
    const gate = gatedBehaviour(engine.runner);
    engine.runner.behave('a', gate.behaviour);
    const runId = await engine.start();
    await gate.entered;
    const { DatabaseSync } = await import('node:sqlite');
    const other = new DatabaseSync(join(folder(), 'home', 'sallyport.sqlite'));
    other.exec("create trigger full before update on card_runs begin select raise(abort, 'no space'); end");
    gate.open();
    await engine.services.whenFinished(runId);
    other.exec('drop trigger full');
    other.close();
    assert.ok(told('engine/notice').length > 0);
    const { runs } = await ask('run/list', { limit: 9 });
    assert.deepEqual(
      runs.map(({ state }) => state),
      ['unknown'],
    );
    const { cards } = await engine.view(runId);
    assert.ok(cards.every(({ status }) => !['running', 'queued'].includes(status.state)));
  });
});
