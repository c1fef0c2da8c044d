import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { CardState, CardStatus } from '../../../../protocol/src/engine.ts';
import { emptyResult, type EgressRecord, type JobResult } from '../../../../protocol/src/runner.ts';
import type { LeftJob } from '../../../../language-server/src/runners/places/remoteJobs.ts';
import { createRemoteJobs } from '../../../../language-server/src/runs/remoteJobs.ts';
import { openHome } from '../../../../language-server/src/store/home.ts';
import { LogPacker } from '../../../../language-server/src/store/logLines.ts';
import { openStore, type Store } from '../../../../language-server/src/store/store.ts';
import { jobWith } from '../../../support/jobs.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const runId = `r${'0'.repeat(16)}`;
const place = 'ssh:lab';

describe('a card that an earlier engine has left', () => {
  const folder = useTemporaryFolder();
  const stores: Store[] = [];
  const open = () => {
    const store = openStore(openHome(join(folder(), 'home')), () => 1);
    stores.push(store);
    const told: CardStatus[] = [];
    const problems: unknown[] = [];
    const jobs = createRemoteJobs({
      store,
      now: () => 5,
      events: {
        delta: (_run, _card, status) => told.push(status),
        log: () => undefined,
        problem: (error) => problems.push(error),
      },
    });
    return { store, jobs, told, problems };
  };
  afterEach(() => {
    for (const store of stores.splice(0)) store.close();
  });

  const jobId = (index: number) => `${runId}-${index}`;
  const keyOf = (store: Store, index = 0) => ({ run: store.runs.seqOf(runId) ?? -1, index });
  /** A run of so many cards, each with a job at the place, as a killed engine leaves it. */
  const leave = (cards: number, lines: readonly string[] = []): void => {
    const store = openStore(openHome(join(folder(), 'home')), () => 1);
    const { jobs } = open();
    const engine = 'e0';
    const run = store.runs.insert({
      ...{ id: runId, engine, project: 'p', root: '/p', projectName: 'p', startedAt: 1 },
    });
    for (let index = 0; index < cards; index += 1) {
      store.runs.saveCard(
        { run, index },
        {
          ...{ card: `c${index}`, title: 'C', runtime: 'shell', viewOutput: null, key: `k${index}` },
          ...{ result: null, why: [], logLines: 0, logCutBytes: 0 },
          status: {
            ...{
              runId,
              cardRunId: jobId(index),
              state: 'running',
              cached: false,
              reason: null,
              exitCode: null,
            },
            ...{ isolation: null, runMs: null, waitMs: null, startedAt: 1, finishedAt: null, outputBytes: 0 },
            ...{ progress: null, place },
          },
        },
      );
      jobs.send(place, jobWith({ jobId: jobId(index) }));
      const packer = new LogPacker();
      for (const line of lines) packer.push('stdout', `${line}\n`);
      store.logs.append({ run, index }, packer.take(true), packer.totalLines);
    }
    store.close();
    for (const each of stores.splice(0)) each.close();
  };
  const taken = (from: ReturnType<typeof open>, index = 0): LeftJob => {
    const left = from.jobs.takeUp(jobId(index));
    if (typeof left === 'string') throw new assert.AssertionError({ message: left });
    return left;
  };
  const exited: JobResult = { ...emptyResult({ kind: 'exited', exitCode: 0 }), isolation: 'bubblewrap' };
  const statesOf = (store: Store): CardState[] =>
    store.runs.cards(keyOf(store).run).map(({ status }) => status.state);
  const logOf = (store: Store, index = 0) =>
    store.logs.read(keyOf(store, index), 0, 100).lines.map(({ text }) => text);
  const runState = (store: Store) => store.runs.summary(keyOf(store).run)?.state;

  it('[PLACE-17] brings its run under this engine until the last of its cards has ended', () => {
    leave(2);
    const engine = open();
    const { store, jobs } = engine;
    assert.deepEqual(statesOf(store), ['unknown', 'unknown']);
    const [one, two] = [taken(engine, 0), taken(engine, 1)];
    assert.deepEqual(statesOf(store), ['running', 'running']);
    assert.equal(runState(store), 'running');
    assert.equal(store.runs.engineOf(keyOf(store).run), store.engineId);
    assert.deepEqual(jobs.heldCards('p'), []);
    one.ended(exited);
    assert.equal(runState(store), 'running');
    two.ended(exited);
    assert.equal(runState(store), 'done');
    assert.deepEqual(statesOf(store), ['done', 'done']);
    assert.deepEqual(
      jobs.left(place).map(({ state }) => state),
      ['settled', 'settled'],
    );
  });

  it('[PLACE-17] is another’s while that one lives, and nobody’s once its end is stored', () => {
    leave(1);
    const [one, other] = [open(), open()];
    assert.deepEqual(one.jobs.heldCards('p'), [{ place, card: 'c0' }]);
    assert.deepEqual(one.jobs.heldCards('q'), []);
    const left = taken(one);
    assert.equal(other.jobs.takeUp(jobId(0)), 'another');
    assert.deepEqual(other.jobs.left(place), []);
    left.ended(exited);
    assert.equal(other.jobs.takeUp(jobId(0)), 'nobody');
    assert.equal(other.jobs.takeUp(jobId(7)), 'nobody');
  });

  it('[PLACE-17] that is left again is the next engine’s, with why its end is not known', () => {
    leave(1);
    const [one, next] = [open(), open()];
    taken(one).left('the host went away');
    const [card] = one.store.runs.cards(keyOf(one.store).run);
    assert.equal(card?.status.state, 'unknown');
    assert.match(card.status.reason?.detail ?? '', /went away/);
    assert.equal(runState(one.store), 'unknown');
    taken(next).ended(exited);
    assert.deepEqual(statesOf(one.store), ['done']);
  });

  it('[PLACE-17] keeps what was stored of its log until as much came of it anew', () => {
    leave(1, ['a', 'b', 'c']);
    const first = open();
    const short = taken(first);
    short.log('stdout', 'a\nb\n');
    short.left('lost');
    assert.deepEqual(logOf(first.store), ['a', 'b', 'c']);
    assert.equal(first.store.runs.card(keyOf(first.store))?.logLines, 3);

    const long = taken(first);
    for (const text of ['a\n', 'b', '\nc\nd\n', 'e\n']) long.log('stdout', text);
    long.left('lost');
    assert.deepEqual(logOf(first.store), ['a', 'b', 'c', 'd', 'e']);
    assert.equal(first.store.runs.card(keyOf(first.store))?.logLines, 5);

    // Its end says how long it really is.
    const last = taken(first);
    last.log('stdout', 'only\n');
    last.ended(exited);
    assert.deepEqual(logOf(first.store), ['only']);
    assert.equal(first.store.runs.card(keyOf(first.store))?.logLines, 1);
  });

  it('[PLACE-17] brings each of its requests once', () => {
    leave(1);
    const request = (at: number): EgressRecord => ({
      ...{ jobId: jobId(0), at, method: 'GET', host: 'example.org', port: 443 },
      ...{ verdict: 'allowed', reason: 'listed', sentBytes: 1, receivedBytes: 1 },
    });
    const engine = open();
    const { run } = keyOf(engine.store);
    for (const at of [1, 2, 2]) engine.store.egress.append(run, 'c0', request(at));
    const left = taken(engine);
    for (const at of [1, 2, 2, 2, 3]) left.egress(request(at));
    left.ended(exited);
    const stored = engine.store.egress
      .textsOf(run, 'c0')
      .map((text) => (JSON.parse(text) as EgressRecord).at);
    assert.deepEqual(stored, [1, 2, 2, 2, 3]);
  });

  it('[PLACE-17] is cancelled with its run, and no other', () => {
    leave(1);
    const engine = open();
    const left = taken(engine);
    assert.equal(engine.jobs.cancelRun('r1'), false);
    assert.equal(left.signal.aborted, false);
    assert.equal(engine.jobs.cancelRun(runId), true);
    assert.equal(left.signal.aborted, true);
    left.ended(emptyResult({ kind: 'cancelled' }));
    assert.equal(engine.jobs.cancelRun(runId), false);
    assert.deepEqual(statesOf(engine.store), ['cancelled']);
  });

  it('[PLACE-17] whose end can’t be stored says so, and its place keeps it', () => {
    leave(1);
    const engine = open();
    const left = taken(engine);
    const { results } = engine.store;
    Object.defineProperty(results, 'add', {
      configurable: true,
      value: () => {
        throw new Error('the disk is full');
      },
    });
    assert.equal(left.ended(exited), false);
    assert.equal(engine.problems.length, 1);
    Reflect.deleteProperty(results, 'add');
    assert.equal(engine.jobs.left(place)[0]?.state, undefined);
    engine.store.recover();
    assert.equal(engine.jobs.left(place)[0]?.state, 'sent');
    assert.equal(taken(engine).ended(exited), true);
    assert.deepEqual(statesOf(engine.store), ['done']);
  });

  it('[PLACE-17] of a run that another engine goes on with leaves that run alone', () => {
    leave(2);
    const [owner, engine] = [open(), open()];
    const { run } = keyOf(owner.store);
    owner.store.runs.takeOver(run, owner.store.engineId);
    const left = taken(engine);
    assert.deepEqual(statesOf(engine.store), ['unknown', 'unknown']);
    assert.equal(engine.store.runs.engineOf(run), owner.store.engineId);
    left.ended(exited);
    assert.deepEqual(statesOf(engine.store), ['done', 'unknown']);
    assert.equal(runState(engine.store), 'running');
  });
});
