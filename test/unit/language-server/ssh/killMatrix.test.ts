import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CardJob } from '../../../../language-server/src/runners/cardRunner.ts';
import type { JobResult } from '../../../../protocol/src/runner.ts';
import { createBlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { putTree } from '../../../support/blobs.ts';
import { bundledRunner } from '../../../support/bundledRunner.ts';
import { jobWith } from '../../../support/jobs.ts';
import { KeptJobs } from '../../../support/keptJobs.ts';
import type { KillableEngine } from '../../../support/killableEngine.ts';
import { Heard, openPlace, quickTimes, type TestPlace } from '../../../support/remotePlace.ts';
import { removeHost, SshHost } from '../../../support/sshHost.ts';
import { hasSshd, sshParts } from '../../../support/sshPlace.ts';
import { jobSteps, steppedTransport, type JobStep } from '../../../support/steppedTransport.ts';
import { until } from '../../../support/until.ts';

const never = new AbortController().signal;
const engineProgram = join(import.meta.dirname, '../../../support/killableEngine.ts');

/** Each process that a card over SSH hangs on. The keeper is bubblewrap, which holds the card over there. */
type Victim = 'engine' | 'sshd' | 'runner' | 'keeper';

/**
 * How the card may have ended: with its outputs, unseen, refused because it could not be started, or (none) never
 * accepted, so that nothing ran. Where several are named, the kill races with the start of the program.
 */
const outcomes: Readonly<Record<Victim, Readonly<Record<JobStep, readonly string[]>>>> = {
  engine: {
    sending: ['none'],
    accepted: ['exited'],
    started: ['exited'],
    ended: ['exited'],
    fetching: ['exited'],
    settled: ['exited'],
  },
  sshd: {
    sending: ['exited'],
    accepted: ['exited'],
    started: ['exited'],
    ended: ['exited'],
    fetching: ['exited'],
    settled: ['exited'],
  },
  runner: {
    sending: ['exited'],
    accepted: ['exited', 'unknown'],
    started: ['unknown'],
    ended: ['exited'],
    fetching: ['exited'],
    settled: ['exited'],
  },
  keeper: {
    sending: ['exited'],
    accepted: ['exited', 'refused', 'unknown'],
    started: ['unknown'],
    ended: ['exited'],
    fetching: ['exited'],
    settled: ['exited'],
  },
};

/** Says which run it is, stays a while, and leaves what takes more than one packet to fetch. */
const script = (seconds: number) => `run=$(cat /proc/sys/kernel/random/uuid); echo $run; sleep ${seconds}
{ echo $run; head -c 300000 /dev/urandom; } > $SALLYPORT_OUTPUTS/out`;
/** A card that is to die while it runs must not have ended before this computer has heard that it started. */
const stay = (victim: Victim, step: JobStep) =>
  step === 'started' && (victim === 'runner' || victim === 'keeper') ? 600 : 0.3;

describe('kill -9 of each process at each step of a card over SSH', () => {
  let folder = '';
  let host: SshHost;
  let count = 0;
  const places: TestPlace[] = [];

  before(async function () {
    if (!hasSshd) {
      console.log('No sshd here: install openssh-server to run these.');
      this.skip();
    }
    folder = mkdtempSync(join(tmpdir(), 'sallyport-kill-'));
    host = new SshHost({ folder: join(folder, 'host') });
    await host.start();
  });
  afterEach(async () => {
    for (const place of places.splice(0)) await place.runner.dispose();
  });
  after(async () => {
    if (folder === '') return;
    await removeHost(host);
    rmSync(folder, { recursive: true, force: true });
  });

  const open = (jobs: KeptJobs, at: (step: JobStep) => void = () => undefined): TestPlace => {
    const parts = sshParts({
      folder: join(folder, 'here'),
      config: host.configBlock('lab'),
      known: host.knownLine(),
    });
    const place = openPlace(steppedTransport(parts.transport('lab'), at), join(folder, 'blobs'), {
      times: quickTimes,
      jobs,
    });
    places.push(place);
    return place;
  };

  /** Code of its own for each job, so that each has something to copy. */
  const newJob = async (seconds: number): Promise<CardJob> => {
    const jobId = `kill-${(count += 1)}`;
    const code = await putTree(createBlobStore(join(folder, 'blobs')).folder, {
      'main.sh': `${script(seconds)} # ${jobId}`,
    });
    return { ...jobWith({ jobId, code }), outputs: [{ port: 'out', type: 'file', optional: false }] };
  };

  const kill: Readonly<Record<Exclude<Victim, 'engine'>, () => void>> = {
    sshd: () => host.signalSessions('SIGKILL'),
    runner: () => host.killRunner(),
    keeper: () => {
      for (const pid of host.runnerPids().flatMap(childrenOf)) process.kill(pid, 'SIGKILL');
    },
  };

  for (const victim of Object.keys(outcomes) as Victim[])
    for (const step of jobSteps)
      it(`${victim}, ${step}: nothing is lost, nothing runs twice, nothing stays there [PLACE-16]`, async () => {
        const job = await newJob(stay(victim, step));
        const path = join(folder, 'jobs');
        rmSync(path, { force: true });
        const end =
          victim === 'engine' ? await withoutEngine(job, step, path) : await without(victim, job, step, path);
        const kind = end.result?.outcome.kind ?? 'none';
        assert.ok(outcomes[victim][step].includes(kind), `${kind}: ${JSON.stringify(end.result?.outcome)}`);
        const runs = end.log.trim().split('\n').filter(Boolean);
        assert.ok(runs.length <= 1, `it ran ${runs.length} times`);
        if (kind !== 'exited') return;
        assert.equal(runs.length, 1);
        const out = end.result?.outputs['out'];
        assert.ok(out);
        const bytes = end.place.blobs.readBytes(out.digest).toString('latin1');
        assert.equal(bytes.slice(0, bytes.indexOf('\n')), runs[0]);
      });

  interface End {
    readonly place: TestPlace;
    readonly result: JobResult | undefined;
    readonly log: string;
  }

  /** The engine lives on: it hears the end itself. */
  async function without(
    victim: Exclude<Victim, 'engine'>,
    job: CardJob,
    step: JobStep,
    path: string,
  ): Promise<End> {
    let kills = 0;
    const at = (reached: JobStep) => {
      if (reached === step && kills++ === 0) kill[victim]();
    };
    const jobs = new KeptJobs(path);
    const place = open(jobs, at);
    const heard = new Heard();
    const result = await place.runner.run(job, heard, never);
    jobs.settle(job.jobId);
    at('settled');
    place.runner.settled?.(job.jobId);
    assert.ok(kills > 0, `it never came to “${step}”`);
    assert.ok(heard.starts <= 1, `it started ${heard.starts} times`);
    await nothingHeld(job, place, jobs);
    assert.deepEqual(jobs.adopted, []);
    return { place, result, log: heard.stdout };
  }

  /** The next engine finds what the killed one remembered. */
  async function withoutEngine(job: CardJob, step: JobStep, path: string): Promise<End> {
    const setup: KillableEngine = {
      folder,
      known: host.knownLine(),
      config: host.configBlock('lab'),
      program: bundledRunner(),
      job,
      step,
    };
    const child = spawn(process.execPath, [engineProgram, JSON.stringify(setup)], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
    assert.equal(signal, 'SIGKILL');
    const jobs = new KeptJobs(path);
    const place = open(jobs);
    await nothingHeld(job, place, jobs);
    if (step !== 'settled') {
      assert.equal(jobs.adopted.length, 1);
      return { place, result: jobs.adopted[0]?.result, log: jobs.adopted[0]?.log ?? '' };
    }
    // The killed engine had stored the result; the next one takes nothing a second time.
    assert.deepEqual(jobs.adopted, []);
    return { place, ...storedBefore(place) };
  }

  /** What lies in the store since the job, told as its result. */
  function storedBefore(place: TestPlace): Omit<End, 'place'> {
    const outputs = [...place.blobs.list()].filter(({ sizeBytes }) => sizeBytes === 300_037);
    const text = outputs.map(({ digest }) => place.blobs.readBytes(digest).toString('latin1'));
    const newest = outputs.at(-1);
    assert.ok(newest && text.length > 0);
    const result = { outcome: { kind: 'exited', exitCode: 0 }, outputs: { out: { ...newest } } };
    return { result: result as unknown as JobResult, log: text.at(-1)?.slice(0, 37) ?? '' };
  }

  async function nothingHeld(job: CardJob, place: TestPlace, jobs: KeptJobs): Promise<void> {
    // A job that still ran when a connection was made is asked about at the next one.
    await until(async () => {
      await place.runner.ready().catch(() => undefined);
      await until(() => jobs.rows.size === 0, 10_000).catch(() => place.runner.disconnect());
      return jobs.rows.size === 0;
    });
    const held = await place.runner.held();
    assert.deepEqual(
      held.filter(({ jobId }) => jobId === job.jobId),
      [],
    );
    assert.equal(existsSync(join(host.home, '.sallyport/runner/events', job.jobId)), false);
  }
});

/** The sandboxes that a runner holds, those that wait included. */
function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}
