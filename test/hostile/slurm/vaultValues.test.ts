import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { ParamsOf } from '../../../protocol/src/contract.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { removedMark } from '../../../protocol/src/scrub/scrubber.ts';
import type { vaultPersonRequests, VaultWish } from '../../../protocol/src/vault.ts';
import { Secret } from '../../../extension/src/vault/core/secret.ts';
import type { Vault } from '../../../extension/src/vault/core/vaultContract.ts';
import { ReleaseDesk } from '../../../extension/src/vault/releaseDesk.ts';
import { ReleasedValues } from '../../../extension/src/vault/releasedValues.ts';
import { sealValue } from '../../../extension/src/vault/sealValue.ts';
import type { JobAuthority } from '../../../remote-agent/src/vault/jobAuthority.ts';
import { proveKey } from '../../../remote-agent/src/vault/keyProof.ts';
import { putTree } from '../../support/blobs.ts';
import { jobWith } from '../../support/jobs.ts';
import { FakePersonSide } from '../../support/personSide.ts';
import { openPlaceEngine } from '../../support/placeEngine.ts';
import { writeProject } from '../../support/projectFolder.ts';
import { Heard } from '../../support/remotePlace.ts';
import {
  createTestAuthority,
  echo,
  openSecureOrigin,
  type SecureOrigin,
} from '../../support/secureOrigin.ts';
import { hasSlurm } from '../../support/slurmCluster.ts';
import { SlurmRig } from '../../support/slurmRig.ts';
import { hasSshd } from '../../support/sshPlace.ts';
import { never, type TestEngine } from '../../support/testEngine.ts';
import { until } from '../../support/until.ts';
import { VaultHarness } from '../../support/vaultHarness.ts';

type Release = ParamsOf<(typeof vaultPersonRequests)['vault/release']>;

const token = 'canary-77ab/Zz+Qq==41x';
const spellings = [token, Buffer.from(token).toString('base64'), Buffer.from(token).toString('hex')];

