import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { createWorkerTransport } from '../../../language-server/src/runners/worker/workerTransport.ts';
import { remoteTimes } from '../../../language-server/src/runners/places/remoteRunner.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { workerProtocols, workerReadyLine } from '../../../protocol/src/pinnedWorker.ts';
import { fingerprintOf, parseIdentity } from '../../../remote-agent/src/worker/identity.ts';
import { createLeaf, type IdentitySigner } from '../../../remote-agent/src/worker/leaf.ts';
import { WorkerFiles } from '../../../remote-agent/src/worker/workerFiles.ts';
import { putTree } from '../../support/blobs.ts';
import { jobWith } from '../../support/jobs.ts';
import { Heard, openPlace, type TestPlace } from '../../support/remotePlace.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';
import { WorkerHost } from '../../support/workerHost.ts';
import { firstLineOf, newIdentity } from '../../support/workerRig.ts';

/** What the worker lets one identity have at once (docs/worker.md). */
const mostAtOnce = 64;
const members = 10;
const jobsOfOne = 5;
const jobsOfFlood = 60;
/** Tells the cards of this suite from all other processes. */
const program = 'ten-members.sh';

interface Member {
  readonly signer: IdentitySigner;
  readonly fingerprint: string;
  readonly place: TestPlace;
}

