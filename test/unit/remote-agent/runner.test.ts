import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { JobOutcome, JobSpec } from '../../../protocol/src/runner.ts';
import { rootScratch } from '../../../remote-agent/src/runnerFolder.ts';
import { putTree } from '../../support/blobs.ts';
import { RunnerClient, type JobReport, type RunJobOptions } from '../../support/runnerClient.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';

const isRoot = process.getuid?.() === 0;
const entries = { shell: 'main.sh', python: 'main.py', node: 'main.mjs', command: 'unused' } as const;
const closed: JobSpec['access'] = { network: { kind: 'none' }, hostFolders: [] };

describe('the runner', function () {
  const folder = useTemporaryFolder();
  let client: RunnerClient;
  let count = 0;

  before(function () {
    if (process.platform === 'linux') return;
    console.log('      needs Linux');
    this.skip();
  });
  beforeEach(async () => {
    for (const name of ['blobs', 'scratch']) mkdirSync(path.join(folder(), name));
    client = await start();
  });
  afterEach(async () => {
    await client.close();
    assert.deepEqual(client.strays, []);
  });

  const start = () =>
    RunnerClient.start({ blobs: path.join(folder(), 'blobs'), scratch: path.join(folder(), 'scratch') });

  async function run(
    runtime: JobSpec['runtime'],
    text: string,
    more: Partial<JobSpec> & { limit?: Partial<JobSpec['limits']> } = {},
    options: RunJobOptions = {},
  ): Promise<JobReport> {
    const { limit, ...spec } = more;
    return client.run(
      {
        jobId: `job-${++count}`,
        cardId: 'card',
        runtime,
        entry: entries[runtime],
        code: await putTree(path.join(folder(), 'blobs'), { [entries[runtime]]: text }),
        inputs: [],
        outputs: [],
        params: '{}',
        limits: { seconds: 60, memoryMB: 256, processes: 32, outputMB: 256, logMB: 1, ...limit },
        access: closed,
        ...spec,
      },
      options,
    );
  }

  /** Processes of this machine whose command line holds a word that only the test knows. */
  const running = (mark: string) =>
    readdirSync('/proc').filter((pid) => {
      try {
        return /^[0-9]+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
      } catch {
        return false;
      }
    });
  const jobFolders = () =>
    readdirSync(isRoot ? rootScratch : path.join(folder(), 'scratch'))
      .filter((name) => name.startsWith(`sallyport-runner-${client.pid}-`))
      .flatMap((name) =>
        readdirSync(path.join(isRoot ? rootScratch : path.join(folder(), 'scratch'), name, 'jobs')),
      );

  it('[JOB-01] shows a card its own world and nothing else', async () => {
    const text = `
      echo "$(id -u) $(hostname) $(pwd) $HOME $TMPDIR"
      ls /; ls /home /etc /run /sys /root /var /work 2>/dev/null
      env | sort | sed 's/=.*//' | tr '\\n' ' '
      echo
      ls /proc | grep -c '^[0-9]'
      ls /proc/self/fd | tr '\\n' ' '
      touch /card/x /in/x /usr/x /etc/x 2>/dev/null || echo kept
    `;
    const { stdout, result } = await run('shell', text);
    assert.deepEqual(result.outcome, { kind: 'exited', exitCode: 0 });
    assert.match(stdout, /^1000 sallyport \/home\/card \/home\/card \/tmp$/m);
    assert.doesNotMatch(stdout, /shadow|^run$|^sys$|^root$|^var$|^work$/m);
    assert.match(
      stdout,
      /^HOME LANG NODE_PATH PATH PWD PYTHONPATH PYTHONUNBUFFERED SALLYPORT_CARD SALLYPORT_INPUTS SALLYPORT_OUTPUTS SALLYPORT_PARAMS SALLYPORT_PROGRESS TMPDIR USER $/m,
    );
    // The fourth is the listing itself.
    assert.match(stdout, /^0 1 2 3 4 kept$/m);
  });

  it('[JOB-01] seals cards though whoever started it left certificates open', async () => {
    const certificates = path.join(folder(), 'extra.pem');
    writeFileSync(certificates, '');
    const other = await RunnerClient.start({
      blobs: path.join(folder(), 'blobs'),
      scratch: path.join(folder(), 'scratch'),
      environment: { ...process.env, NODE_EXTRA_CA_CERTS: certificates },
      // Node itself sees to the first few; a gap before the number is where it stops looking.
      wrapper: ['/bin/bash', '-c', 'exec 200<"$0"; exec "$@"', certificates],
    });
    await other.close();
    assert.deepEqual(
      other.hello.isolation.checks.filter(({ ok }) => !ok),
      [],
    );
  });

  it('takes inputs and parameters in, and outputs, logs and progress out', async () => {
    const blobs = path.join(folder(), 'blobs');
    const input = await putTree(blobs, { 'a/b.txt': 'deep' });
    for (const [runtime, text] of [
      [
        'python',
        'from sallyport import *\nprogress(0.5, "half"); outputs.text("o", inputs.path("i").joinpath("a/b.txt").read_text() + params["p"])',
      ],
      [
        'node',
        'import { inputs, outputs, params, progress } from "sallyport"; import { readFileSync } from "node:fs"; progress(0.5, "half"); outputs.text("o", readFileSync(inputs.path("i") + "/a/b.txt", "utf8") + params.p)',
      ],
      ['shell', 'echo \'{"fraction":0.5,"text":"half"}\' >&3; printf "deepit\'s" >$SALLYPORT_OUTPUTS/o'],
    ] as const) {
      const report = await run(runtime, text, {
        params: JSON.stringify({ p: "it's" }),
        inputs: [{ port: 'i', type: 'directory', artifact: input }],
        outputs: [{ port: 'o', type: 'text', optional: false }],
      });
      assert.deepEqual(report.result.outcome, { kind: 'exited', exitCode: 0 }, report.stderr);
      const digest = report.result.outputs['o']?.digest ?? '';
      assert.equal(readFileSync(path.join(blobs, digest.slice(0, 2), digest.slice(2)), 'utf8'), "deepit's");
      assert.deepEqual(report.progress, [{ fraction: 0.5, text: 'half' }]);
      assert.equal(report.started, true);
    }
  });

  it('takes outputs of a folder that the card closed, and tells the last progress of a flood', async () => {
    const text =
      'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo "{\\"fraction\\":1,\\"text\\":\\"$i\\"}"; done >&3; echo {} >$SALLYPORT_OUTPUTS/o; chmod 0 $SALLYPORT_OUTPUTS';
    const { result, progress } = await run('shell', text, {
      outputs: [{ port: 'o', type: 'json', optional: false }],
    });
    assert.deepEqual([result.outcome, Object.keys(result.outputs)], [{ kind: 'exited', exitCode: 0 }, ['o']]);
    assert.equal(progress.at(-1)?.text, '20000');
    assert.ok(progress.length < 1000, String(progress.length));
  });

  const ends: readonly (readonly [
    string,
    JobSpec['runtime'],
    string,
    JobOutcome,
    Partial<JobSpec['limits']>?,
  ])[] = [
    ['an exit status', 'shell', 'exit 7', { kind: 'exited', exitCode: 7 }],
    ['an exit status that looks like a signal', 'shell', 'exit 137', { kind: 'exited', exitCode: 137 }],
    ['a signal', 'shell', 'kill -KILL $$', { kind: 'signalled', signal: 'SIGKILL' }],
    ['a crash', 'python', 'import ctypes; ctypes.string_at(0)', { kind: 'signalled', signal: 'SIGSEGV' }],
    ['a time-out', 'shell', 'sleep 60', { kind: 'timeout', seconds: 1 }, { seconds: 1 }],
    ['a missing file', 'command', '', { kind: 'exited', exitCode: 127 }],
  ];
  for (const [name, runtime, text, outcome, limit] of ends) {
    it(`[JOB-04] tells ${name}`, async () => {
      const entry = runtime === 'command' ? { entry: ['/usr/bin/nonesuch'] } : {};
      const { result } = await run(runtime, text, { ...entry, ...(limit && { limit }) });
      assert.deepEqual(result.outcome, outcome);
    });
  }

  it('[JOB-04] says unknown where a card killed what watched it', async () => {
    for (const text of ['kill -9 2; sleep 30', 'kill -9 -1']) {
      assert.equal((await run('shell', text)).result.outcome.kind, 'unknown');
    }
  });

  it('[JOB-04] refuses a command that is not there, with the remedy', async () => {
    const { result } = await run('command', '', { entry: ['nonesuch'] });
    assert.ok(result.outcome.kind === 'refused' && result.outcome.code === 'interpreter-missing');
    assert.match(result.outcome.remedy ?? '', /Install nonesuch/);
  });

  /** Leaves a process that left its session, ignores every signal that can be ignored, and holds no descriptor. */
  const stayer = (mark: string) => `
    (setsid sh -c 'trap "" TERM HUP INT; exec </dev/null >/dev/null 2>&1 3>&-; while :; do /bin/sleep ${mark}; done' &)
    while [ ! -e /tmp/up ]; do ps ax 2>/dev/null | grep -q '[s]leep ${mark}' && : >/tmp/up; done
    echo up
  `;

  it('[JOB-05] leaves nothing running after success, failure, time-out and cancellation', async () => {
    const tails = [
      'exit 0',
      'exit 1',
      'trap "" TERM; while :; do :; done',
      'trap "" TERM; while :; do /bin/sleep 1; done',
    ];
    for (const [at, tail] of tails.entries()) {
      const mark = `4${process.pid}${at}`;
      const controller = new AbortController();
      const isLast = at === tails.length - 1;
      const jobId = `job-${count + 1}`;
      const report = await run(
        'shell',
        `${stayer(mark)}\n${tail}`,
        // Long enough to say that it is up, also on a busy machine.
        { limit: { seconds: tail.includes(':;') && !isLast ? 8 : 60 } },
        {
          onLog: (text) => {
            if (text.includes('up') && isLast) void client.cancel(jobId);
          },
        },
      );
      controller.abort();
      assert.match(report.stdout, /up/);
      assert.equal(report.result.outcome.kind, ['exited', 'exited', 'timeout', 'cancelled'][at]);
      assert.deepEqual(running(`sleep\0${mark}`), []);
    }
    await until(() => running('bwrap').length === 0 || jobFolders().length <= 3);
  });

  it('[JOB-05] cancels a job that waits for its turn, at once', async () => {
    let up = 0;
    const long = [1, 2].map(() => run('shell', 'echo up; sleep 60', {}, { onLog: () => (up += 1) }));
    const [first, second] = [`job-${count - 1}`, `job-${count}`];
    // Both places are taken.
    await until(() => up === 2);
    const waiting = run('shell', 'echo never');
    const waitingId = `job-${count}`;
    await until(async () => client.cancel(waitingId));
    const { result, started } = await waiting;
    assert.deepEqual([result.outcome.kind, started], ['cancelled', false]);
    for (const jobId of [first, second]) assert.ok(await client.cancel(jobId));
    for (const each of long) assert.deepEqual((await each).result.outcome, { kind: 'cancelled' });
  });

  const bombs: readonly (readonly [
    string,
    JobSpec['runtime'],
    string,
    string,
    Partial<JobSpec['limits']>?,
  ])[] = [
    ['memory of one process', 'python', 'x = []\nwhile True: x.append(bytearray(10**6))', 'memory'],
    [
      'memory of many processes',
      'python',
      'import os, time\nfor _ in range(8):\n  if os.fork() == 0:\n    x = bytearray(60 * 10**6); time.sleep(60)\ntime.sleep(60)',
      'memory',
    ],
    [
      'shared memory',
      'python',
      'import mmap\nm = []\nwhile True: b = mmap.mmap(-1, 10**6); b.write(b"x" * 10**6); m.append(b)',
      'memory',
    ],
    [
      'processes',
      'python',
      'import os, time\nwhile True:\n  try: os.fork()\n  except OSError: time.sleep(0.01)',
      'processes',
    ],
    [
      'threads',
      'python',
      'import threading, time\nwhile True:\n  try: threading.Thread(target=time.sleep, args=(60,)).start()\n  except RuntimeError: time.sleep(0.1)',
      'processes',
    ],
    [
      'outputs',
      'shell',
      'dd if=/dev/zero of=$SALLYPORT_OUTPUTS/x bs=1M 2>/dev/null',
      'output',
      { outputMB: 8 },
    ],
    [
      'outputs on disk in one file',
      'shell',
      'dd if=/dev/zero of=$SALLYPORT_OUTPUTS/x bs=16M 2>/dev/null',
      'output',
      { outputMB: 1025 },
    ],
    [
      'outputs in spite of success',
      'shell',
      'dd if=/dev/zero of=$SALLYPORT_OUTPUTS/x bs=1M 2>/dev/null; exit 0',
      'output',
      { outputMB: 8 },
    ],
  ];
  for (const [name, runtime, text, kind, limit] of bombs) {
    it(`[JOB-06] bounds ${name} and names the limit`, async () => {
      const { result, stderr } = await run(runtime, text, limit ? { limit } : {});
      assert.ok(result.outcome.kind === 'limit', `${JSON.stringify(result.outcome)} ${stderr}`);
      assert.equal(result.outcome.limit, kind);
      assert.deepEqual(result.outputs, {});
    });
  }

  it('[JOB-06] lets a card use all of its limits', async () => {
    const text =
      'import threading, time\nfor _ in range(31): threading.Thread(target=time.sleep, args=(0.4,)).start()\nx = bytearray(150 * 2**20)';
    const { result, stderr } = await run('python', text);
    assert.deepEqual(result.outcome, { kind: 'exited', exitCode: 0 }, stderr);
  });

  it('[JOB-06] gives folders in memory a size', async () => {
    const text =
      'for f in /tmp /home/card /dev/shm; do dd if=/dev/zero of=$f/x bs=1M count=2000 2>&1 | grep -c "No space"; done';
    assert.equal((await run('shell', text)).stdout, '1\n1\n1\n');
  });

  it('[JOB-10] takes a log of any kind, and says what it left out', async () => {
    const long = await run('python', 'print("x" * 10**7)', { limit: { logMB: 20 } });
    assert.deepEqual([long.stdout.length, long.result.logBytes], [10_000_001, 10_000_001]);
    const garbage = await run('python', 'import os\nos.write(1, bytes(range(256)) * 100)');
    assert.deepEqual([garbage.result.logBytes, garbage.result.outcome.kind], [25_600, 'exited']);
    const much = await run('shell', 'yes | head -c 9000000');
    assert.equal(much.result.logBytes, 1024 * 1024);
    assert.ok(much.result.logCutBytes >= 9_000_000 - 1024 * 1024);
  });

  it('[JOB-11] shows granted folders as they were granted', async () => {
    const shared = path.join(folder(), 'shared');
    mkdirSync(shared, { mode: 0o755 });
    writeFileSync(path.join(shared, 'file'), 'there');
    if (isRoot) chownSync(shared, 1234, 1234);
    // A root runner's cards are other users, who must be able to pass.
    chmodSync(folder(), 0o711);
    const text = 'cat /host/data/file; echo new >/host/data/new; echo $?; echo new >/project/new; echo $?';
    const grant = (write: boolean) => ({
      access: { ...closed, hostFolders: [{ path: shared, name: 'data', write }], projectRoot: shared },
    });
    assert.match((await run('shell', text, grant(false))).stdout, /^there2\n2\n$/);
    assert.match((await run('shell', text, grant(true))).stdout, /^there0\n2\n$/);
    assert.equal(readFileSync(path.join(shared, 'new'), 'utf8'), 'new\n');
    const socket =
      'import socket\ntry: socket.socket(socket.AF_UNIX); print("open")\nexcept OSError: print("refused")';
    assert.equal((await run('python', socket, grant(false))).stdout, 'refused\n');
    assert.equal((await run('python', socket)).stdout, 'open\n');
  });

  it('[JOB-11] says which folder is in the way of a granted one', async function () {
    if (!isRoot) {
      console.log('      skipped: only a root runner’s cards are other users');
      this.skip();
    }
    const closedFolder = path.join(folder(), 'closed');
    const shared = path.join(closedFolder, 'deep', 'shared');
    mkdirSync(shared, { recursive: true });
    for (const each of [closedFolder, path.dirname(shared), shared]) chmodSync(each, 0o755);
    chmodSync(folder(), 0o711);
    chmodSync(closedFolder, 0o700);
    const access = { ...closed, hostFolders: [{ path: shared, name: 'data', write: false }] };
    const { outcome } = (await run('shell', 'ls /host/data', { access })).result;
    assert.ok(outcome.kind === 'refused' && outcome.code === 'unsafe-path', JSON.stringify(outcome));
    assert.match(outcome.detail, new RegExp(`${shared} .* may not enter ${closedFolder}$`));
    assert.match(outcome.remedy ?? '', new RegExp(`chmod o\\+x ${closedFolder}\\)`));
    chmodSync(closedFolder, 0o701);
    assert.deepEqual((await run('shell', 'ls /host/data', { access })).result.outcome, {
      kind: 'exited',
      exitCode: 0,
    });
  });

  it('[JOB-11] never shows what Sallyport keeps for itself', async () => {
    const access = { ...closed, hostFolders: [{ path: folder(), name: 'data', write: true }] };
    const { result } = await run('shell', 'ls /host/data', { access });
    assert.ok(result.outcome.kind === 'refused' && result.outcome.code === 'unsafe-path');
  });

  it('[JOB-09] never runs a card as the root of the machine', async () => {
    const mark = `5${process.pid}`;
    const text = `[ -w /proc/sys/kernel/core_pattern ] || [ -w /proc/sysrq-trigger ] || echo kept; sleep ${mark}`;
    const job = run('shell', text);
    await until(() => running(`sleep\0${mark}`).length > 0);
    const [pid] = running(`sleep\0${mark}`);
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    await client.cancel(`job-${count}`);
    const ids = /^Uid:\s+(.*)$/m.exec(status)?.[1]?.split('\t').map(Number) ?? [0];
    assert.ok(
      ids.every((id) => id > 0),
      ids.join(),
    );
    assert.equal((await job).stdout, 'kept\n');
  });

  it('refuses the same job twice, a second greeting and another protocol', async () => {
    let isUp = false;
    const first = run('shell', 'echo up; sleep 60', {}, { onLog: () => (isUp = true) });
    const jobId = `job-${count}`;
    await until(() => isUp);
    const again = client.channel.call('job/run', {
      ...{ jobId, cardId: 'card', runtime: 'shell', entry: 'main.sh', inputs: [], outputs: [], params: '{}' },
      code: await putTree(path.join(folder(), 'blobs'), { 'main.sh': '' }),
      limits: { seconds: 1, memoryMB: 64, processes: 8, outputMB: 1, logMB: 1 },
      access: { network: { kind: 'none' }, hostFolders: [] },
    });
    await assert.rejects(again, { code: 'conflict' });
    await client.cancel(jobId);
    await first;
    const hello = { protocol: 1, blobs: folder(), scratch: folder(), maxJobs: 1 };
    await assert.rejects(client.channel.call('runner/hello', hello), { code: 'conflict' });
    await assert.rejects(client.channel.call('runner/hello', { ...hello, protocol: 99 }), {
      code: 'bad-message',
    });
  });

  it('[JOB-07] leaves no process when it is killed, and its folders to the next sweep', async () => {
    const mark = `3${process.pid}`;
    const job = run('shell', `${stayer(mark)}\nsleep 60`, {}, {}).catch(() => undefined);
    await until(() => running(`sleep\0${mark}`).length > 0);
    process.kill(client.pid, 'SIGKILL');
    await job;
    await until(() => running(`sleep\0${mark}`).length === 0);
    const killed = client.pid;
    await client.close().catch(() => undefined);
    client = await start();
    // Root's runners share one place: another one that starts meanwhile may have swept first.
    await client.channel.call('runner/sweep', {});
    const places = isRoot ? rootScratch : path.join(folder(), 'scratch');
    assert.deepEqual(
      readdirSync(places).filter((name) => name.startsWith(`sallyport-runner-${killed}-`)),
      [],
    );
  });

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    it(`[JOB-07] ends with its jobs and folders on ${signal}`, async () => {
      const mark = `2${process.pid}`;
      const job = run('shell', `${stayer(mark)}\nsleep 60`).catch(() => undefined);
      await until(() => running(`sleep\0${mark}`).length > 0);
      process.kill(client.pid, signal);
      await job;
      await until(() => !client.isRunning);
      assert.deepEqual(running(`sleep\0${mark}`), []);
      const places = isRoot ? rootScratch : path.join(folder(), 'scratch');
      assert.deepEqual(
        readdirSync(places).filter((name) => name.startsWith(`sallyport-runner-${client.pid}-`)),
        [],
      );
    });
  }

  it('[JOB-08] keeps standby sandboxes that use no processor time', async () => {
    await run('shell', 'exit 0');
    const ticks = () => childrenOf(client.pid).reduce((sum, pid) => sum + ticksOf(pid), 0);
    await until(() => jobFolders().length === 3);
    const ticksInASecond = async () => {
      const before = ticks();
      await once(spawn('/bin/sleep', ['1']), 'exit');
      return ticks() - before;
    };
    // They may still be on their way when their folders are there; once they stand, they stay idle.
    await until(async () => (await ticksInASecond()) <= 1);
    assert.ok((await ticksInASecond()) <= 1);
  });

  it('[JOB-03] probes anew when asked, and goes on with what it found', async () => {
    const job = run('shell', 'sleep 0.2');
    const report = await client.channel.call('runner/probe', {});
    assert.equal(report.kind, 'bubblewrap');
    assert.ok(report.checks.every((check) => check.ok));
    assert.equal((await job).result.outcome.kind, 'exited');
    assert.equal((await run('shell', 'exit 0')).result.outcome.kind, 'exited');
  });

  it('lets a card with a host list reach those hosts through the proxy, and records each request', async () => {
    const server = createServer((_, response) => response.end('listed'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const text = `
import socket, urllib.request
for url in ("http://127.0.0.1:${port}/", "http://127.0.0.1:9/"):
    try: print(urllib.request.urlopen(url).read().decode())
    except OSError: print("refused")
try: socket.create_connection(("127.0.0.1", ${port}), 1); print("around the proxy")
except OSError: print("no other way")
`;
    const access: JobSpec['access'] = { ...closed, network: { kind: 'hosts', hosts: [`127.0.0.1:${port}`] } };
    const { stdout, stderr, egress } = await run('python', text, { access });
    server.close();
    assert.equal(stdout, 'listed\nrefused\nno other way\n', stderr);
    assert.deepEqual(
      egress.map(({ port: asked, verdict }) => [asked, verdict]),
      [
        [port, 'allowed'],
        [9, 'refused'],
      ],
    );
  });
});

function childrenOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
}

/** Processor time of one process, in clock ticks. */
function ticksOf(pid: string): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
