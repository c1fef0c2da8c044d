import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { JobResult } from '../../../protocol/src/runner.ts';
import { putTree } from '../../support/blobs.ts';
import { jobWith } from '../../support/jobs.ts';
import { openPlaceEngine } from '../../support/placeEngine.ts';
import { longSleep, type LongSleep } from '../../support/longSleep.ts';
import { writeProject } from '../../support/projectFolder.ts';
import { Heard, type TestPlace } from '../../support/remotePlace.ts';
import { hasSlurm } from '../../support/slurmCluster.ts';
import { SlurmRig } from '../../support/slurmRig.ts';
import { hasSshd } from '../../support/sshPlace.ts';
import { never, statesOf } from '../../support/testEngine.ts';
import { until } from '../../support/until.ts';

/** What is killed. Each card has an engine, a connection and a program on the login node of its own. */
const victims = ['engine', 'connection', 'login node', 'controller'] as const;
type Victim = (typeof victims)[number];

interface Step {
  readonly name: string;
  /** True where each card waits between its two lines until it is woken. */
  readonly isLong?: true;
  /** Makes what was asked for stop here, and lets it go on. */
  readonly hold: (rig: SlurmRig) => unknown;
  readonly free: (rig: SlurmRig) => unknown;
  /** True when a card has come so far. */
  readonly isThere: (card: Card, rig: SlurmRig) => boolean | Promise<boolean>;
}

interface Ready {
  readonly victim: Victim;
  readonly engine: string;
  readonly jobId: string;
  readonly place: TestPlace;
  /** The program on the login node that serves this card's engine. */
  readonly helper: number;
}

interface Card extends Ready {
  readonly heard: Heard;
  readonly result: Promise<JobResult>;
  readonly sleep: LongSleep;
}

const node = (state: string) => (rig: SlurmRig) =>
  rig.cluster.run(
    'scontrol',
    'update',
    `NodeName=${hostname().split('.')[0]}`,
    `State=${state}`,
    'Reason=test',
  );
const nothing = () => undefined;
const folderOf = (rig: SlurmRig) => join(rig.host.home, '.sallyport', 'slurm');
const namesIn = (rig: SlurmRig, folder: string) => readdirSync(join(folderOf(rig), folder));

/** The request that a job is in, by its name. */
function requestOf(rig: SlurmRig, { jobId }: Card): string | undefined {
  const file = namesIn(rig, 'submits').find(
    (name) =>
      name.endsWith('.jobs') &&
      readFileSync(join(folderOf(rig), 'submits', name), 'utf8').includes(`"${jobId}"`),
  );
  return file?.slice(0, -'.jobs'.length);
}

const isKnown = async (card: Card, rig: SlurmRig) => {
  const name = requestOf(rig, card);
  return name !== undefined && (await rig.cluster.jobs()).some((job) => job.name === name);
};

const steps: readonly Step[] = [
  {
    name: 'it was accepted and not handed over',
    hold: (rig) => writeFileSync(rig.heldBefore, ''),
    free: (rig) => rmSync(rig.heldBefore),
    isThere: (card, rig) => requestOf(rig, card) !== undefined,
  },
  {
    name: 'it was handed over and nobody heard so',
    hold: (rig) => writeFileSync(rig.held, ''),
    free: (rig) => rmSync(rig.held),
    isThere: isKnown,
  },
  { name: 'it is in the queue', hold: node('DRAIN'), free: node('RESUME'), isThere: isKnown },
  {
    name: 'it runs',
    isLong: true,
    hold: nothing,
    free: nothing,
    isThere: ({ heard }) => heard.stdout === 'on\n',
  },
  {
    name: 'it has ended and nobody heard so',
    isLong: true,
    hold: (rig) => rig.host.child?.kill('SIGSTOP'),
    free: (rig) => {
      rig.host.child?.kill('SIGCONT');
      rig.host.signalSessions('SIGCONT');
    },
    isThere: async ({ heard, helper, jobId, sleep }, rig) => {
      await until(() => heard.stdout === 'on\n');
      signal(parentOf(helper), 'SIGSTOP');
      await sleep.wake();
      await until(() => namesIn(rig, 'runs').includes(`${jobId}.result`));
      return true;
    },
  },
];

