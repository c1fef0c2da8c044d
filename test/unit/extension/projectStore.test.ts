import assert from 'node:assert/strict';
import type { Engine } from '../../../extension/src/engine.ts';
import { ProjectStore } from '../../../extension/src/project/projectStore.ts';
import { RunHistory } from '../../../extension/src/views/runHistory.ts';
import { watchWaitingPermissions } from '../../../extension/src/approvals/permissionNotice.ts';
import type { Notice } from '../../../extension/src/messages.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { hostPermission, makeCard, makeProject, makeRun, makeStatus } from '../../support/sampleViews.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

const log = { info: () => undefined, warn: () => undefined, error: () => undefined, show: () => undefined };

function makeEngine(answers: Record<string, (params: never) => Promise<unknown>>) {
  const calls: string[] = [];
  const listeners = new Map<string, (params: unknown) => void>();
  const engine = {
    call: (method: string, params: never) => {
      calls.push(method);
      const answer = answers[method];
      return answer ? answer(params) : Promise.reject(new UserError('not-found', method));
    },
    on: (method: string, listener: (params: unknown) => void) => {
      listeners.set(method, listener);
      return { dispose: () => listeners.delete(method) };
    },
  } as unknown as Engine;
  const tell = (method: string, params: unknown) => listeners.get(method)?.(params);
  return { engine, calls, tell };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('ProjectStore', () => {
  it('asks for the projects once, and again after a failure', async () => {
    let fails = true;
    const { engine, calls } = makeEngine({
      'project/list': async () => {
        if (fails) throw new UserError('closed', 'x');
        return [makeProject()];
      },
    });
    const store = new ProjectStore(engine, log);
    await assert.rejects(store.projects());
    fails = false;
    await Promise.all([store.projects(), store.projects()]);
    assert.equal((await store.projects())[0]?.name, 'weather');
    assert.equal(calls.length, 2);
  });

  it('reads a project that changed once at a time, and once more for changes meanwhile', async () => {
    const waiting: (() => void)[] = [];
    const { engine, calls, tell } = makeEngine({
      'project/list': async () => [makeProject()],
      'project/get': () =>
        new Promise((resolve) => waiting.push(() => resolve(makeProject({ name: 'changed' })))),
    });
    const store = new ProjectStore(engine, log);
    await store.projects();
    for (let change = 0; change < 5; change++) tell('project/changed', { root: '/p' });
    assert.equal(waiting.length, 1);
    waiting.pop()?.();
    await settle();
    assert.equal(waiting.length, 1);
    waiting.pop()?.();
    await settle();
    assert.equal(calls.filter((method) => method === 'project/get').length, 2);
    assert.equal(store.state.projects[0]?.name, 'changed');
  });

  it('forgets a project that is gone, and keeps one that could not be read', async () => {
    let code: 'no-project' | 'timeout' = 'timeout';
    const { engine, tell } = makeEngine({
      'project/list': async () => [makeProject()],
      'project/get': async () => Promise.reject(new UserError(code, 'x')),
    });
    const store = new ProjectStore(engine, log);
    await store.projects();
    tell('project/changed', { root: '/p' });
    await settle();
    assert.equal(store.state.projects.length, 1);
    code = 'no-project';
    tell('project/changed', { root: '/p' });
    await settle();
    assert.equal(store.state.projects.length, 0);
  });

  it('counts nothing as running once the engine is gone', async () => {
    const { engine, tell } = makeEngine({ 'project/list': async () => [makeProject()] });
    const store = new ProjectStore(engine, log);
    await store.projects();
    tell('run/delta', {
      summary: makeRun(),
      cards: [{ id: 'load', status: makeStatus({ state: 'running' }) }],
    });
    assert.equal(store.running.length, 1);
    store.forget(false);
    assert.equal(store.running.length, 0);
    assert.equal(store.state.projects.length, 1);
    store.forget(true);
    assert.equal(store.state.projects.length, 0);
  });
});

describe('the notice that permissions wait', () => {
  it('[ASK-01] comes once for each change, and only with trust', async () => {
    resetStub();
    let permissions = [hostPermission as typeof hostPermission & { accepted: boolean }];
    const { engine } = makeEngine({
      'project/list': async () => [makeProject({ cards: [makeCard({ permissions })] })],
    });
    const store = new ProjectStore(engine, log);
    const shown: Notice[] = [];
    watchWaitingPermissions(store, { show: (notice) => void shown.push(notice), showError: () => undefined });
    stub.isTrusted = false;
    await store.refresh();
    assert.equal(shown.length, 0);
    stub.isTrusted = true;
    await store.refresh();
    await store.refresh();
    assert.equal(shown.length, 1);
    permissions = [...permissions, { ...hostPermission, key: 'network:b.example.org' } as never];
    await store.refresh();
    assert.equal(shown.length, 2);
    permissions = [];
    await store.refresh();
    assert.equal(shown.length, 2);
  });
});

describe('RunHistory', () => {
  it('reads page by page, takes in what moves, and repeats no run', async () => {
    const pages: Record<string, object> = {
      '': { runs: [makeRun({ runId: 'c' }), makeRun({ runId: 'b' })], cursor: 'next' },
      next: { runs: [makeRun({ runId: 'b' }), makeRun({ runId: 'a' })] },
    };
    const { engine } = makeEngine({
      'run/list': async (params: { cursor?: string }) => pages[params.cursor ?? ''],
    });
    const history = new RunHistory(engine, '/p');
    assert.deepEqual(
      (await history.runs()).map((run) => run.runId),
      ['c', 'b'],
    );
    assert.ok(history.hasMore);
    await history.more();
    assert.deepEqual(
      (await history.runs()).map((run) => run.runId),
      ['c', 'b', 'a'],
    );
    assert.ok(!history.hasMore);
    history.update(makeRun({ runId: 'd' }));
    history.update(makeRun({ runId: 'a', state: 'done' }));
    assert.deepEqual(
      (await history.runs()).map((run) => `${run.runId} ${run.state}`),
      ['d running', 'c running', 'b running', 'a done'],
    );
  });
});
