import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createStdioTransport } from '../../../../language-server/src/runners/stdioTransport.ts';
import { Channel } from '../../../../protocol/src/channel.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { emptyResult, type JobResult, type JobSpec } from '../../../../protocol/src/runner.ts';
import {
  servedEvents,
  servedProtocolVersion,
  servedSide,
  streamOpenings,
  type JobEvent,
} from '../../../../protocol/src/servedRunner.ts';
import { createBlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { serveConnection } from '../../../../remote-agent/src/served/connection.ts';
import { EventLog } from '../../../../remote-agent/src/served/eventLog.ts';
import { Journal } from '../../../../remote-agent/src/served/journal.ts';
import type { JournalDisk } from '../../../../remote-agent/src/served/journalFile.ts';
import type { ServedRunner } from '../../../../remote-agent/src/served/servedRunner.ts';
import { ServedJobs, type JobMachine } from '../../../../remote-agent/src/served/servedJobs.ts';
import { putTree } from '../../../support/blobs.ts';
import { jobWith } from '../../../support/jobs.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

const never = new AbortController().signal;
const flow = { isCongested: false, whenClear: () => Promise.resolve() };
const exited = emptyResult({ kind: 'exited', exitCode: 0 });
const engine = 'an-engine';

describe('the jobs of a served runner', () => {
  const folder = useTemporaryFolder();
  const opened: Journal[] = [];
  afterEach(async () => {
    for (const journal of opened.splice(0)) await journal.close();
  });

  const open = (machine: JobMachine, disk?: JournalDisk) => {
    const events = join(folder(), 'events');
    mkdirSync(events, { recursive: true });
    const journal = new Journal(join(folder(), 'journal'), disk);
    opened.push(journal);
    const problems: string[] = [];
    const jobs = new ServedJobs({
      journal,
      store: createBlobStore(join(folder(), 'blobs')),
      eventsFolder: events,
      machine,
      sureTurns: 1,
      now: () => 1,
      onProblem: (doing, error) => problems.push(`${doing}: ${String(error)}`),
      onIdle: () => undefined,
    });
    return { jobs, journal, problems, events };
  };
  const spec = async (more: Partial<JobSpec> = {}): Promise<JobSpec> =>
    jobWith({ code: await putTree(join(folder(), 'blobs'), { 'main.sh': 'true\n' }), ...more });
  const ended = async (jobs: ServedJobs) => {
    await until(() => jobs.live === 0);
    await jobs.settled();
  };

  it('take none whose log can’t be made: nothing of it is in the journal [JRNL-03]', async () => {
    const { jobs, journal, events } = open({ run: async () => exited });
    const job = await spec();
    // Root writes anywhere: a folder stands where the log would.
    mkdirSync(join(events, job.jobId));
    chmodSync(events, 0o500);
    await assert.rejects(jobs.submit(job, engine, 60), UserError);
    chmodSync(events, 0o700);
    assert.equal(journal.jobs.size, 0);
    assert.equal(readFileSync(join(folder(), 'journal'), 'utf8'), '');
  });

  it('run once: what was ended and forgotten, or cancelled before it came, is not taken when it comes late [JRNL-01]', async () => {
    const ran: string[] = [];
    const { jobs } = open({ run: async ({ jobId }) => (ran.push(jobId), exited) });
    const job = await spec();
    await jobs.submit(job, engine, 60);
    await ended(jobs);
    assert.equal(await jobs.forget(job.jobId, engine), true);
    await assert.rejects(jobs.submit(job, engine, 60), { code: 'conflict' });
    assert.equal(jobs.cancel('late', engine), false);
    await assert.rejects(jobs.submit({ ...job, jobId: 'late' }, engine, 60), { code: 'conflict' });
    // Another engine says nothing about it.
    assert.equal(await jobs.submit({ ...job, jobId: 'late' }, 'another-engine', 60), undefined);
    await ended(jobs);
    assert.deepEqual(ran, [job.jobId, 'late']);
  });

  it('are refused for the reason that there is', async () => {
    const refuse = () => Promise.reject(new UserError('unsafe-path', 'Not here'));
    const { jobs, journal } = open({ run: refuse });
    const job = await spec();
    await jobs.submit(job, engine, 60);
    await ended(jobs);
    const { outcome } = journal.jobs.get(job.jobId)?.ended?.result ?? exited;
    assert.deepEqual(outcome, { kind: 'refused', code: 'unsafe-path', detail: 'Not here' });
  });

  it('have their ends in the journal when it is closed, however slow its disk is [JRNL-02]', async () => {
    const gate = Promise.withResolvers<undefined>();
    let isSlow = false;
    const { jobs, journal } = open(
      {
        run: (_job, signal) =>
          new Promise((resolve) =>
            signal.addEventListener('abort', () => resolve(emptyResult({ kind: 'cancelled' }))),
          ),
      },
      {
        write: async (descriptor, bytes, offset) => {
          if (isSlow) await gate.promise;
          return writeSync(descriptor, bytes, 0, bytes.length, offset);
        },
        sync: () => Promise.resolve(),
      },
    );
    await jobs.submit(await spec(), engine, 60);
    isSlow = true;
    jobs.stop();
    const closed = jobs.settled().then(() => journal.close());
    await nextTurn();
    gate.resolve(undefined);
    await closed;
    await journal.close();
    assert.match(
      readFileSync(join(folder(), 'journal'), 'utf8'),
      /"t":"ended".*the runner there was stopped/,
    );
    await assert.rejects(journal.forget('job-1'), { code: 'closed' });
  });

  it('tell whoever reads one that it is over when another has it forgotten, and nothing of another’s log', async () => {
    const run = Promise.withResolvers<JobResult>();
    const { jobs, problems } = open({ run: () => run.promise });
    const job = await spec();
    await jobs.submit(job, engine, 60);
    const clear = Promise.withResolvers<undefined>();
    const slow = { isCongested: true, whenClear: () => clear.promise };
    const heard: JobEvent['kind'][] = [];
    for (let at = 0; at < 3; at += 1)
      jobs.tell(job.jobId, { kind: 'log', stream: 'stdout', text: `${String(at).repeat(100_000)}\n` });
    jobs.follow(job.jobId, engine, 0, (_seq, { kind }) => heard.push(kind), slow, never);
    run.resolve(exited);
    await ended(jobs);
    await jobs.forget(job.jobId, engine);
    clear.resolve(undefined);
    await until(() => heard.includes('ended'));
    assert.deepEqual([heard, problems], [['log', 'ended'], []]);
  });

  it('leave nothing with a connection that outlives them', async () => {
    const { jobs } = open({ run: async () => exited });
    const job = await spec();
    await jobs.submit(job, engine, 60);
    await ended(jobs);
    const gone = new AbortController();
    const heard: string[] = [];
    jobs.follow(job.jobId, engine, 0, (_seq, { kind }) => heard.push(kind), flow, gone.signal);
    await until(() => heard.length > 0);
    assert.deepEqual([heard, getEventListeners(gone.signal, 'abort').length], [['ended'], 0]);
  });
});

describe('a connection', () => {
  it('goes on where a job that it has just sent again is forgotten over another one', async () => {
    const [here, there] = duplexPair();
    const jobs = {
      submit: () => Promise.resolve(undefined),
      has: () => false,
      follow: () => {
        throw new UserError('not-found', 'There is no such job');
      },
      list: () => [],
    };
    const runner = {
      ...{ jobs, parallel: 1, instance: () => 'a', freeBytes: () => 1 },
      leases: { renew: () => undefined, left: () => 1 },
      greeting: () =>
        Promise.resolve({
          ...{ version: '1', platform: 'linux', node: 'v24', interpreters: [] },
          isolation: { kind: 'bubblewrap', version: '1', checks: [], limits: 'cgroup' },
        }),
    };
    const problems: string[] = [];
    const served = serveConnection(there, runner as unknown as ServedRunner, (doing) => problems.push(doing));
    here.write(streamOpenings.control);
    const channel = new Channel(createStdioTransport(here, here), servedSide, {
      local: servedEvents,
      requestHandlers: { 'job/values': () => ({ values: [] }) },
      notificationHandlers: { 'job/event': () => undefined },
    });
    await channel.call('runner/greet', { protocol: servedProtocolVersion, engine, leaseSeconds: 60 });
    const answer = await channel.call('job/submit', { job: jobWith({}), afterSeq: 0 });
    assert.deepEqual(answer, { kind: 'accepted' });
    await nextTurn();
    assert.deepEqual(await channel.call('journal/list', {}), []);
    channel.close();
    here.destroy();
    await served;
    assert.deepEqual(problems, []);
  });
});

describe('a log that is closed', () => {
  const folder = useTemporaryFolder();

  it('takes nothing more: its descriptor may be another file’s', () => {
    const log = new EventLog(join(folder(), 'one'));
    log.close();
    const other = new EventLog(join(folder(), 'two'));
    log.append({ kind: 'started' });
    other.close();
    assert.deepEqual(
      readdirSync(folder()).map((name) => readFileSync(join(folder(), name), 'utf8')),
      ['', ''],
    );
  });
});