/** Ten identities hammering one worker: a real process, and a real runner for each. */
describe('ten members of a worker', function () {
  this.timeout(300_000);
  const folder = useTemporaryFolder();
  let worker: WorkerHost;
  let all: Member[];
  const sockets = new Set<TLSSocket>();

  beforeEach(async () => {
    worker = new WorkerHost(folder());
    await worker.start();
    const files = new WorkerFiles(worker.home, process.getuid?.() ?? -1);
    const identity = files.signer().spki.toString('base64');
    all = Array.from({ length: members }, (_, index) => {
      const signer = newIdentity();
      files.add(parseIdentity(signer.spki) ?? assert.fail(), `member ${index}`);
      const transport = createWorkerTransport({
        place: 'worker:lab',
        worker: { host: '127.0.0.1', port: worker.port, identity },
        signer,
        now: () => Date.now(),
      });
      const blobs = join(folder(), `blobs-${index}`);
      const place = openPlace(transport, blobs, { times: remoteTimes, engine: `engine-${index}` });
      return { signer, fingerprint: fingerprintOf(signer.spki), place };
    });
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    await Promise.all(all.map(({ place }) => place.runner.dispose()));
    await worker.remove();
  });

  const of = (index: number): Member => all[index] ?? assert.fail();
  /** Runs one card that says and gives back whose it is. */
  async function run({ place, fingerprint }: Member, number: number): Promise<void> {
    const mine = `${fingerprint} ${number}`;
    const code = await putTree(place.blobs.folder, {
      [program]:
        'echo "$SALLYPORT_PARAMS"; printf %s "$SALLYPORT_PARAMS" > "$SALLYPORT_OUTPUTS/out"; sleep 0.1',
    });
    const heard = new Heard();
    const result = await place.runner.run(
      jobWith({
        // The same names for everybody: a runner of one’s own is what keeps them apart.
        jobId: `job-${number}`,
        code,
        entry: program,
        params: JSON.stringify(mine),
        limits: { ...jobWith({}).limits, seconds: 120 },
        outputs: [{ port: 'out', type: 'text', optional: false }],
      }),
      heard,
      new AbortController().signal,
    );
    assert.deepEqual(result.outcome, { kind: 'exited', exitCode: 0 }, heard.stderr);
    assert.equal(heard.stdout, `${JSON.stringify(mine)}\n`);
    const digest = result.outputs['out']?.digest ?? assert.fail();
    assert.equal(place.blobs.readBytes(digest).toString(), JSON.stringify(mine));
  }

  const options = async (signer: IdentitySigner, localAddress: string) => ({
    host: '127.0.0.1',
    port: worker.port,
    localAddress,
    ...(await createLeaf(signer, Date.now())),
    rejectUnauthorized: false,
    ALPNProtocols: [workerProtocols.work],
  });
  /** The first line of a connection that is then kept open. */
  async function hold(signer: IdentitySigner, localAddress: string): Promise<string> {
    const socket = connect(await options(signer, localAddress));
    sockets.add(socket);
    return new Promise((resolve) => {
      let text = '';
      socket.on('error', () => undefined).once('close', () => resolve(text.trim()));
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes('\n')) resolve(text.trim());
      });
    });
  }
  const timesOf = (refusal: string, why: RegExp) =>
    worker
      .audit()
      .filter((entry) => entry['refusal'] === refusal && why.test(String(entry['why'])))
      .reduce((sum, { times = 1 }) => sum + Number(times), 0);

  it('[WORKER-07] a flood of one starves nobody, and no job is taken for another', async () => {
    const baseline = descriptorsOf(worker.pid);
    const [flood, ...others] = all as [Member, ...Member[]];
    await Promise.all(all.map((member) => run(member, jobsOfFlood)));
    let flooded = 0;
    let most = 0;
    const looking = setInterval(() => (most = Math.max(most, cardsThatRun())), 20);
    const flooding = Promise.all(
      Array.from({ length: jobsOfFlood }, async (_, number) => {
        await run(flood, number);
        flooded += 1;
      }),
    );
    await until(() => flooded > 0, 120_000);
    const before = flooded;
    await Promise.all(
      others.map(async (member) => {
        await Promise.all(Array.from({ length: jobsOfOne }, (_, number) => run(member, number)));
      }),
    );
    const meanwhile = flooded - before;
    clearInterval(looking);
    assert.ok(meanwhile < jobsOfFlood / 2, `${meanwhile} of the flood’s cards ended before theirs`);
    // One for each, and what the machine has beyond; without sharing it would be all of it for each.
    assert.ok(most > 1 && most <= availableParallelism() + members - 1, `${most} cards ran at once`);
    await flooding;

    await Promise.all(all.map(({ place }) => place.runner.dispose()));
    // A runner of each, and its line to the worker for turns, are what stays.
    assert.equal(worker.runnerPids().length, members);
    await until(() => descriptorsOf(worker.pid) <= baseline + members + 1);
    assert.ok(residentMB(worker.pid) < 300, `${residentMB(worker.pid)} MB`);
  });

  it('[WORKER-06] limits are each one’s own, and the log has every connection', async () => {
    const [flood, counted, ...rest] = all as [Member, Member, ...Member[]];
    const lines: string[] = [];
    for (let turn = 0; turn < mostAtOnce + 6; turn += 1) lines.push(await hold(flood.signer, '127.0.0.2'));
    assert.equal(lines.filter((line) => line === workerReadyLine).length, mostAtOnce);
    assert.deepEqual([...new Set(lines.slice(mostAtOnce))], ['refused too-many']);

    // Strangers from one address come to their own limit, and to nobody else’s.
    const strangers: string[] = [];
    for (let turn = 0; turn < 70; turn += 1)
      strangers.push((await firstLineOf(await options(newIdentity(), '127.0.0.3'))) ?? '');
    assert.deepEqual(new Set(strangers), new Set(['refused not-enrolled', 'refused too-often']));
    assert.equal(await firstLineOf(await options(newIdentity(), '127.0.0.4')), 'refused not-enrolled');

    for (let turn = 0; turn < 20; turn += 1)
      assert.equal(await firstLineOf(await options(counted.signer, '127.0.0.2')), workerReadyLine);
    await Promise.all(rest.slice(0, 3).map((member) => run(member, 1)));

    for (const socket of sockets) socket.destroy();
    await worker.stop();
    const connected = (who: Member) =>
      worker
        .audit()
        .filter((entry) => entry.event === 'connected' && entry['fingerprint'] === who.fingerprint).length;
    assert.equal(connected(flood), mostAtOnce);
    assert.equal(connected(counted), 20);
    assert.equal(timesOf('too-many', new RegExp(escaped(flood.fingerprint))), 6);
    assert.equal(timesOf('not-enrolled', /./) + timesOf('too-often', /strangers/), 71);
  });

  it('[WORKER-04] who is removed in the middle of a flood is refused from the next handshake on', async () => {
    const [gone, staying] = [of(0), of(1)];
    const results = await Promise.allSettled([
      ...Array.from({ length: 10 }, (_, number) => run(staying, number)),
      (async () => {
        await run(gone, 0);
        const running = Promise.allSettled(Array.from({ length: 6 }, (_, number) => run(gone, number + 1)));
        await worker.keep('remove', gone.fingerprint);
        assert.equal(await firstLineOf(await options(gone.signer, '127.0.0.2')), 'refused not-enrolled');
        // What had been connected before runs to its end; whether its results come back hangs on its connections.
        await running;
        gone.place.runner.disconnect();
        await assert.rejects(
          gone.place.runner.ready(),
          (error: unknown) => error instanceof UserError && error.code === 'sign-in',
        );
      })(),
    ]);
    assert.deepEqual(
      results.filter(({ status }) => status === 'rejected'),
      [],
    );
  });

  it('[WORKER-07] cards that run go on without the worker, and the next one finds them', async () => {
    const member = of(0);
    await run(member, 0);
    await worker.stop('SIGKILL');
    await worker.start();
    await run(member, 1);
    await run(of(1), 1);
  });
});

function cardsThatRun(): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^[0-9]+$/.test(name)) return false;
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      return words.length <= 4 && words.some((word) => word.endsWith(program));
    } catch {
      return false;
    }
  }).length;
}

function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function residentMB(pid: number): number {
  return Number(/^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

function escaped(text: string): string {
  return text.replaceAll(/[+/]/g, (each) => `\\${each}`);
}