/** Values from a real vault to cards on a node of a real cluster. */
describe('vault values through Slurm', function () {
  this.timeout(240_000);
  let rig: SlurmRig | undefined;
  let opened: SecureOrigin | undefined;
  let origin: SecureOrigin;
  let harness: VaultHarness;
  let vault: Vault;
  let engine: TestEngine;
  let released: Release[];
  let isLocked: boolean;
  let project = '';
  let count = 0;

  before(async function () {
    if (!hasSlurm || !hasSshd) {
      console.log('No Slurm or no sshd here: install slurm-wlm, munge and openssh-server to run these.');
      this.skip();
    }
    const authority: JobAuthority = createTestAuthority();
    opened = origin = await openSecureOrigin(authority, echo);
    rig = new SlurmRig({ trusts: authority.certificatePem });
    await rig.start();
    await rig.open().runner.ready();
  });
  after(async () => {
    await opened?.close();
    await rig?.remove();
  });

  const there = () => rig!;
  const runs = () => join(there().host.home, '.sallyport', 'slurm', 'runs');
  const filesOf = (kind: string) => readdirSync(runs()).filter((name) => name.endsWith(`.${kind}`));
  const node = (state: string) =>
    there().cluster.run(
      'scontrol',
      'update',
      `NodeName=${hostname().split('.')[0]}`,
      `State=${state}`,
      'Reason=test',
    );

  beforeEach(async function () {
    harness = new VaultHarness();
    vault = await harness.create();
    using secret = Secret.fromText(token);
    await vault.save({
      id: 'api',
      baseVersion: 0,
      title: 'API',
      kind: 'token',
      fields: [{ name: 'token', kind: 'secret', value: secret }],
      hosts: [],
      tags: [],
      expiresAt: null,
    });
    released = [];
    isLocked = false;
    const person = new FakePersonSide();
    const desk = new ReleaseDesk({
      openVaults: async () => (isLocked ? [] : [vault]),
      hasLocked: () => isLocked,
      released: new ReleasedValues(),
      now: () => harness.now,
    });
    person.others.set('place/slurm', () => ({}));
    person.others.set('vault/release', (params: Release) => {
      released.push(params);
      return desk.release(params);
    });
    person.others.set('vault/covered', (params: Parameters<typeof desk.covered>[0]) => desk.covered(params));
    person.others.set('vault/ask', (params: Parameters<typeof desk.ask>[0]) => desk.ask(params));
    project = join(there().folder, `project-${++count}`);
    const here = `127.0.0.1:${origin.port}`;
    const use = { type: 'header' as const, hosts: [here], name: 'authorization', prefix: 'Bearer ' };
    writeProject(project, {
      a: {
        runtime: 'shell',
        entry: 'main.sh',
        permissions: {
          executionService: 'slurm:lab',
          network: [here],
          vault: [
            { item: 'api', field: 'token', use },
            { item: 'api', field: 'token', env: 'TOKEN' },
          ],
        },
      },
    });
    writeFileSync(
      join(project, 'cards', 'a', 'main.sh'),
      `echo "it is $TOKEN"\ncurl -sS https://${here}/a\nsleep 2\nprintf %s "$TOKEN" | sha256sum > "$SALLYPORT_OUTPUTS/out"\n`,
    );
    engine = openPlaceEngine(
      join(there().folder, `home-${count}`),
      project,
      join(there().folder, 'here', 'config'),
      { person },
    );
    await engine.acceptAll();
  });
  afterEach(async () => {
    await engine.dispose();
    await node('RESUME');
    harness.close();
  });

  const wishes = (): VaultWish[] => {
    const hosts = [`127.0.0.1:${origin.port}`];
    return [
      {
        item: 'api',
        field: 'token',
        use: { kind: 'header', hosts, name: 'authorization', prefix: 'Bearer ' },
      },
      { item: 'api', field: 'token', use: { kind: 'env', name: 'TOKEN' } },
    ];
  };

  async function grant(): Promise<string[]> {
    const { scope } = await engine.handlers['project/get']({ root: project }, never);
    const ids: string[] = [];
    for (const { item, field, use } of wishes()) {
      const limits = { count: null, until: null };
      const asked = await vault.ask({
        item,
        field,
        principal: 'card:a',
        scope: scope ?? '',
        use,
        reason: '',
        limits,
      });
      await vault.answer(asked.id, 'accepted', limits);
      ids.push(asked.id);
    }
    return ids;
  }

  const start = () => engine.start({ ignoreCache: true });
  const statusOf = async (runId: string) => (await engine.view(runId)).cards[0]?.status;
  const end = async (runId: string) => (await engine.finish(runId)).cards[0]?.status;
  const isWaiting = (runId: string) =>
    until(async () => /waits for its vault values/.test((await statusOf(runId))?.progress?.text ?? ''));

  /** Everything that this test has on the disk and in processes, but the vault itself. */
  const whereFound = async (texts: readonly string[]): Promise<string[]> => {
    const found = spawnSync(
      'grep',
      ['-rlaF', ...texts.flatMap((text) => ['-e', text]), there().folder, runnerScratch()],
      {
        encoding: 'utf8',
      },
    ).stdout;
    const processes = readdirSync('/proc').filter((name) => {
      if (!/^[0-9]+$/.test(name) || Number(name) === process.pid) return false;
      const words = readQuietly(`/proc/${name}/cmdline`);
      // The runner itself, and what starts it; what runs inside has the value by right.
      const isOurs = / ?batch (once|control) /.test(words.replaceAll('\0', ' '));
      return texts.some(
        (text) => words.includes(text) || (isOurs && readQuietly(`/proc/${name}/environ`).includes(text)),
      );
    });
    const told = await there().cluster.run('scontrol', 'show', 'job');
    const isTold = texts.some((text) => told.includes(text)) ? ['scontrol'] : [];
    return [...found.split('\n').filter((line) => line !== ''), ...processes, ...isTold];
  };

  it('L07: a value comes to the card and into its requests, sealed on the way, and is nowhere else [SLURM-11]', async () => {
    await grant();
    const runId = await start();
    const logOf = async (cardRunId: string) =>
      (await engine.handlers['log/read']({ cardRunId, fromLine: 0, count: 99 }, never)).lines
        .map(({ text }) => text)
        .join('\n');
    await until(async () => /it is/.test(await logOf((await statusOf(runId))?.cardRunId ?? '')));
    const foundMeanwhile = await whereFound(spellings);
    const status = await end(runId);
    assert.equal(status?.state, 'done', JSON.stringify(status));
    const log = await logOf(status.cardRunId);
    assert.ok(log.includes(`it is ${removedMark}`), log);
    const sent = origin.seen.at(-1)?.headers ?? [];

    assert.ok(sent.includes(`Bearer ${token}`), log);
    assert.deepEqual(foundMeanwhile, []);
    assert.deepEqual(await whereFound(spellings), []);
    assert.deepEqual([...filesOf('key'), ...filesOf('values')], []);
    // One use of each grant, by the key of that job.
    assert.equal(vault.uses().length, 2);
    assert.equal(released.length, 1);
    // The control: what this looks through is where a value would be that was handed over as anything else.
    writeFileSync(join(project, 'cards', 'a', 'main.sh'), `# ${token}\necho > "$SALLYPORT_OUTPUTS/out"\n`);
    await end(await start());
    assert.ok((await whereFound(spellings)).some((path) => path.includes('/.sallyport/slurm/blobs/')));
  });

  it('a grant that is revoked while the card waits in the queue gives nothing, in words [SLURM-16]', async () => {
    const ids = await grant();
    await node('DRAIN');
    const runId = await start();
    await until(async () => /queue/.test((await statusOf(runId))?.progress?.text ?? ''));
    await vault.revoke(ids[0] ?? '');
    await node('RESUME');
    const status = await end(runId);
    assert.equal(status?.state, 'blocked');
    assert.match(status.reason?.detail ?? '', /there is no grant for token of the vault item api/);
    assert.equal(vault.uses().length, 0);
  });

  it('a permission that is taken back while the card waits in the queue does the same [SLURM-16]', async () => {
    await grant();
    await node('DRAIN');
    const runId = await start();
    await until(async () => /queue/.test((await statusOf(runId))?.progress?.text ?? ''));
    const { cards } = await engine.handlers['permissions/review']({ root: project }, never);
    const key = cards[0]?.permissions.find(({ permission }) => permission.name === 'vaultItem')?.key ?? '';
    await engine.handlers['permissions/revoke']({ root: project, card: 'a', key }, never);
    await node('RESUME');
    const status = await end(runId);
    assert.equal(status?.state, 'blocked');
    assert.deepEqual(released, []);
  });

  it('without a grant nothing goes to the queue [SLURM-16]', async () => {
    const before = (await there().cluster.jobs()).length;
    const status = await end(await start());
    assert.equal(status?.state, 'blocked');
    assert.match(status.reason?.remedy ?? '', /waits in the Vault view/);
    assert.equal(vault.grants().filter(({ state }) => state === 'pending').length, 2);
    assert.equal((await there().cluster.jobs()).length, before);
  });

  it('a locked vault is waited for, and cancelling meanwhile ends the card at once [SLURM-17]', async () => {
    await grant();
    for (const isUnlocked of [true, false]) {
      await node('DRAIN');
      const runId = await start();
      await until(async () => /queue/.test((await statusOf(runId))?.progress?.text ?? ''));
      isLocked = true;
      await node('RESUME');
      await isWaiting(runId);
      await until(() =>
        engine.told.some(
          ({ method, params }) => method === 'engine/notice' && /Unlock/.test(JSON.stringify(params)),
        ),
      );
      isLocked = false;
      if (isUnlocked) engine.services.vaultChanged();
      else await engine.handlers['run/cancel']({ runId }, never);
      assert.equal((await end(runId))?.state, isUnlocked ? 'done' : 'cancelled');
      await until(async () =>
        (await there().cluster.jobs()).every(({ state }) => !/RUNNING|PENDING/.test(state)),
      );
    }
    assert.equal(vault.uses().length, 2);
  });

  it('a key that another user puts in the place of the job’s gets nothing; the folder keeps others out [SLURM-18]', async function () {
    if (process.getuid?.() !== 0) {
      console.log('Acting as another user needs root here.');
      this.skip();
    }
    await grant();
    await node('DRAIN');
    const runId = await start();
    await until(async () => /queue/.test((await statusOf(runId))?.progress?.text ?? ''));
    isLocked = true;
    await node('RESUME');
    await isWaiting(runId);
    const [name = ''] = filesOf('key');
    const jobId = name.slice(0, -'.key'.length);
    const own = JSON.parse(readFileSync(join(runs(), name), 'utf8')) as { publicKey: string };
    const publicKey = Buffer.alloc(32, 9).toString('base64');
    const proof = proveKey(Buffer.alloc(32).toString('base64'), jobId, publicKey);
    const path = join(runs(), name);
    const asNobody = () =>
      spawnSync('python3', [
        '-c',
        'import os,sys\nos.setgroups([]); os.setgid(65534); os.setuid(65534)\nos.unlink(sys.argv[1]) if len(sys.argv) > 3 else None\nopen(sys.argv[1], "w").write(sys.argv[2])',
        path,
        JSON.stringify({ publicKey, proof }),
        'replace',
      ]).status;
    assert.notEqual(asNobody(), 0);
    // The control: with the folder open to all the same attempt succeeds. What it brings is refused all the same.
    const open = [
      there().folder,
      join(there().folder, 'login'),
      there().host.home,
      join(there().host.home, '.sallyport'),
      join(runs(), '..'),
      runs(),
    ];
    for (const folder of open) chmodSync(folder, 0o777);
    try {
      assert.equal(asNobody(), 0);
      const status = await end(runId);
      assert.equal(status?.state, 'failed');
      assert.match(status.reason?.detail ?? '', /no file that only this user writes/);
      isLocked = false;
      engine.services.vaultChanged();
      assert.ok(released.every(({ recipient }) => recipient !== publicKey));
      assert.ok(!existsSync(join(runs(), `${jobId}.values`)));
    } finally {
      for (const folder of open) chmodSync(folder, folder === there().folder ? 0o755 : 0o700);
    }
    assert.notEqual(own.publicKey, publicKey);
  });

  it('a key without the job’s own proof gets nothing; with it, it would [SLURM-18]', async () => {
    const ticket = Buffer.alloc(32, 1).toString('base64');
    const publicKey = Buffer.alloc(32, 9).toString('base64');
    for (const isKnown of [false, true]) {
      const { begun, keys, jobId } = await waitingJob(ticket);
      const proof = proveKey(isKnown ? ticket : Buffer.alloc(32, 2).toString('base64'), jobId, publicKey);
      await until(() => keys.length === 1);
      writeFileSync(join(runs(), `${jobId}.key.new`), JSON.stringify({ publicKey, proof }), { mode: 0o600 });
      spawnSync('mv', [join(runs(), `${jobId}.key.new`), join(runs(), `${jobId}.key`)]);
      const result = await begun;
      assert.notEqual(result.outcome.kind, 'exited');
      assert.equal(keys.includes(publicKey), isKnown);
    }
  });

  /** A job that waits for values which nobody gives. `keys` are those that the vault was asked for with. */
  async function waitingJob(ticket: string, waitSeconds = 30, engineId = 'engine-of-waiting') {
    const place = there().open({
      engine: engineId,
      release: (_awaited, _jobId, recipient, signal) => {
        keys.push(recipient);
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new UserError('cancelled', 'not wanted'))),
        );
      },
    });
    const keys: string[] = [];
    const jobId = `waiting-${++count}`;
    const code = await putTree(place.blobs.folder, { 'main.sh': 'echo "it is $TOKEN"' });
    const awaits = { ticket, waitSeconds, root: '/', card: 'a', asked: [], wishes: [] };
    const heard = new Heard();
    const begun = place.runner.run(
      { ...jobWith({ jobId, code }), releaseLater: awaits },
      heard,
      new AbortController().signal,
    );
    return { place, begun, keys, jobId, heard };
  }

  it('an engine that is killed while a job waits is followed by the next one, or the job ends in words [SLURM-17]', async () => {
    const ticket = Buffer.alloc(32, 3).toString('base64');
    const env = { item: 'api', field: 'token', use: { kind: 'env', name: 'TOKEN' } } as const;
    for (const isFollowed of [true, false]) {
      const engineId = isFollowed ? 'engine-followed' : 'engine-killed';
      const { place, begun, keys, jobId } = await waitingJob(ticket, isFollowed ? 60 : 10, engineId);
      await until(() => keys.length === 1);
      const dead = place.runner.dispose();
      await there().crash();
      await dead;
      await begun;
      if (!isFollowed) {
        await until(() => existsSync(join(runs(), `${jobId}.result`)));
        assert.match(readFileSync(join(runs(), `${jobId}.result`), 'utf8'), /did not come within 10 seconds/);
        assert.ok(!existsSync(join(runs(), `${jobId}.key`)));
        continue;
      }
      place.jobs.awaited = (id) =>
        id === jobId ? { ticket, waitSeconds: 60, root: '/', card: 'a', asked: [], wishes: [] } : undefined;
      const second = there().open({
        engine: engineId,
        jobs: place.jobs,
        release: async (_awaited, id, recipient) => {
          const context = { jobId: id, grant: 'g', wish: env };
          return [{ grant: 'g', wish: env, sealed: sealValue(recipient, context, Buffer.from(token)) }];
        },
      });
      await second.runner.ready();
      await until(async () => (await second.runner.held()).every(({ state }) => state === 'ended'));
      second.runner.disconnect();
      await second.runner.ready();
      await until(() => second.jobs.adopted.length === 1);
      assert.equal(second.jobs.adopted[0]?.log, `it is ${removedMark}\n`);
    }
  });
});

function runnerScratch(): string {
  return `/tmp/sallyport-${process.getuid?.() ?? 0}`;
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
