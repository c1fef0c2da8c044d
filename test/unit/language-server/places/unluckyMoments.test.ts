import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { placeFactories } from '../../../../language-server/src/runners/places/factories.ts';
import type { PlaceRunner } from '../../../../language-server/src/runners/places/placeRunner.ts';
import type { RunnerTransport } from '../../../../language-server/src/runners/places/runnerTransport.ts';
import type { Transport } from '../../../../protocol/src/channel.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { emptyResult } from '../../../../protocol/src/runner.ts';
import { jobWith } from '../../../support/jobs.ts';
import { PlayedPlace } from '../../../support/playedPlace.ts';
import { Heard, openPlace, quickTimes, type TestPlace } from '../../../support/remotePlace.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

const never = new AbortController().signal;
const exited = emptyResult({ kind: 'exited', exitCode: 0 });
const away = () => new UserError('unreachable', 'nobody is there');

/** A place whose connection ends in the very turn in which the answer to `method` comes; the first one does. */
class AbruptPlace extends PlayedPlace {
  readonly #method: string;
  #isDone = false;

  constructor(method: string, ...more: ConstructorParameters<typeof PlayedPlace>) {
    super(...more);
    this.#method = method;
  }

  override async open(options: Parameters<PlayedPlace['open']>[0]) {
    const link = await super.open(options);
    return { ...link, control: this.#isDone ? link.control : this.#abrupt(link.control) };
  }

  #abrupt(inner: Transport): Transport {
    this.#isDone = true;
    let awaited: unknown;
    return {
      send: (message) => {
        const { id, method } = message as { id?: unknown; method?: unknown };
        if (method === this.#method) awaited = id;
        inner.send(message);
      },
      start: (onMessage, onClose) => {
        inner.start((message) => {
          onMessage(message);
          if (awaited !== undefined && (message as { id?: unknown }).id === awaited) onClose('it was killed');
        }, onClose);
      },
      close: () => inner.close(),
    };
  }
}

describe('a place and its cards, at unlucky moments', function () {
  this.timeout(60_000);
  const folder = useTemporaryFolder();
  const places: TestPlace[] = [];
  const open = (played: PlayedPlace, times = quickTimes): TestPlace => {
    const blobs = join(folder(), `blobs${places.length}`);
    mkdirSync(blobs);
    const place = openPlace(played, blobs, { times });
    places.push(place);
    return place;
  };
  afterEach(async () => {
    for (const { runner } of places.splice(0)) await runner.dispose();
  });

  it('a connection that ends as it is greeted is none, and the next one is made [PLACE-03]', async () => {
    const { runner } = open(new AbruptPlace('runner/greet'));
    await assert.rejects(runner.ready(), { code: 'closed', message: /it was killed/ });
    assert.equal(runner.view().state, 'lost');
    await runner.ready();
    assert.deepEqual(await runner.held(), []);
  });

  it('a card is followed though the connection ended as it was accepted [PLACE-03]', async () => {
    const played = new AbruptPlace('job/submit');
    const running = open(played).runner.run(jobWith({ jobId: 'job' }), new Heard(), never);
    await until(() => played.asked.filter((each) => each === 'job/submit').length === 2);
    played.tell('job', 1, { kind: 'ended', result: exited });
    assert.deepEqual((await running).outcome, exited.outcome);
  });

  it('an end counts though the place has lost lines that it told, as with its power [PLACE-03]', async () => {
    const played = new PlayedPlace();
    const heard = new Heard();
    const running = open(played).runner.run(jobWith({ jobId: 'job' }), heard, never);
    await until(() => played.asked.includes('job/submit'));
    for (const seq of [1, 2, 3]) played.tell('job', seq, { kind: 'log', stream: 'stdout', text: `${seq}\n` });
    played.tell('job', 2, { kind: 'log', stream: 'stdout', text: 'again\n' });
    played.tell('job', 2, { kind: 'ended', result: exited });
    assert.deepEqual((await running).outcome, exited.outcome);
    assert.equal(heard.stdout, '1\n2\n3\n');
  });

  it('a cancelled card waits no longer for a connection that is lost after that [PLACE-04]', async () => {
    const played = new PlayedPlace();
    const stop = new AbortController();
    const times = { ...quickTimes, cancelMs: 50, heartbeatMs: 100 };
    const running = open(played, times).runner.run(jobWith({ jobId: 'job' }), new Heard(), stop.signal);
    await until(() => played.asked.includes('job/submit'));
    stop.abort();
    // Far longer than it waits for one that is lost before.
    await until(() => played.asked.filter((each) => each === 'lease/renew').length >= 3);
    for (let at = 0; at < 1000; at += 1) played.failures.push(away());
    played.cut();
    const { outcome } = await running;
    assert.ok(outcome.kind === 'unknown' && /could not be stopped there yet/.test(outcome.detail));
    played.failures.length = 0;
  });

  it('a cancelled card is not sent once more: it would start, had it not come there before [PLACE-04]', async () => {
    const played = new PlayedPlace({
      'job/submit': () => new Promise(() => undefined),
      'job/cancel': () => ({ found: false }),
      'job/attach': () => Promise.reject(new UserError('not-found', 'There is no such job')),
    });
    const stop = new AbortController();
    const running = open(played).runner.run(jobWith({ jobId: 'job' }), new Heard(), stop.signal);
    await until(() => played.asked.includes('job/submit'));
    played.failures.push(away());
    played.cut();
    await until(() => played.failures.length === 0);
    stop.abort();
    assert.deepEqual((await running).outcome, { kind: 'cancelled' });
    assert.equal(played.asked.filter((each) => each === 'job/submit').length, 1);
    assert.ok(played.asked.indexOf('job/cancel') < played.asked.indexOf('job/attach'));
  });

  it('nothing is copied for a card that was cancelled while it was offered [PLACE-04]', async () => {
    const answer = Promise.withResolvers<{ kind: 'missing'; blobs: string[] }>();
    const played = new PlayedPlace({ 'job/submit': () => answer.promise });
    const stop = new AbortController();
    const running = open(played).runner.run(jobWith({ jobId: 'job' }), new Heard(), stop.signal);
    await until(() => played.asked.includes('job/submit'));
    stop.abort();
    await until(() => played.asked.includes('job/cancel'));
    answer.resolve({ kind: 'missing', blobs: ['0'.repeat(64)] });
    assert.deepEqual((await running).outcome, { kind: 'cancelled' });
    assert.ok(!played.asked.includes('blob/missing'));
  });

  it('nothing is told of a card that has ended while its place was looked for', async () => {
    const played = new PlayedPlace();
    const opening = Promise.withResolvers<undefined>();
    played.gate = opening.promise;
    played.failures.push(away());
    const stop = new AbortController();
    const heard = new Heard();
    const { runner, views } = open(played);
    const running = runner.run(jobWith({ jobId: 'job' }), heard, stop.signal);
    await until(() => played.opened.length === 1);
    stop.abort();
    assert.deepEqual((await running).outcome, { kind: 'cancelled' });
    opening.resolve(undefined);
    await until(() => views.some(({ state }) => state === 'lost'));
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(heard.progressTexts, []);
  });

  it('an engine that ends while it connects takes nothing up', async () => {
    const played = new PlayedPlace({ 'journal/list': () => [] });
    const opening = Promise.withResolvers<undefined>();
    played.gate = opening.promise;
    const { runner, jobs } = open(played);
    jobs.send(runner.id, jobWith({ jobId: 'left' }));
    const ready = runner.ready();
    await until(() => played.opened.length === 1);
    let isOver = false;
    const disposed = runner.dispose().then(() => (isOver = true));
    await new Promise((resolve) => setImmediate(resolve));
    // What opens it may still hold what belongs to the place.
    assert.equal(isOver, false);
    opening.resolve(undefined);
    await assert.rejects(ready, { code: 'closed' });
    await disposed;
    assert.ok(!played.asked.includes('journal/list'));
    assert.equal(jobs.rows.get('left')?.state, 'sent');
  });

  it('a place that could not be made is let go of without a word', async () => {
    const made: RunnerTransport[] = [];
    const factories = placeFactories({
      ...{ home: folder(), programs: folder(), person: { ask: away } as never },
      identity: () => Promise.reject(away()),
      remote: (transport) => (made.push(transport), {} as PlaceRunner),
      onProblem: () => undefined,
    });
    factories.worker?.('worker:none', { kind: 'worker', name: 'none' });
    const [transport] = made;
    const opened = transport?.open({ signal: never, mayAsk: false, onStep: () => undefined });
    const disposed = transport?.dispose();
    await assert.rejects(opened ?? Promise.resolve(), { code: 'not-found' });
    await disposed;
  });
});
