import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { CardJob } from '../../../../language-server/src/runners/cardRunner.ts';
import { putTree } from '../../../support/blobs.ts';
import { bundledRunner } from '../../../support/bundledRunner.ts';
import { jobWith } from '../../../support/jobs.ts';
import { longSleep } from '../../../support/longSleep.ts';
import { Heard, openPlace, quickTimes, type TestPlace } from '../../../support/remotePlace.ts';
import { removeHost, SshHost } from '../../../support/sshHost.ts';
import { hasSshd, sshParts, type SshParts, type SshSetup } from '../../../support/sshPlace.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

const never = new AbortController().signal;
const sleeperProgram = join(import.meta.dirname, '../../../support/sleeperEngine.ts');

describe('a card over SSH', () => {
  const folder = useTemporaryFolder();
  const hosts: SshHost[] = [];
  const places: TestPlace[] = [];
  let jobs = 0;

  before(function () {
    if (hasSshd) return;
    console.log('No sshd here: install openssh-server to run these.');
    this.skip();
  });
  afterEach(async () => {
    for (const place of places.splice(0)) await place.runner.dispose();
    for (const host of hosts.splice(0)) await removeHost(host);
  });

  const start = async (settings: readonly string[] = [], bashrc?: string): Promise<SshHost> => {
    const host = new SshHost({ folder: join(folder(), `host${hosts.length}`), settings });
    if (bashrc !== undefined) writeFileSync(join(host.home, '.bashrc'), bashrc);
    hosts.push(host);
    await host.start();
    return host;
  };
  const partsFor = (host: SshHost, more: Partial<SshSetup> = {}): SshParts =>
    sshParts({
      folder: join(folder(), 'here'),
      config: host.configBlock('lab'),
      known: host.knownLine(),
      ...more,
    });
  const open = (parts: SshParts, more: Parameters<typeof openPlace>[2] = {}): TestPlace => {
    const place = openPlace(parts.transport('lab'), join(folder(), 'blobs'), more);
    places.push(place);
    return place;
  };
  const jobOf = async (place: TestPlace, script: string): Promise<CardJob> => ({
    ...jobWith({
      jobId: `ssh-${(jobs += 1)}`,
      code: await putTree(place.blobs.folder, { 'main.sh': script }),
    }),
    outputs: [{ port: 'text', type: 'text', optional: true }],
  });
  const runs = async (place: TestPlace, script = 'echo here > $SALLYPORT_OUTPUTS/text'): Promise<Heard> => {
    const heard = new Heard();
    const result = await place.runner.run(await jobOf(place, script), heard, never);
    assert.deepEqual(result.outcome, { kind: 'exited', exitCode: 0 });
    const { text } = result.outputs;
    if (text) assert.equal(place.blobs.readBytes(text.digest).toString(), 'here\n');
    return heard;
  };

  it('runs sealed, after one copy of the runner below the home folder, 0700 and checked by digest [SSH-01]', async () => {
    const host = await start();
    const place = open(partsFor(host));
    await runs(place);
    const { isolation } = await place.runner.ready();
    assert.equal(isolation.kind, 'bubblewrap');
    const there = join(host.home, '.sallyport/runner');
    assert.equal(statSync(there).mode & 0o777, 0o700);
    // A runner file that was tampered with is copied anew, not started.
    const [name = ''] = readdirSync(there).filter((each) => each.endsWith('.cjs'));
    const good = readFileSync(join(there, name));
    host.killRunner();
    place.runner.disconnect();
    chmodSync(join(there, name), 0o700);
    writeFileSync(join(there, name), 'process.exit(7)');
    await runs(place);
    assert.deepEqual(readFileSync(join(there, name)), good);
  });

  it('starts though .bashrc prints 5 kB [K11]', async () => {
    const host = await start([], 'printf "%05000d\\n" 7; echo "sallyport- not it"\n');
    await runs(open(partsFor(host)));
  });

  it('says what was printed where .bashrc ends the shell, escaped [K12]', async () => {
    const host = await start([], 'printf "locked \\033[31mout\\n"; exit 1\n');
    const place = open(partsFor(host));
    await assert.rejects(place.runner.ready(), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'incompatible');
      assert.match(error.message, /locked \\u\{1B\}\[31mout/);
      return true;
    });
    rmSync(join(host.home, '.bashrc'));
    await runs(place);
  });

  it('says so where .bashrc puts another shell in its place, and gives that one nothing to run [K12]', async () => {
    const host = await start([], '[ -n "$AGAIN" ] || AGAIN=1 exec /bin/dash\n');
    const place = open(partsFor(host));
    await assert.rejects(place.runner.ready(), {
      code: 'incompatible',
      message: /does not run what it is told/,
    });
    rmSync(join(host.home, '.bashrc'));
    await runs(place);
  });

  it('does not stall on 64 MB of standard error [K13]', async () => {
    const host = await start();
    const parts = partsFor(host);
    const session = await parts.sessions.open('lab', { signal: never, mayAsk: false });
    const { code, stdout } = await session.connection.run('head -c 67108864 /dev/zero >&2; echo done');
    session.close();
    assert.equal(code, 0);
    assert.equal(stdout, 'done\n');
  });

  for (const [title, settings] of [
    ['gives one channel only', ['MaxSessions 1']],
    ['gives one channel and no sockets', ['MaxSessions 1', 'AllowStreamLocalForwarding no']],
    ['lets nothing through to sockets', ['AllowStreamLocalForwarding no']],
  ] as const) {
    it(`works where the host ${title} [K15]`, async () => {
      await runs(open(partsFor(await start(settings))));
    });
  }

  it('finds a frozen connection lost, connects anew and goes on by number; nothing runs twice [K08]', async () => {
    const host = await start();
    const times = { connectMs: 30_000, keepaliveMs: 60_000 };
    const place = open(partsFor(host, { times }), { times: { ...quickTimes, heartbeatMs: 1000 } });
    const heard = new Heard();
    const nap = longSleep();
    const job = await jobOf(
      place,
      `echo 1; echo 2; ${nap.command}; for i in 3 4 5; do echo $i; sleep 0.2; done`,
    );
    const running = place.runner.run(job, heard, never);
    await until(() => heard.stdout === '1\n2\n');
    host.signalSessions('SIGSTOP');
    await until(() => place.views.some(({ state }) => state === 'lost'));
    await nap.wake();
    const result = await running;
    assert.deepEqual(result.outcome, { kind: 'exited', exitCode: 0 });
    assert.equal(heard.stdout, '1\n2\n3\n4\n5\n');
    assert.equal(heard.starts, 1);
  });

  it('goes on when the connection’s own process is killed, and when sshd itself is [K09]', async () => {
    const host = await start();
    const place = open(partsFor(host));
    const heard = new Heard();
    const running = place.runner.run(
      await jobOf(place, 'for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.2; done'),
      heard,
      never,
    );
    await until(() => heard.stdout.startsWith('1\n2\n'));
    host.signalSessions('SIGKILL');
    await until(() => heard.stdout.includes('4\n'));
    await host.stop();
    await host.start();
    assert.deepEqual((await running).outcome, { kind: 'exited', exitCode: 0 });
    assert.equal(heard.stdout, '1\n2\n3\n4\n5\n6\n7\n8\n9\n');
    assert.equal(heard.starts, 1);
  });

  it('says that the end was not seen only where the runner there was killed under the card [K09]', async () => {
    const host = await start();
    const place = open(partsFor(host));
    const heard = new Heard();
    const running = place.runner.run(await jobOf(place, 'echo up; sleep 600'), heard, never);
    await until(() => heard.stdout === 'up\n');
    assert.equal(host.killRunner(), 1);
    const { outcome } = await running;
    assert.equal(outcome.kind, 'unknown');
    assert.equal(heard.starts, 1);
  });

  it('sleeps through the loss of its connection and goes on when it wakes [K20]', async () => {
    // The host gives the sleeper up meanwhile, as it does after minutes in life.
    const host = await start(['ClientAliveInterval 1', 'ClientAliveCountMax 1']);
    const code = await putTree(join(folder(), 'blobs'), {
      'main.sh': 'for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.3; done',
    });
    const words = [
      sleeperProgram,
      folder(),
      host.knownLine(),
      host.configBlock('lab'),
      JSON.stringify(code),
      bundledRunner(),
    ];
    const sleeper = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    sleeper.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    const ended = once(sleeper, 'exit');
    await until(() => said.includes('log 2'));
    sleeper.kill('SIGSTOP');
    await until(() => host.sessions().length === 0);
    sleeper.kill('SIGCONT');
    await ended;
    const { outcome, lines, starts } = JSON.parse(said.split('\n').at(-2) ?? '') as Record<string, unknown>;
    assert.deepEqual(outcome, { kind: 'exited', exitCode: 0 });
    assert.equal(lines, '1\n2\n3\n4\n5\n6\n7\n8\n');
    assert.equal(starts, 1);
  });

  it('stops there when it is cancelled [SSH-02]', async () => {
    const host = await start();
    const place = open(partsFor(host));
    const stop = new AbortController();
    const heard = new Heard();
    const running = place.runner.run(await jobOf(place, 'echo up; sleep 600'), heard, stop.signal);
    await until(() => heard.stdout === 'up\n');
    stop.abort();
    assert.deepEqual((await running).outcome, { kind: 'cancelled' });
  });

  it('says what is missing where there is no Node that is new enough [SSH-03]', async () => {
    const bin = join(folder(), 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'node'), '#!/bin/sh\n[ "$1" = --version ] && echo v18.2.0\nexit 1\n');
    chmodSync(join(bin, 'node'), 0o755);
    const host = await start([], `export PATH=${bin}:/usr/bin:/bin\n`);
    const place = open(partsFor(host));
    const hasOwn = ['/usr/bin/node', '/usr/local/bin/node', '/opt/node/bin/node'].some((path) =>
      existsSync(path),
    );
    if (hasOwn) await runs(place);
    else await assert.rejects(place.runner.ready(), { code: 'interpreter-missing', message: /v18\.2\.0/ });
  });
});
