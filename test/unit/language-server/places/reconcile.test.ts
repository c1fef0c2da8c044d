import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { LeftJob } from '../../../../language-server/src/runners/places/remoteJobs.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { emptyResult } from '../../../../protocol/src/runner.ts';
import { createBlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { openRemoteLink } from '../../../support/openRemoteLink.ts';
import { putTree } from '../../../support/blobs.ts';
import { jobWith } from '../../../support/jobs.ts';
import { PlayedPlace } from '../../../support/playedPlace.ts';
import { openPlace, quickTimes, RememberedJobs, type TestPlace } from '../../../support/remotePlace.ts';
import { ServedProcess, SocketTransport } from '../../../support/servedRunner.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

const search = { looking: 'looking', notReached: 'not reached' };
const exited = emptyResult({ kind: 'exited', exitCode: 0 });
/** What fails is tried again after this, and one that does not end is passed by. */
const times = { ...quickTimes, longestRetryMs: 50 };

/** Some of its jobs can’t be taken up, as often as that says. */
class DamagedJobs extends RememberedJobs {
  readonly failures = new Map<string, number>();
  readonly tries: string[] = [];

  override takeUp(jobId: string): LeftJob | 'nobody' {
    this.tries.push(jobId);
    const left = this.failures.get(jobId) ?? 0;
    this.failures.set(jobId, left - 1);
    if (left > 0) throw new Error(`no form: ${jobId}`);
    return super.takeUp(jobId);
  }
}

function entry(jobId: string, state: 'queued' | 'running' | 'ended' = 'running') {
  return {
    ...{ jobId, cardId: 'card', engine: 'engine-of-tests', state },
    ...{ acceptedAt: 1, leaseMs: 1000, lastSeq: 0 },
  };
}

describe('what is left at a place', () => {
  const folder = useTemporaryFolder();
  const places: TestPlace[] = [];
  const open = (played: PlayedPlace, left: readonly string[], jobs = new DamagedJobs()): TestPlace => {
    const blobs = join(folder(), `blobs${places.length}`);
    mkdirSync(blobs);
    const place = openPlace(played, blobs, { jobs, times });
    for (const jobId of left) jobs.send(place.runner.id, jobWith({ jobId }));
    places.push(place);
    return place;
  };
  afterEach(async () => {
    for (const { runner } of places.splice(0)) await runner.dispose();
  });

  it('[PLACE-19] is taken up beside a job that fails, which is told and tried again', async () => {
    const played = new PlayedPlace({ 'journal/list': () => ['bad', 'good'].map((id) => entry(id)) });
    const jobs = new DamagedJobs();
    jobs.failures.set('bad', 2);
    const { runner, problems } = open(played, ['bad', 'good'], jobs);
    await runner.find?.(search);
    await until(() => jobs.taken.has('good'));
    await until(() => jobs.taken.has('bad'));
    assert.deepEqual(jobs.tries, ['bad', 'good', 'bad', 'bad']);
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', /^ssh:played: the job bad there .* no form: bad$/);
    assert.equal(played.opened.length, 1);
  });

  it('[PLACE-19] is tried three times and then at the next connection', async () => {
    const played = new PlayedPlace({ 'journal/list': () => [entry('bad')] });
    const jobs = new DamagedJobs();
    jobs.failures.set('bad', 4);
    const { runner, problems } = open(played, ['bad'], jobs);
    await runner.find?.(search);
    await until(() => jobs.tries.length === 3);
    assert.equal(problems.length, 1);
    runner.disconnect();
    await runner.find?.(search);
    await until(() => jobs.taken.has('bad'));
    assert.equal(jobs.tries.length, 5);
    assert.equal(problems.length, 2);
  });

  it('[PLACE-19] is asked for again where the journal could not be had', async () => {
    let asked = 0;
    const played = new PlayedPlace({
      'journal/list': () => {
        asked += 1;
        if (asked === 1) throw new UserError('timeout', 'busy');
        return [entry('left')];
      },
    });
    const { runner, jobs, problems } = open(played, ['left']);
    await runner.find?.(search);
    await until(() => jobs.taken.has('left'));
    assert.match(problems.join('\n'), /^ssh:played: what it holds .* busy$/);
    assert.equal(played.opened.length, 1);
  });

  it('[PLACE-19] that has ended and whose end does not come holds up no other', async () => {
    const all = ['stuck', 'next'];
    const played = new PlayedPlace({ 'journal/list': () => all.map((id) => entry(id, 'ended')) });
    const { runner, jobs } = open(played, all);
    await runner.find?.(search);
    await until(() => jobs.taken.has('next'));
    played.tell('next', 1, { kind: 'ended', result: exited });
    await until(() => jobs.adopted.length === 1);
    // It is still listened for.
    played.tell('stuck', 1, { kind: 'ended', result: exited });
    await until(() => jobs.adopted.length === 2);
  });

  it('[PLACE-20] and is not there is ended there before it is said that it did not run', async () => {
    const jobs = new DamagedJobs();
    const played = new PlayedPlace({
      'job/cancel': () => {
        assert.equal(jobs.adopted.length, 0);
        return { found: false };
      },
    });
    const { runner } = open(played, ['gone'], jobs);
    await runner.find?.(search);
    await until(() => jobs.rows.size === 0);
    assert.deepEqual(jobs.adopted, [{ jobId: 'gone', result: undefined, log: '' }]);
    assert.deepEqual(played.asked.slice(1, 4), ['journal/list', 'job/cancel', 'journal/list']);
  });

  it('[PLACE-20] and comes there while it is looked for is taken up', async () => {
    let isThere = false;
    const played = new PlayedPlace({
      'journal/list': () => (isThere ? [entry('late')] : []),
      'job/cancel': () => ((isThere = true), { found: true }),
    });
    const { runner, jobs } = open(played, ['late']);
    await runner.find?.(search);
    await until(() => jobs.taken.has('late'));
    assert.deepEqual(jobs.adopted, []);
  });

  it('[PLACE-20] is not said to have never run where it could still come', async () => {
    let failures = 2;
    const played = new PlayedPlace({
      'job/cancel': () => {
        if ((failures -= 1) >= 0) throw new UserError('timeout', 'busy');
        return { found: false };
      },
    });
    const { runner, jobs, problems } = open(played, ['gone']);
    await runner.find?.(search);
    await until(() => problems.length === 1);
    assert.deepEqual(jobs.adopted, []);
    await until(() => jobs.adopted.length === 1);
    assert.equal(played.asked.filter((each) => each === 'job/cancel').length, 3);
  });

  it('[PLACE-20] and is brought by an earlier connection after that does not run', async () => {
    const served = new ServedProcess(join(folder(), 'home'));
    await served.start();
    const transport = new SocketTransport(() => served.socket);
    const code = await putTree(served.store.folder, { 'main.sh': 'true' });
    try {
      const early = await openRemoteLink(await transport.open(), createBlobStore(join(folder(), 'early')));
      const bring = (jobId: string) =>
        early.channel.call('job/submit', { job: jobWith({ jobId, code }), afterSeq: 0 });
      const jobs = new DamagedJobs();
      mkdirSync(join(folder(), 'blobs'));
      const place = openPlace(new SocketTransport(() => served.socket), join(folder(), 'blobs'), { jobs });
      places.push(place);
      jobs.send(place.runner.id, jobWith({ jobId: 'late' }));
      await place.runner.find?.(search);
      await until(() => jobs.rows.size === 0);
      await assert.rejects(bring('late'), { code: 'conflict', message: /not run/ });
      // One that nobody said that of is taken (control).
      assert.deepEqual(await bring('other'), { kind: 'accepted' });
      assert.deepEqual(
        (await place.runner.held()).map(({ jobId }) => jobId),
        ['other'],
      );
    } finally {
      await transport.dispose();
      await served.stop('SIGKILL');
    }
  });
});
