import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CardJob } from '../../../../language-server/src/runners/cardRunner.ts';
import { openRemoteLink } from '../../../support/openRemoteLink.ts';
import { putBlob, putTree } from '../../../support/blobs.ts';
import { jobWith } from '../../../support/jobs.ts';
import { longSleep } from '../../../support/longSleep.ts';
import {
  Heard,
  openPlace,
  quickTimes,
  RememberedJobs,
  type TestPlace,
} from '../../../support/remotePlace.ts';
import { ServedProcess, SocketTransport } from '../../../support/servedRunner.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

const never = new AbortController().signal;

describe('a card on a served runner', () => {
  const folder = useTemporaryFolder();
  let served: ServedProcess;
  let transport: SocketTransport;
  let place: TestPlace;
  const places: TestPlace[] = [];
  let jobs = 0;

  const open = (more: Parameters<typeof openPlace>[2] = {}) => {
    transport = new SocketTransport(() => served.socket);
    place = openPlace(transport, join(folder(), 'blobs'), more);
    places.push(place);
    return place;
  };
  const jobOf = async (script: string, more: Partial<CardJob> = {}): Promise<CardJob> => {
    const code = await putTree(place.blobs.folder, { 'main.sh': script });
    return { ...jobWith({ jobId: `job-${(jobs += 1)}`, code }), ...more };
  };
  const text = { port: 'text', type: 'text', optional: false } as const;

  beforeEach(async () => {
    mkdirSync(join(folder(), 'there'));
    served = new ServedProcess(join(folder(), 'there/home'));
    await served.start();
    open();
  });
  afterEach(async () => {
    for (const each of places.splice(0)) await each.runner.dispose();
    await served.stop('SIGKILL');
  });

  it('runs, streams its log, and brings its outputs back by content [PLACE-01]', async () => {
    const input = await putBlob(place.blobs.folder, 'from here\n');
    const heard = new Heard();
    const job = await jobOf('echo one; echo two >&2; cat $SALLYPORT_INPUTS/in > $SALLYPORT_OUTPUTS/text', {
      inputs: [{ port: 'in', type: 'text', artifact: input }],
      outputs: [text],
    });
    const result = await place.runner.run(job, heard, never);
    assert.deepEqual(result.outcome, { kind: 'exited', exitCode: 0 });
    assert.equal(heard.stdout, 'one\n');
    assert.equal(heard.stderr, 'two\n');
    assert.equal(heard.starts, 1);
    assert.equal(result.isolation, 'bubblewrap');
    assert.deepEqual(result.outputs['text'], input);
    assert.deepEqual(place.problems, []);
  });

  it('sends what it has sent before no more [PLACE-02]', async () => {
    const input = await putBlob(place.blobs.folder, Buffer.alloc(8 * 1024 * 1024, 7));
    const sent: number[] = [];
    for (const round of [0, 1]) {
      let bytes = 0;
      transport.cutAt = (_socket, sentBytes) => ((bytes = Math.max(bytes, sentBytes)), false);
      place.runner.disconnect();
      const job = await jobOf(`echo ${round}; wc -c < $SALLYPORT_INPUTS/in`, {
        inputs: [{ port: 'in', type: 'file', artifact: input }],
      });
      const { outcome } = await place.runner.run(job, new Heard(), never);
      assert.deepEqual(outcome, { kind: 'exited', exitCode: 0 });
      sent.push(bytes);
    }
    assert.ok(
      (sent[0] ?? 0) > 7 * 1024 * 1024 && (sent[1] ?? Infinity) < 64 * 1024,
      `sent ${sent.join(', ')}`,
    );
  });

  it('goes on there while the connection is lost, and tells every line once [PLACE-03]', async () => {
    const heard = new Heard();
    const lines = 60;
    const cuts = [5, 20, 40].map((after) => ({ after, nap: longSleep() }));
    // It goes on by itself to where the next cut is, so that lines come before, while and after one is made.
    const naps = cuts.map(({ after, nap }) => `[ $i = ${after + 10} ] && ${nap.command}`).join('; ');
    const job = await jobOf(
      `echo run >> $SALLYPORT_OUTPUTS/text; for i in $(seq ${lines}); do echo line $i; ${naps}; sleep 0.02; done`,
      { outputs: [text] },
    );
    const running = place.runner.run(job, heard, never);
    for (const { after, nap } of cuts) {
      await until(() => heard.stdout.split('\n').length > after);
      transport.cut();
      await nap.wake();
    }
    const result = await running;
    assert.deepEqual(result.outcome, { kind: 'exited', exitCode: 0 });
    assert.equal(heard.stdout, Array.from({ length: lines }, (_, i) => `line ${i + 1}\n`).join(''));
    assert.equal(place.blobs.readBytes(result.outputs['text']?.digest ?? '').toString(), 'run\n');
    assert.ok(transport.opens >= 4);
  });

  it('is accepted once though the answer is lost, and runs once [PLACE-03]', async () => {
    const job = await jobOf('echo here');
    // The connection is cut at every number of writes in turn, so also right after the submit went out.
    for (let cutAfter = 1; cutAfter < 8; cutAfter += 1) {
      let writes = 0;
      transport.cutAt = () => (writes += 1) > cutAfter && writes <= cutAfter + 1;
      place.runner.disconnect();
      const heard = new Heard();
      const each = { ...job, jobId: `cut-${cutAfter}` };
      const result = await place.runner.run(each, heard, never);
      assert.deepEqual(result.outcome, { kind: 'exited', exitCode: 0 }, `cut after ${cutAfter} writes`);
      assert.equal(heard.stdout, 'here\n');
    }
  });

  it('is cancelled there [PLACE-04]', async () => {
    const heard = new Heard();
    const stop = new AbortController();
    const running = place.runner.run(await jobOf('echo up; sleep 600'), heard, stop.signal);
    await until(() => heard.stdout === 'up\n');
    stop.abort();
    assert.deepEqual((await running).outcome, { kind: 'cancelled' });
  });

  it('is unknown only while nobody can be asked: cancelled without a connection, ended at the next one [PLACE-04]', async () => {
    const heard = new Heard();
    const stop = new AbortController();
    const job = await jobOf('echo up; sleep 600');
    const running = place.runner.run(job, heard, stop.signal);
    await until(() => heard.stdout === 'up\n');
    transport.isDown = true;
    transport.cut();
    stop.abort();
    assert.equal((await running).outcome.kind, 'unknown');
    transport.isDown = false;
    await place.runner.ready();
    await until(() => place.jobs.adopted.length === 1);
    assert.equal(place.jobs.adopted[0]?.result?.outcome.kind, 'cancelled');
    await until(() => place.jobs.rows.size === 0);
    assert.deepEqual(await place.runner.held(), []);
  });

  it('survives its engine: the next one fetches the result and the whole log, once [PLACE-05]', async () => {
    const heard = new Heard();
    const nap = longSleep();
    const job = await jobOf(`echo begin; ${nap.command}; echo end; echo out > $SALLYPORT_OUTPUTS/text`, {
      outputs: [text],
    });
    const lost = place.runner.run(job, heard, never);
    await until(() => heard.stdout === 'begin\n');
    // The engine is gone from one moment to the next: nobody hears the rest.
    const { jobs: remembered } = place;
    await place.runner.dispose();
    assert.equal((await lost).outcome.kind, 'unknown');
    await nap.wake();
    const next = open({ jobs: remembered });
    await until(async () => {
      next.runner.disconnect();
      await next.runner.ready();
      return remembered.adopted.length > 0;
    });
    assert.equal(remembered.adopted.length, 1);
    const adopted = remembered.adopted[0];
    assert.equal(adopted?.log, 'begin\nend\n');
    assert.deepEqual(adopted.result?.outcome, { kind: 'exited', exitCode: 0 });
    const digest = adopted.result.outputs['text']?.digest ?? '';
    assert.equal(next.blobs.readBytes(digest).toString(), 'out\n');
    // The look above may have cut what follows a result; the next connection does it.
    next.runner.disconnect();
    await next.runner.ready();
    await until(() => remembered.rows.size === 0);
    assert.deepEqual(await next.runner.held(), []);
  });

  it('keeps a result over a kill of the runner there [PLACE-05]', async () => {
    const job = await jobOf('echo out > $SALLYPORT_OUTPUTS/text', { outputs: [text] });
    const { outcome } = await place.runner.run(job, new Heard(), never);
    assert.equal(outcome.kind, 'exited');
    await served.stop('SIGKILL');
    await served.start();
    const again = new Heard();
    // The same job again is the same job: its result is read from the journal, nothing runs.
    const result = await place.runner.run(job, again, never);
    assert.deepEqual(result.outcome, { kind: 'exited', exitCode: 0 });
    assert.equal(again.starts, 1);
  });

  it('says that a card’s end was not seen where the runner there was killed under it, and does not run it again [PLACE-05]', async () => {
    const heard = new Heard();
    const job = await jobOf('echo up; sleep 600');
    const running = place.runner.run(job, heard, never);
    await until(() => heard.stdout === 'up\n');
    await served.stop('SIGKILL');
    await served.start();
    const { outcome } = await running;
    assert.equal(outcome.kind, 'unknown');
    assert.equal(heard.starts, 1);
  });

  for (const forgets of [true, false]) {
    it(`${forgets ? 'does not run' : 'would else run'} a card anew where another runner knows nothing of it [PLACE-05]`, async () => {
      transport.forgets = forgets;
      const heard = new Heard();
      const running = place.runner.run(await jobOf('echo up; sleep 600'), heard, never);
      await until(() => heard.stdout === 'up\n');
      await served.stop('SIGKILL');
      rmSync(served.home, { recursive: true });
      await served.start();
      if (forgets) assert.equal((await running).outcome.kind, 'unknown');
      await until(async () => (await place.runner.held()).length === (forgets ? 0 : 1));
    });
  }

  it('runs what was accepted and had not started when the runner there was killed [PLACE-05]', async () => {
    await served.stop();
    served = new ServedProcess(join(folder(), 'there/home'), 1);
    await served.start();
    const first = new Heard();
    const second = new Heard();
    const busy = place.runner.run(await jobOf('echo up; sleep 600'), first, never);
    await until(() => first.stdout === 'up\n');
    const waiting = place.runner.run(await jobOf('echo mine'), second, never);
    await until(async () => (await place.runner.held()).length === 2);
    await served.stop('SIGKILL');
    await served.start();
    assert.equal((await busy).outcome.kind, 'unknown');
    assert.deepEqual((await waiting).outcome, { kind: 'exited', exitCode: 0 });
    assert.equal(second.stdout, 'mine\n');
    assert.equal(second.starts, 1);
  });

  it('ends when its engine was not heard of for as long as it asked [PLACE-06]', async () => {
    const short = open({ times: { ...quickTimes, leaseSeconds: 6, heartbeatMs: 1500 } });
    const heard = new Heard();
    const kept = new Heard();
    const job = await jobOf('echo up; sleep 600');
    // Control: the same time passes with heartbeats, and the card goes on.
    const stop = new AbortController();
    const alive = short.runner.run(await jobOf('echo up; sleep 600'), kept, stop.signal);
    const running = short.runner.run(job, heard, never);
    await until(() => heard.stdout === 'up\n' && kept.stdout === 'up\n');
    const leasesLater = performance.now() + 6500;
    await until(() => performance.now() > leasesLater);
    assert.equal((await short.runner.held()).filter(({ state }) => state === 'running').length, 2);
    stop.abort();
    assert.equal((await alive).outcome.kind, 'cancelled');
    const { jobs: remembered } = short;
    await short.runner.dispose();
    await running;
    const next = open({ jobs: remembered });
    await until(() => journalOf(served).includes('"kind":"cancelled","detail"'));
    await next.runner.ready();
    await until(() => remembered.adopted.some(({ jobId }) => jobId === job.jobId));
    const outcome = remembered.adopted.find(({ jobId }) => jobId === job.jobId)?.result?.outcome;
    assert.ok(outcome?.kind === 'cancelled' && /lease/.test(outcome.detail ?? ''), JSON.stringify(outcome));
  });

  it('shows what is held there and lets a person end it [PLACE-07]', async () => {
    const heard = new Heard();
    const job = await jobOf('echo up; sleep 600');
    const lost = place.runner.run(job, heard, never);
    await until(() => heard.stdout === 'up\n');
    await place.runner.dispose();
    await lost;
    const next = open({ jobs: new RememberedJobs() });
    const held = await next.runner.held();
    assert.deepEqual(
      held.map(({ jobId, cardId, state, known }) => ({ jobId, cardId, state, known })),
      [{ jobId: job.jobId, cardId: 'card', state: 'running', known: false }],
    );
    assert.equal(await next.runner.release(undefined), 1);
    assert.deepEqual(await next.runner.held(), []);
  });

  it('stores the end of what a person ends there, as of any card that an earlier engine left [PLACE-07]', async () => {
    const heard = new Heard();
    const job = await jobOf('echo up; sleep 600');
    const lost = place.runner.run(job, heard, never);
    await until(() => heard.stdout === 'up\n');
    const { jobs } = place;
    await place.runner.dispose();
    await lost;
    const next = open({ jobs });
    assert.equal(await next.runner.release([job.jobId]), 1);
    await until(() => jobs.rows.size === 0);
    assert.deepEqual(
      jobs.adopted.map(({ jobId, result, log }) => [jobId, result?.outcome.kind, log]),
      [[job.jobId, 'cancelled', 'up\n']],
    );
    assert.deepEqual(await next.runner.held(), []);
    assert.deepEqual(next.problems, []);
  });

  it('was cancelled, where its cancel came there before it [PLACE-07]', async () => {
    const job = await jobOf('echo mine');
    await place.runner.ready();
    const early = await openRemoteLink(await transport.open(), place.blobs);
    assert.deepEqual(await early.channel.call('job/cancel', { jobId: job.jobId }), { found: false });
    early.close('it has said what it had to say');
    // Control: nobody has cancelled it here.
    const refused = await place.runner.run(job, new Heard(), never);
    assert.match(JSON.stringify(refused.outcome), /refused.*was ended here/);
    const stop = new AbortController();
    const events = new Heard();
    const { runner, jobs: remembered } = open();
    // When it is on its way.
    transport.cutAt = () => {
      if (remembered.rows.has(job.jobId)) stop.abort();
      return false;
    };
    await runner.ready();
    const { outcome } = await runner.run(job, events, stop.signal);
    assert.deepEqual([outcome.kind, events.starts], ['cancelled', 0]);
  });

  it('forgets once what two forget at once [PLACE-07]', async () => {
    const job = await jobOf('echo mine');
    await place.runner.run(job, new Heard(), never);
    const { runner, jobs: remembered } = place;
    remembered.rows.clear();
    assert.deepEqual(await Promise.all([runner.release([job.jobId]), runner.release([job.jobId])]), [1, 1]);
    assert.deepEqual(await runner.held(), []);
  });

  it('leaves a result there that another engine of this home is yet to fetch [PLACE-07]', async () => {
    const job = await jobOf('echo mine');
    await place.runner.run(job, new Heard(), never);
    // To the engine that is opened, nothing of it is left: another looks after it.
    class Others extends RememberedJobs {
      override left = () => [];
      override knows = () => true;
    }
    const next = open({ jobs: new Others() });
    assert.equal(await next.runner.release([job.jobId]), 1);
    assert.equal((await next.runner.held()).length, 1);
  });

  it('is nobody else’s: another engine sees no job of this one [PLACE-07]', async () => {
    const job = await jobOf('echo mine');
    await place.runner.run(job, new Heard(), never);
    const other = open({ engine: 'another-engine' });
    assert.deepEqual(await other.runner.held(), []);
    const { outcome } = await other.runner.run(job, new Heard(), never);
    assert.ok(outcome.kind === 'refused' && /Another job/.test(outcome.detail));
  });

  it('refuses outputs that are more than was allowed, or other bytes than was said [PLACE-08]', async () => {
    const job = await jobOf('echo out > $SALLYPORT_OUTPUTS/text', { outputs: [text] });
    place.blobs.sweep(0);
    const { outputs } = await place.runner.run(job, new Heard(), never);
    const digest = outputs['text']?.digest ?? '';
    writeFileSync(served.store.pathOf(digest), 'OUT\n');
    place.blobs.remove(digest);
    await assert.rejects(place.runner.run(job, new Heard(), never), { code: 'store-damaged' });
    assert.equal(place.blobs.has(digest), false);
  });
});

function journalOf(served: ServedProcess): string {
  return readFileSync(join(served.home, 'journal'), 'utf8');
}