describe('cards through Slurm while processes are killed', function () {
  this.timeout(180_000);
  let opened: SlurmRig | undefined;
  let rig: SlurmRig;
  let count = 0;

  before(async function () {
    if (!hasSlurm || !hasSshd) {
      console.log('No Slurm or no sshd here: install slurm-wlm, munge and openssh-server to run these.');
      this.skip();
    }
    opened = rig = new SlurmRig({ processors: 8 });
    await rig.start();
    await rig.open().runner.ready();
  });
  after(() => opened?.remove());

  async function open(victim: Victim): Promise<Ready> {
    const engine = `engine-of-kills-${++count}`;
    const before = new Set(rig.helpers());
    const place = rig.open({ engine });
    await place.runner.ready();
    const [helper = 0] = rig.helpers().filter((pid) => !before.has(pid));
    return { victim, engine, jobId: `killed-${count}`, place, helper };
  }

  /** `isEndless`: whatever of it is ended, it does not end by itself. Slurm signals all processes of a job in turn. */
  async function start(ready: Ready, isLong = true, isEndless = false): Promise<Card> {
    const { place, jobId } = ready;
    const sleep = longSleep();
    const stay = isEndless ? `while :; do ${sleep.command}; done` : sleep.command;
    const script = `echo on; ${isLong ? stay : ':'}; echo off; echo out > "$SALLYPORT_OUTPUTS/x"`;
    const code = await putTree(place.blobs.folder, { 'main.sh': script });
    const outputs = [{ port: 'x', type: 'file' as const, optional: false }];
    const heard = new Heard();
    const job = jobWith({ jobId, code, outputs });
    return { ...ready, heard, sleep, result: place.runner.run(job, heard, new AbortController().signal) };
  }

  /** Kills what the card is there for. An engine is followed by the next one of its home. */
  async function kill({ victim, helper, place, engine, result }: Card): Promise<TestPlace> {
    const session = parentOf(helper);
    switch (victim) {
      case 'engine': {
        // Its process is gone at once: neither it nor what it started says anything more.
        const dead = place.runner.dispose();
        signal(session, 'SIGKILL');
        signal(helper, 'SIGKILL');
        await dead;
        assert.equal((await result).outcome.kind, 'unknown');
        return rig.open({ engine, jobs: place.jobs });
      }
      case 'connection':
        signal(session, 'SIGKILL');
        return place;
      case 'login node':
        for (const child of childrenOf(helper)) signal(child, 'SIGKILL');
        signal(helper, 'SIGKILL');
        return place;
      case 'controller':
        await rig.cluster.stop('slurmctld', 'SIGTERM');
        await rig.cluster.startController();
        return place;
    }
  }

  /** How a card ended, by whoever heard of it, with its log. */
  async function endOf({ victim, result, heard }: Card, place: TestPlace) {
    if (victim === 'engine') {
      await until(async () => (await place.runner.held()).every(({ state }) => state === 'ended'));
      place.runner.disconnect();
      await place.runner.ready();
      await until(() => place.jobs.adopted.length === 1);
      const [adopted] = place.jobs.adopted;
      return { end: adopted?.result, log: adopted?.log };
    }
    return { end: await result, log: heard.stdout };
  }

  for (const { name, isLong = false, hold, free, isThere } of steps) {
    it(`while ${name}: nothing is lost and nothing is done twice, whichever is killed [SLURM-19]`, async () => {
      const ready: Ready[] = [];
      for (const victim of victims) ready.push(await open(victim));
      await hold(rig);
      const cards = await Promise.all(ready.map((each) => start(each, isLong)));
      const come = Promise.all(cards.map((card) => until(() => isThere(card, rig))));
      await come.catch(() => free(rig)).then(() => come);
      const requests = cards.map((card) => requestOf(rig, card));
      const places = await Promise.all(cards.map((card) => kill(card))).finally(() => free(rig));
      if (name === 'it runs') await Promise.all(cards.map(({ sleep }) => sleep.wake()));
      const ends = await Promise.all(cards.map((card, at) => endOf(card, places[at] ?? card.place)));
      for (const [at, { end, log }] of ends.entries()) {
        const victim = victims[at] ?? '';
        assert.deepEqual(end?.outcome, { kind: 'exited', exitCode: 0 }, victim);
        assert.equal(log, 'on\noff\n', victim);
        const { digest = '' } = end.outputs['x'] ?? {};
        assert.equal(places[at]?.blobs.readBytes(digest).toString(), 'out\n', victim);
      }
      const known = await rig.cluster.jobs();
      for (const [at, request] of requests.entries())
        assert.equal(known.filter((job) => job.name === request).length, 1, victims[at]);
    });
  }

  it('while its result is here and not yet forgotten there: it is taken again as the same, and nothing is left [SLURM-19]', async () => {
    const card = await start(await open('engine'), false);
    const first = await card.result;
    const dead = card.place.runner.dispose();
    await rig.crash();
    await dead;
    const next = rig.open({ engine: card.engine, jobs: card.place.jobs });
    await next.runner.ready();
    await until(() => next.jobs.adopted.length === 1 && !next.jobs.knows(card.jobId));
    assert.deepEqual(next.jobs.adopted[0]?.result, first);
    assert.deepEqual(
      namesIn(rig, 'runs').filter((each) => each.startsWith(`${card.jobId}.`)),
      [],
    );
  });

  it('while it runs, the runner on the node: the card is unknown, and not run again [SLURM-19]', async () => {
    const card = await start(await open('controller'));
    await until(() => card.heard.stdout === 'on\n');
    for (const pid of rig.tasks()) signal(pid, 'SIGKILL');
    const { outcome } = await card.result;
    assert.equal(outcome.kind, 'unknown', JSON.stringify(outcome));
    assert.equal(card.heard.stdout, 'on\n');
    assert.equal(card.heard.starts, 1);
  });

  it('a request that reaches Slurm twice runs once [SLURM-14]', async () => {
    const card = await start(await open('connection'));
    await until(() => card.heard.stdout === 'on\n');
    const request = requestOf(rig, card);
    // As one does that was on its way all the time while it was given up and made anew.
    await rig.submitAgain();
    const own = async () => (await rig.cluster.jobs()).filter((job) => job.name === request);
    await until(async () => (await own()).length === 2);
    await card.sleep.wake();
    assert.deepEqual((await card.result).outcome, { kind: 'exited', exitCode: 0 });
    await until(async () => (await own()).every(({ state }) => state === 'COMPLETED'));
    assert.equal(card.heard.stdout, 'on\noff\n');
    assert.equal(card.heard.starts, 1);
  });

  it('a job that Slurm is told to start again is not run twice, and says so [SLURM-14] [SLURM-13]', async () => {
    const card = await start(await open('controller'), true, true);
    await until(() => card.heard.stdout === 'on\n');
    const request = requestOf(rig, card);
    const found = (await rig.cluster.jobs()).find((job) => job.name === request);
    const id = found?.id.replace('_N/A', '') ?? '';
    // By itself Slurm starts none again, and refuses to be told so.
    await rig.cluster.run('scontrol', 'requeue', id);
    assert.match(await rig.cluster.run('scontrol', 'show', 'job', id), /Requeue=0 Restarts=0/);
    await rig.cluster.run('scontrol', 'update', `JobId=${id}`, 'Requeue=1');
    await rig.cluster.run('scontrol', 'requeue', id);
    const { outcome } = await card.result;
    assert.match(JSON.stringify(outcome), /put its job back into the queue/);
    await until(async () =>
      (await rig.cluster.jobs()).every((job) => job.name !== request || !/RUNNING|PENDING/.test(job.state)),
    );
    assert.equal(card.heard.stdout, 'on\n');
    assert.equal(card.heard.starts, 1);
  });

  it('an engine that ends in order leaves its cards to the next one [SLURM-19]', async () => {
    const project = join(rig.folder, 'project');
    const shell = { runtime: 'shell', entry: 'main.sh', outputs: { out: { type: 'text' } } } as const;
    writeProject(project, {
      a: { ...shell, permissions: { executionService: 'slurm:lab' } },
      b: { ...shell, inputs: { a: { type: 'text', from: 'a/out' } } },
      c: shell,
    });
    const write = (card: string, text: string) =>
      writeFileSync(join(project, 'cards', card, 'main.sh'), text);
    const sleep = longSleep();
    write('a', `echo on; ${sleep.command}; echo out > $SALLYPORT_OUTPUTS/out`);
    write('b', 'echo out > $SALLYPORT_OUTPUTS/out');
    write('c', 'sleep 60');
    const openEngine = () =>
      openPlaceEngine(join(rig.folder, 'home'), project, join(rig.folder, 'here', 'config'));
    const first = openEngine();
    await first.acceptAll();
    const runId = await first.start();
    const logOf = async () => {
      const cardRunId = (await first.view(runId)).cards[0]?.status.cardRunId ?? '';
      return (await first.handlers['log/read']({ cardRunId, fromLine: 0, count: 9 }, never)).lines.length;
    };
    await until(async () => (await logOf()) === 1);
    await first.dispose();
    const second = openEngine();
    try {
      assert.deepEqual(statesOf(await second.view(runId)), { a: 'unknown', b: 'cancelled', c: 'cancelled' });
      await sleep.wake();
      await until(async () => {
        await second.handlers['place/disconnect']({ place: 'slurm:lab' }, never);
        await second.handlers['place/check']({ place: 'slurm:lab' }, never);
        return statesOf(await second.view(runId))['a'] === 'done';
      });
    } finally {
      await second.dispose();
    }
  });
});

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    if (pid > 1) process.kill(pid, name);
  } catch {
    // It ended by itself.
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}

function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s*([0-9]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0');
  } catch {
    return 0;
  }
}
