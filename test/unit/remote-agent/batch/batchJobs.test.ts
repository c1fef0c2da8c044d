import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { JobSpec } from '../../../../protocol/src/runner.ts';
import type { JobEvent } from '../../../../protocol/src/servedRunner.ts';
import { BatchFolder } from '../../../../remote-agent/src/batch/batchFolder.ts';
import { BatchJobs, batchTimes } from '../../../../remote-agent/src/batch/batchJobs.ts';
import type {
  BatchRequest,
  BatchSystem,
  BatchTask,
  SubmitAnswer,
} from '../../../../remote-agent/src/batch/batchSystem.ts';
import type { AskValues } from '../../../../remote-agent/src/batch/valueCourier.ts';
import { emptyResult } from '../../../../protocol/src/runner.ts';
import { createBlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { EventLog } from '../../../../remote-agent/src/served/eventLog.ts';
import { putTree } from '../../../support/blobs.ts';
import { jobWith } from '../../../support/jobs.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

/** A batch system that does what a test says: another one than Slurm, behind the same interface. */
class FakeSystem implements BatchSystem {
  readonly title = 'Queue';
  readonly advice = { refused: 'Ask who runs it.', otherFolder: 'Name another folder.' };
  readonly chosen = '';
  readonly told = { index: '$1', task: '$2', restart: '$3' };
  readonly requests: BatchRequest[] = [];
  readonly cancelled: string[] = [];
  tasks: BatchTask[] = [];
  answer: SubmitAnswer = { kind: 'submitted', id: '7' };
  isAway = false;
  /** How often it was asked for states. */
  asked = 0;

  submit(request: BatchRequest): Promise<SubmitAnswer> {
    this.requests.push(request);
    return Promise.resolve(this.answer);
  }
  states(): Promise<BatchTask[]> {
    this.asked += 1;
    return this.isAway
      ? Promise.reject(new UserError('unreachable', 'The queue is away'))
      : Promise.resolve(this.tasks);
  }
  cancel(handles: readonly string[]): Promise<void> {
    this.cancelled.push(...handles);
    return Promise.resolve();
  }
  largestRequest(): Promise<number> {
    return Promise.resolve(1000);
  }
  /** The task of the newest request. */
  put(more: Partial<BatchTask> = {}): void {
    const name = this.requests.at(-1)?.name ?? '';
    this.tasks = [
      { name, index: 0, handle: '7', word: 'PENDING', reason: '', end: undefined, isRunning: false, ...more },
    ];
  }
}

describe('the jobs of a batch system', () => {
  const folder = useTemporaryFolder();
  let system: FakeSystem;
  let open: BatchJobs[] = [];
  let answer: AskValues;
  /** How much later it is than by the clock. */
  let laterMs = 0;
  beforeEach(() => {
    laterMs = 0;
    answer = () => Promise.reject(new UserError('not-found', 'Nobody gives values here'));
    system = new FakeSystem();
    open = [];
  });
  afterEach(() => Promise.all(open.map((jobs) => jobs.stop())));

  const shared = () => new BatchFolder(join(folder(), 'shared'), process.getuid?.() ?? -1);

  /** What the batch system does not know stays on its way for long, unless a test is about its end. */
  function create(
    settleMs = 30_000,
    onProblem: (error: unknown) => void = (error) => assert.fail(String(error)),
    quietMs = 10,
  ): BatchJobs {
    const home = shared();
    const jobs = new BatchJobs({
      folder: home,
      store: createBlobStore(home.blobs),
      system,
      engine: 'engine-a',
      expects: { platform: 'linux', interpreters: [] },
      largest: 1000,
      script: (name) => `script of ${name}`,
      times: { ...batchTimes, quietMs, longestMs: 100, lookMs: [5, 20], askMs: [5, 20], settleMs },
      now: () => Date.now() + laterMs,
      askValues: (...asked) => answer(...asked),
      onProblem: (_doing, error) => onProblem(error),
    });
    open.push(jobs);
    return jobs;
  }

  async function spec(jobId = 'job-1', more: Partial<JobSpec> = {}): Promise<JobSpec> {
    return jobWith({ jobId, code: await putTree(shared().blobs, { 'main.sh': 'true' }), ...more });
  }

  function hear(
    jobs: BatchJobs,
    jobId = 'job-1',
    afterSeq = 0,
  ): { events: JobEvent[]; texts: string[]; end: () => string | undefined } {
    const events: JobEvent[] = [];
    const texts: string[] = [];
    const flow = { isCongested: false, whenClear: () => Promise.resolve() };
    const tell = (_seq: number, event: JobEvent) => {
      if (event.kind === 'progress') texts.push(event.text);
      else events.push(event);
    };
    jobs.follow(jobId, { afterSeq, tell, flow }, new AbortController().signal);
    const end = () => {
      const last = events.at(-1);
      return last?.kind === 'ended' ? last.result.outcome.kind : undefined;
    };
    return { events, texts, end };
  }

  it('a file that can’t be read holds up no other job', async () => {
    const problems: unknown[] = [];
    const jobs = create(30_000, (error) => void problems.push(error));
    system.isAway = true;
    await Promise.all([jobs.submit(await spec('job-1')), jobs.submit(await spec('job-2'))]);
    mkdirSync(shared().runFile('job-1.result'));
    const result = emptyResult({ kind: 'exited', exitCode: 0 });
    shared().writeResult('job-2', { lastSeq: 0, result, killedForMemory: false });
    const other = hear(jobs, 'job-2');
    await until(() => other.end() === 'exited');
    assert.ok(problems.length > 0);
  });

  it('equal jobs that arrive together are one request, others another; each is accepted once [SLURM-10]', async () => {
    const jobs = create();
    const alike = await Promise.all(Array.from({ length: 20 }, (_, index) => spec(`job-${index}`)));
    const other = await spec('other', { limits: { ...jobWith({}).limits, memoryMB: 128 } });
    const answers = await Promise.all([...alike, other, ...alike].map((each) => jobs.submit(each)));
    assert.ok(answers.every((missing) => missing === undefined));
    await until(() => system.requests.length === 2);
    assert.deepEqual(
      system.requests.map(({ count }) => count).sort((a, b) => a - b),
      [1, 20],
    );
    await assert.rejects(jobs.submit(await spec('job-0', { params: '{"a":1}' })), { code: 'conflict' });
  });

  it('what is not there is asked for first, and what can’t be given is refused [SLURM-11]', async () => {
    const jobs = create();
    assert.deepEqual(await jobs.submit(jobWith({})), ['0'.repeat(64)]);
    const folders = {
      network: { kind: 'none' as const },
      hostFolders: [{ path: '/a', name: 'a', write: false }],
    };
    await assert.rejects(jobs.submit(await spec('job-2', { access: folders })), { code: 'unsafe-path' });
    assert.equal(system.requests.length, 0);
  });

  it('a job in the queue says why it waits; cancelled there it ends at once and can’t start any more [SLURM-04] [SLURM-05]', async () => {
    const jobs = create();
    await jobs.submit(await spec());
    await until(() => system.requests.length === 1);
    system.put({ reason: 'Resources' });
    const heard = hear(jobs);
    await until(() => heard.texts.some((text) => text.includes('Resources')));
    assert.ok(jobs.cancel('job-1'));
    await until(() => heard.end() === 'cancelled');
    assert.equal(shared().claimOf('job-1')?.by, 'login');
    assert.ok(jobs.forget('job-1'));
    await until(() => system.cancelled.includes('7'));
    await until(() => shared().submitNames().length === 0);
    assert.deepEqual([...shared().runFiles()], []);
  });

  it('an answer that came late: that the system does not know it yet is no end', async () => {
    system.answer = { kind: 'unsure', detail: 'silence' };
    const jobs = create(40);
    await jobs.submit(await spec());
    await until(() => system.requests.length === 1);
    system.answer = { kind: 'submitted', id: '7' };
    await until(() => system.requests.length === 2);
    system.put();
    const heard = hear(jobs);
    await until(() => heard.texts.some((text) => text.includes('queue')));
    assert.equal(heard.end(), undefined);
  });

  it('events are told once in order, after what was heard before, and the end last', async () => {
    const jobs = create();
    await jobs.submit(await spec());
    await until(() => system.requests.length === 1);
    system.put({ isRunning: true, word: 'RUNNING' });
    const home = shared();
    home.takeClaim('job-1', { by: 'node', task: '7_0', host: 'n' });
    const log = new EventLog(home.runFile('job-1.events'));
    for (const text of ['a', 'b', 'c']) log.append({ kind: 'log', stream: 'stdout', text });
    const heard = hear(jobs, 'job-1', 1);
    await until(() => heard.events.length === 2);
    log.append({ kind: 'log', stream: 'stdout', text: 'd' });
    const result = emptyResult({ kind: 'exited', exitCode: 0 });
    home.writeResult('job-1', { lastSeq: log.lastSeq, result, killedForMemory: false });
    log.close();
    await until(() => heard.end() === 'exited');
    assert.deepEqual(
      heard.events.map((event) => (event.kind === 'log' ? event.text : event.kind)),
      ['b', 'c', 'd', 'ended'],
    );
  });

  it('an answer that did not come: found by its name, it is not handed over again [SLURM-08]', async () => {
    system.answer = { kind: 'unsure', detail: 'silence' };
    const jobs = create();
    await jobs.submit(await spec());
    await until(() => system.requests.length === 1);
    system.put({ handle: '9' });
    await until(() => shared().submitId(system.requests[0]?.name ?? '') === '9');
    assert.equal(system.requests.length, 1);
  });

  it('an answer that did not come: not found for a while, it is handed over again under the same name [SLURM-08]', async () => {
    system.answer = { kind: 'unsure', detail: 'silence' };
    const jobs = create(40);
    await jobs.submit(await spec());
    await until(() => system.requests.length === 2);
    assert.equal(system.requests[0]?.name, system.requests[1]?.name);
  });

  it('while nobody answers everything waits [SLURM-06]', async () => {
    const jobs = create();
    await jobs.submit(await spec());
    system.isAway = true;
    const heard = hear(jobs);
    await until(() => heard.texts.some((text) => text.includes('The queue is away')));
    assert.equal(heard.end(), undefined);
    system.put({ end: 'timeout', word: 'TIMEOUT' });
    system.isAway = false;
    await until(() => heard.end() !== undefined);
  });

  it('another one goes on where this one ended, and forgets what is over [SLURM-12]', async () => {
    const first = create();
    await first.submit(await spec());
    await until(() => system.requests.length === 1);
    await first.stop();
    system.put({ end: 'node-lost', word: 'NODE_FAIL' });
    const second = create();
    assert.deepEqual(
      second.list().map(({ jobId, state }) => [jobId, state]),
      [['job-1', 'queued']],
    );
    const heard = hear(second);
    await until(() => heard.end() === 'refused');
    assert.ok(second.forget('job-1'));
    assert.deepEqual([...shared().runFiles()], []);
    assert.deepEqual(shared().submitNames(), []);
  });

  it('what the system refuses ends its jobs in its words [SLURM-03]', async () => {
    system.answer = { kind: 'refused', detail: 'no such partition' };
    const jobs = create();
    await jobs.submit(await spec());
    const heard = hear(jobs);
    await until(() => heard.end() === 'refused');
    assert.match(JSON.stringify(heard.events), /Queue refused it: no such partition/);
  });

  /** A job that has run on a node and ended well there, as the node says. */
  const endWell = async (more: { killedForMemory?: boolean } = {}): Promise<BatchJobs> => {
    const jobs = create();
    await jobs.submit(await spec());
    await until(() => system.requests.length === 1);
    system.put({ isRunning: true, word: 'RUNNING' });
    shared().takeClaim('job-1', { by: 'node', task: '7_0', host: 'n' });
    const result = emptyResult({ kind: 'exited', exitCode: 0 });
    shared().writeResult('job-1', { lastSeq: 0, result, ...more });
    return jobs;
  };

  for (const more of [{ killedForMemory: true }, {}])
    it(`the system’s word that memory ran out comes before an exit with 0: ${JSON.stringify(more)} [SLURM-21]`, async () => {
      const jobs = await endWell(more);
      const heard = hear(jobs);
      const { asked } = system;
      // It runs still, by the system's word: that is no end yet.
      await until(() => system.asked >= asked + 2);
      assert.equal(heard.end(), undefined);
      system.put({ end: 'memory', word: 'OUT_OF_MEMORY' });
      await until(() => heard.end() === 'limit');
      assert.match(JSON.stringify(heard.events), /OUT_OF_MEMORY/);
    });

  it('an exit with 0 stands where the system says so too, or says nothing for half a minute [SLURM-21]', async () => {
    const jobs = await endWell();
    system.put({ end: 'completed', word: 'COMPLETED' });
    const heard = hear(jobs);
    await until(() => heard.end() === 'exited');
    system.isAway = true;
    const other = { lastSeq: 0, result: emptyResult({ kind: 'exited', exitCode: 0 }) };
    await jobs.submit(await spec('job-2'));
    shared().writeResult('job-2', other);
    const silent = hear(jobs, 'job-2');
    await until(() => silent.texts.some((text) => text.includes('away')));
    assert.equal(silent.end(), undefined);
    await until(() => ((laterMs += 31_000), silent.end() === 'exited'));
  });

  it('what the node counted stands where the system says nothing for half a minute [SLURM-21]', async () => {
    const jobs = await endWell({ killedForMemory: true });
    system.isAway = true;
    const heard = hear(jobs);
    const { asked } = system;
    await until(() => system.asked > asked);
    assert.equal(heard.end(), undefined);
    await until(() => ((laterMs += 31_000), heard.end() === 'limit'));
  });

  it('where the node knows that memory did not run out nobody is asked [SLURM-21]', async () => {
    const jobs = await endWell({ killedForMemory: false });
    system.isAway = true;
    const heard = hear(jobs);
    await until(() => heard.end() === 'exited');
  });

  it('a job that was cancelled before it came is not taken when it comes late, by no connection [SLURM-14]', async () => {
    const [early, jobs] = [create(), create()];
    assert.equal(jobs.cancel('job-1'), false);
    for (const each of [jobs, early])
      await assert.rejects(each.submit(await spec()), { code: 'conflict', message: /not run/ });
    assert.deepEqual(shared().submitNames(), []);
    assert.equal(shared().claimOf('job-1')?.by, 'login');
    // Another one comes as ever (control).
    assert.equal(await early.submit(await spec('job-2')), undefined);
  });

  it('a job that an earlier connection brings late is seen by the next one, which ends it', async () => {
    const [early, jobs] = [create(), create()];
    assert.deepEqual(jobs.list(), []);
    await early.submit(await spec());
    assert.deepEqual(
      jobs.list().map(({ jobId }) => jobId),
      ['job-1'],
    );
    await early.submit(await spec('job-2'));
    assert.ok(jobs.cancel('job-2'));
    assert.equal(shared().resultOf('job-2')?.result.outcome.kind, 'cancelled');
  });

  it('a job that is cancelled while others are waited for is not handed over', async () => {
    const jobs = create(30_000, undefined, 50);
    const submitted = jobs.submit(await spec());
    const refused = assert.rejects(submitted, { code: 'conflict' });
    assert.ok(jobs.cancel('job-1'));
    await refused;
    assert.deepEqual([...shared().runFiles()], []);
    assert.equal(system.requests.length, 0);
  });

  it('what keeps late jobs from running goes when none can come any more', () => {
    const home = shared();
    for (const jobId of ['known', 'old']) home.takeClaim(jobId, { by: 'login', task: '', host: 'h' });
    home.removeClaims(new Set(), Date.now() - 60_000);
    assert.deepEqual([...home.runFiles()].sort(), ['known.claim', 'old.claim']);
    home.removeClaims(new Set(['known']), Date.now() + 60_000);
    assert.deepEqual([...home.runFiles()], ['known.claim']);
  });
});
