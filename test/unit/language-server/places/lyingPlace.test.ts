import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../../protocol/src/errors.ts';
import { emptyResult, type EgressRecord } from '../../../../protocol/src/runner.ts';
import { jobWith } from '../../../support/jobs.ts';
import { PlayedPlace } from '../../../support/playedPlace.ts';
import { Heard, openPlace, type TestPlace } from '../../../support/remotePlace.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

const never = new AbortController().signal;
const search = { looking: 'looking', notReached: 'not reached' };
const exited = emptyResult({ kind: 'exited', exitCode: 0 });
const megabyte = 1024 * 1024;

/** What comes from another machine is data, whatever that machine says it is. */
describe('a place that does not keep to what was agreed', () => {
  const folder = useTemporaryFolder();
  const places: TestPlace[] = [];
  const open = (played: PlayedPlace): TestPlace => {
    const blobs = join(folder(), `blobs${places.length}`);
    mkdirSync(blobs);
    const place = openPlace(played, blobs);
    places.push(place);
    return place;
  };
  afterEach(async () => {
    for (const { runner } of places.splice(0)) await runner.dispose();
  });

  const request = (at: number, more: Partial<EgressRecord> = {}): EgressRecord => ({
    ...{ jobId: 'job', at, method: 'GET', host: 'example.org', port: 443, verdict: 'allowed' },
    ...{ reason: 'listed', sentBytes: 1, receivedBytes: 1 },
    ...more,
  });

  it('[PLACE-08] can’t fill the log of requests: they are counted, bounded in size, and its own job’s', async () => {
    const played = new PlayedPlace();
    const place = open(played);
    const heard = new Heard();
    const running = place.runner.run(jobWith({ jobId: 'job' }), heard, never);
    await until(() => played.asked.includes('job/submit'));
    let seq = 0;
    const tell = (record: EgressRecord) => played.tell('job', (seq += 1), { kind: 'egress', record });
    tell(request(1, { jobId: 'another' }));
    tell(request(2, { reason: 'x'.repeat(100_000) }));
    for (let at = 0; at < 12_000; at += 1) tell(request(at));
    played.tell('job', (seq += 1), { kind: 'ended', result: exited });
    await running;
    assert.equal(heard.records.length, 10_000);
    assert.ok(heard.records.every((each) => JSON.stringify(each).length < 1000));
  });

  it('[PLACE-08] can’t fill the disk with a log, of a job that is run here or that was left', async () => {
    const played = new PlayedPlace({ 'journal/list': () => [entry('left')] });
    const place = open(played);
    place.jobs.send(place.runner.id, jobWith({ jobId: 'left' }));
    await place.runner.find?.(search);
    await until(() => place.jobs.taken.has('left'));
    const heard = new Heard();
    const running = place.runner.run(jobWith({ jobId: 'job' }), heard, never);
    await until(() => played.asked.includes('job/submit'));
    const text = 'x'.repeat(64 * 1024 - 1) + '\n';
    for (let seq = 1; seq <= 64; seq += 1)
      for (const jobId of ['job', 'left']) played.tell(jobId, seq, { kind: 'log', stream: 'stdout', text });
    for (const jobId of ['job', 'left']) played.tell(jobId, 65, { kind: 'ended', result: exited });
    await running;
    await until(() => place.jobs.adopted.length === 1);
    const most = megabyte + 128 * 1024;
    assert.ok(heard.stdout.length >= megabyte && heard.stdout.length <= most, `${heard.stdout.length}`);
    const { log = '' } = place.jobs.adopted[0] ?? {};
    assert.ok(log.length >= megabyte && log.length <= most, `${log.length}`);
  });

  it('[PLACE-08] tells an end once, nothing after it, and nothing of jobs that nobody asked about', async () => {
    const played = new PlayedPlace();
    const place = open(played);
    const heard = new Heard();
    const running = place.runner.run(jobWith({ jobId: 'job' }), heard, never);
    await until(() => played.asked.includes('job/submit'));
    played.tell('other', 1, { kind: 'log', stream: 'stdout', text: 'not asked for\n' });
    played.tell('job', 2, { kind: 'log', stream: 'stdout', text: 'two\n' });
    // What was told is not told again, nor what came before it.
    played.tell('job', 2, { kind: 'log', stream: 'stdout', text: 'two again\n' });
    played.tell('job', 1, { kind: 'log', stream: 'stdout', text: 'one\n' });
    played.tell('job', 3, { kind: 'ended', result: exited });
    played.tell('job', 4, { kind: 'ended', result: emptyResult({ kind: 'cancelled' }) });
    played.tell('job', 5, { kind: 'log', stream: 'stdout', text: 'late\n' });
    assert.equal((await running).outcome.kind, 'exited');
    assert.equal(heard.stdout, 'two\n');
  });

  describe('while it is looked for', () => {
    it('[PLACE-18] asks nobody, and a person who presses meanwhile is asked all the same', async () => {
      const played = new PlayedPlace();
      const { promise, resolve } = Promise.withResolvers<undefined>();
      played.gate = promise;
      played.failures.push(new UserError('sign-in', 'a password is wanted'), undefined);
      const place = open(played);
      const looked = place.runner.find?.(search);
      const pressed = place.runner.ready();
      resolve(undefined);
      await assert.rejects(looked ?? Promise.resolve(), { code: 'sign-in' });
      await pressed;
      assert.deepEqual(played.opened, [{ mayAsk: false }, { mayAsk: true }]);
      assert.deepEqual(
        place.views.map(({ state }) => state).filter((state, at, all) => state !== all[at - 1]),
        ['connecting', 'asks', 'connecting', 'ready'],
      );
    });

    for (const [title, error, state, remedy] of [
      ['a password', new UserError('sign-in', 'no', { remedy: 'Add a key' }), 'asks', /Check Place/],
      [
        'a key that is not known',
        new UserError('host-key', 'no', { isUnknown: true }),
        'asks',
        /Check Place/,
      ],
      ['a key that changed', new UserError('host-key', 'no', { remedy: 'Ask them' }), 'asks', /^Ask them$/],
      [
        'no Node there',
        new UserError('interpreter-missing', 'no', { remedy: 'Get it' }),
        'refused',
        /^Get it$/,
      ],
      ['no answer', new UserError('unreachable', 'no answer.'), 'lost', /^$/],
    ] as const)
      it(`[PLACE-18] says what it found: ${title}`, async () => {
        const played = new PlayedPlace();
        played.failures.push(error);
        const place = open(played);
        await assert.rejects(place.runner.find?.(search) ?? Promise.resolve(), { code: error.code });
        const view = place.runner.view();
        assert.equal(view.state, state);
        assert.match(view.remedy, remedy);
        if (state === 'lost') assert.equal(view.detail, 'no answer. not reached');
      });

    it('[PLACE-18] what was found goes on without a question when the connection is lost', async () => {
      const played = new PlayedPlace({ 'journal/list': () => [entry('left')] });
      const place = open(played);
      place.jobs.send(place.runner.id, jobWith({ jobId: 'left' }));
      await place.runner.find?.(search);
      await until(() => place.jobs.taken.has('left'));
      played.failures.push(new UserError('sign-in', 'the key was removed'));
      played.cut();
      const taken = place.jobs.taken.get('left');
      await until(() => (taken?.reasons.length ?? 0) === 1);
      assert.ok(played.opened.every(({ mayAsk }) => !mayAsk));
      assert.equal(place.runner.view().state, 'asks');
      assert.match(taken?.reasons[0] ?? '', /the key was removed/);
    });

    it('[PLACE-17] keeps there what could not be stored here', async () => {
      const played = new PlayedPlace({ 'journal/list': () => [{ ...entry('left'), state: 'ended' }] });
      const place = open(played);
      place.jobs.send(place.runner.id, jobWith({ jobId: 'left' }));
      await place.runner.find?.(search);
      await until(() => place.jobs.taken.has('left'));
      const taken = place.jobs.taken.get('left');
      if (taken) taken.isStored = false;
      played.tell('left', 1, { kind: 'ended', result: exited });
      await until(() => place.runner.view().running === 0);
      assert.deepEqual(place.jobs.adopted, []);
      assert.equal(played.asked.includes('job/forget'), false);
      assert.equal(place.jobs.rows.get('left')?.state, 'sent');
    });
  });
});

function entry(jobId: string) {
  return {
    ...{ jobId, cardId: 'card', engine: 'engine-of-tests', state: 'running' as const },
    ...{ acceptedAt: 1, leaseMs: 1000, lastSeq: 0 },
  };
}
