import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { CardJob } from '../../../language-server/src/runners/cardRunner.ts';
import { lookAround, vmSize } from '../../../language-server/src/runners/vm/openVmPlace.ts';
import { openVmFolder } from '../../../language-server/src/runners/vm/vmFolder.ts';
import { putBlob, putTree } from '../../support/blobs.ts';
import { bundledRunner } from '../../support/bundledRunner.ts';
import { jobWith } from '../../support/jobs.ts';
import { Heard, RememberedJobs } from '../../support/remotePlace.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';
import { builtVmHome, openTestVms, vmFault, type TestVms } from '../../support/vm.ts';
import { qemuOf } from '../../support/vmProcesses.ts';

const never = new AbortController().signal;
const text = { port: 'text', type: 'text', optional: false } as const;
const limits = { seconds: 60, memoryMB: 256, processes: 32, outputMB: 64, logMB: 1 };

/** A real VM under whatever runs here; nothing in this file depends on which. */
describe('cards in a VM', function () {
  this.timeout(300_000);
  const folder = useTemporaryFolder();
  let home = '';
  let runner = '';
  let jobs = 0;
  const opened: TestVms[] = [];

  before(async function () {
    const fault = vmFault();
    if (fault !== undefined) {
      console.log(`      skipped: ${fault}`);
      this.skip();
    }
    runner = bundledRunner();
    home = await builtVmHome(runner);
  });
  afterEach(async () => {
    for (const { place } of opened.splice(0)) await place.dispose();
    const machines = join(home, 'vm/machines');
    await until(() => !readdirSync(machines).some((name) => isUp(join(machines, name))));
  });

  const open = (jobsOf?: RememberedJobs) => {
    const blobs = join(folder(), 'blobs');
    mkdirSync(blobs, { recursive: true });
    const vms = openTestVms(home, runner, blobs, jobsOf);
    opened.push(vms);
    return vms;
  };
  const jobOf = async (vms: TestVms, script: string, more: Partial<CardJob> = {}): Promise<CardJob> => {
    const code = await putTree(vms.blobs.folder, { 'main.sh': script });
    jobs += 1;
    return { ...jobWith({ jobId: `vm-${process.pid}-${jobs}`, code, limits }), project: 'one', ...more };
  };
  const run = async (vms: TestVms, script: string, more: Partial<CardJob> = {}) => {
    const heard = new Heard();
    const result = await vms.place.run(await jobOf(vms, script, more), heard, never);
    return { ...result, stdout: heard.stdout, stderr: heard.stderr };
  };
  const outputText = (vms: TestVms, { outputs }: { outputs: Readonly<Record<string, { digest: string }>> }) =>
    vms.blobs.readBytes(outputs['text']?.digest ?? '').toString();

  it('[VM-01] runs sealed inside, and its result comes back by content', async () => {
    const vms = open();
    const input = await putBlob(vms.blobs.folder, 'from outside\n');
    const result = await run(
      vms,
      'cat $SALLYPORT_INPUTS/in; grep -c . /proc/net/dev; cat $SALLYPORT_INPUTS/in > $SALLYPORT_OUTPUTS/text; uname -r',
      { inputs: [{ port: 'in', type: 'text', artifact: input }], outputs: [text] },
    );
    assert.deepEqual(result.outcome, { kind: 'exited', exitCode: 0 }, result.stderr);
    assert.equal(result.isolation, 'bubblewrap');
    assert.equal(outputText(vms, result), 'from outside\n');
    const [first, devices, kernel] = result.stdout.trim().split('\n');
    assert.equal(first, 'from outside');
    // Two lines of heading, and the loopback.
    assert.equal(devices, '3');
    const own = readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim();
    assert.notEqual(kernel, own, 'it ran on the kernel of this machine');
    const isolation = await vms.place.probe();
    assert.equal(isolation.kind, 'bubblewrap');
  });

  it('[VM-02] has no network device outside the card’s walls either, and no file of this machine', async () => {
    const vms = open();
    const { stdout, outcome } = await run(
      vms,
      'cat /sys/class/net 2>/dev/null; ls /proc/1/root 2>&1 | head -1; test -e /home/card/../../work && echo seen; ls /dev/virtio-ports /dev/vport* 2>&1 | head -2; cat /dev/vda 2>&1 | head -c 10',
    );
    assert.equal(outcome.kind, 'exited');
    assert.doesNotMatch(stdout, /seen|sallyport\.control/);
    const [machine = ''] = readdirSync(join(home, 'vm/machines'));
    const arguments_ = readFileSync(
      `/proc/${qemuOf(join(home, 'vm/machines', machine))}/cmdline`,
      'utf8',
    ).split('\0');
    assert.equal(arguments_[arguments_.indexOf('-nic') + 1], 'none');
  });

  it('[VM-04] gives each project a VM of its own', async () => {
    const vms = open();
    const boot = 'cat /proc/sys/kernel/random/boot_id /proc/uptime';
    const one = await run(vms, boot);
    const again = await run(vms, boot);
    const two = await run(vms, boot, { project: 'two' });
    const uptime = (told: string) => Number(told.split('\n')[1]?.split(' ')[0]);
    assert.ok(uptime(again.stdout) >= uptime(one.stdout));
    const running = readdirSync(join(home, 'vm/machines')).filter((name) =>
      isUp(join(home, 'vm/machines', name)),
    );
    assert.equal(running.length, 2);
    assert.equal(two.outcome.kind, 'exited');
  });

  const networks = [
    ['without a network', { kind: 'none' }],
    ['with one', { kind: 'hosts', hosts: ['example.test'] }],
  ] as const;
  for (const [what, network] of networks) {
    it(`[VM-05] [VM-15] twins ${what} from one store share neither random numbers nor the time`, async () => {
      const vms = open();
      const access = {
        network: network.kind === 'none' ? network : { ...network, hosts: [...network.hosts] },
        hostFolders: [],
      };
      const script = 'head -c 16 /dev/urandom | od -An -tx1; date +%s; cat /proc/sys/kernel/random/uuid';
      const [one, two] = await Promise.all([
        run(vms, script, { access }),
        run(vms, script, { access, project: 'two' }),
      ]);
      const machines = join(home, 'vm/machines');
      const started = readdirSync(machines).flatMap((name) => qemuOf(join(machines, name)) ?? []);
      assert.equal(started.length, 2);
      for (const pid of started)
        assert.match(
          readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
          /-incoming/,
          'one did not start from the store',
        );
      const [random1, date1 = '', uuid1] = one.stdout.trim().split('\n');
      const [random2, date2 = '', uuid2] = two.stdout.trim().split('\n');
      assert.notEqual(random1, random2);
      assert.notEqual(uuid1, uuid2);
      for (const date of [date1, date2]) assert.ok(Math.abs(Number(date) - Date.now() / 1000) < 120, date);
    });
  }

  it('[VM-05] nor does the runner in them, which was running when the VM was stored', async () => {
    const vms = open();
    const keys = new Set<string>();
    for (const project of ['one', 'two']) {
      keys.add((await vms.place.ready({ project })).vaultKey ?? assert.fail());
    }
    assert.equal(keys.size, 2);
  });

  it('[VM-06] an engine that is killed loses nothing: the next one finds the VM and the result', async () => {
    const blobs = join(folder(), 'blobs');
    mkdirSync(blobs, { recursive: true });
    const code = await putTree(blobs, {
      'main.sh': 'echo begun; sleep 2; echo done > $SALLYPORT_OUTPUTS/text',
    });
    const job = {
      ...jobWith({ jobId: `vm-${process.pid}-killed`, code, limits, outputs: [text] }),
      project: 'killed',
    };
    const engine = spawn(process.execPath, [crashVm, home, runner, blobs, JSON.stringify(job)]);
    let said = '';
    engine.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    engine.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await until(() => said.includes('begun'));
    engine.kill('SIGKILL');
    await once(engine, 'close');

    const machines = join(home, 'vm/machines');
    const [held] = readdirSync(machines).filter((name) => isUp(join(machines, name)));
    assert.ok(held, 'the VM ended with the engine');
    const remembered = new RememberedJobs();
    remembered.send(`vm:${held}`, job);
    const next = open(remembered);
    const adopted = () => remembered.adopted.find(({ jobId }) => jobId === job.jobId);
    await until(async () => {
      await next.place.run(await jobOf(next, 'true', { project: 'killed' }), new Heard(), never);
      next.place.disconnect();
      return adopted() !== undefined;
    });
    const result = adopted()?.result ?? assert.fail('it has no result');
    assert.deepEqual(result.outcome, { kind: 'exited', exitCode: 0 });
    assert.equal(outputText(next, result), 'done\n');
  });

  it('[VM-07] cancel ends the card in there, and the VM goes on', async () => {
    const vms = open();
    const heard = new Heard();
    const stop = new AbortController();
    const running = vms.place.run(await jobOf(vms, 'echo begun; sleep 60'), heard, stop.signal);
    await until(() => heard.stdout.includes('begun'));
    stop.abort();
    assert.deepEqual((await running).outcome, { kind: 'cancelled' });
    assert.equal((await run(vms, 'true')).outcome.kind, 'exited');
  });

  it('[VM-08] refuses what a VM has not, in words', async () => {
    const vms = open();
    const refuse = async (more: Partial<CardJob>) => (await run(vms, 'true', more)).outcome;
    const project = await refuse({
      access: { network: { kind: 'none' }, hostFolders: [], projectRoot: '/tmp' },
    });
    assert.ok(project.kind === 'refused' && /project/.test(project.detail));
    const memory = await refuse({ limits: { ...limits, memoryMB: 60_000 } });
    assert.ok(memory.kind === 'refused' && /MB/.test(memory.detail));
  });

  it('[VM-34] a card is where another one was only where instructions are translated, and can’t change more', async () => {
    const { image, machines } = openVmFolder(home);
    const around = { runner, now: () => Date.now() };
    const { accelerator } = (await lookAround(around, image, machines, vmSize())).shape;
    const vms = open();
    const look = async () =>
      (await run(vms, 'cut -d " " -f 1 /proc/self/maps; cat /proc/sys/kernel/randomize_va_space')).stdout;
    const [first, second] = [await look(), await look()];
    assert.equal(first === second, accelerator === 'tcg', `${first}\n${second}`);
    // The kernel goes on drawing addresses for everything else.
    assert.match(first, /\n2\n$/);
    const code = await putTree(vms.blobs.folder, {
      'main.py': [
        'import ctypes',
        'libc = ctypes.CDLL(None)',
        'print([libc.syscall(135, value) for value in (0xffffffff, 0, 0x0440000, 8, 0x0040000)])',
      ].join('\n'),
    });
    const { stdout } = await run(vms, '', { runtime: 'python', entry: 'main.py', code });
    const kept = accelerator === 'tcg' ? String(0x0040000) : '-1';
    assert.equal(stdout, `[-1, -1, -1, -1, ${kept}]\n`);
  });

  it('[VM-36] has a processor by which the kernel keeps from running and reading what is a card’s', async () => {
    const { image, machines } = openVmFolder(home);
    const around = { runner, now: () => Date.now() };
    const { accelerator } = (await lookAround(around, image, machines, vmSize())).shape;
    const flagsIn = (text: string) => (/^flags\s*:(.*)$/m.exec(text)?.[1] ?? '').trim().split(' ');
    const own = flagsIn(readFileSync('/proc/cpuinfo', 'utf8'));
    const guards = ['nx', 'smep', 'smap', 'umip'].filter(
      (flag) => accelerator === 'tcg' || own.includes(flag),
    );
    const { stdout } = await run(open(), 'grep -m 1 ^flags /proc/cpuinfo');
    const seen = flagsIn(stdout);
    assert.deepEqual(
      guards.filter((flag) => !seen.includes(flag)),
      [],
    );
  });

  it('[VM-09] a card that was given a host reaches it from a VM of its own, and nothing else', async () => {
    const server = createServer((_, response) => response.end('hello from the host\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const vms = open();
      // The address by which QEMU's network leads to this machine's loopback.
      const at = `10.0.2.2:${port}`;
      const script = [
        'import os, urllib.request, urllib.error',
        'for url in os.environ["SALLYPORT_PARAMS"].strip("[]").replace(\'"\', "").split(","):',
        '    try: print(urllib.request.urlopen(url, timeout=20).read().decode().strip())',
        '    except Exception as error: print("refused", type(error).__name__)',
      ].join('\n');
      const code = await putTree(vms.blobs.folder, { 'main.py': script });
      const urls = [`http://${at}/`, `http://10.0.2.2:${port + 1}/`, 'http://10.0.2.3/'];
      const given = await run(vms, '', {
        runtime: 'python',
        entry: 'main.py',
        code,
        params: JSON.stringify(urls),
        access: { network: { kind: 'hosts', hosts: [at] }, hostFolders: [] },
      });
      assert.deepEqual(given.stdout.trim().split('\n'), [
        'hello from the host',
        'refused HTTPError',
        'refused HTTPError',
      ]);
      const closed = await run(vms, '', {
        runtime: 'python',
        entry: 'main.py',
        code,
        params: JSON.stringify(urls),
      });
      assert.deepEqual(closed.stdout.trim().split('\n'), [
        'refused URLError',
        'refused URLError',
        'refused URLError',
      ]);
    } finally {
      server.close();
    }
  });

  it('a card of 20 MB travels and comes back the same', async () => {
    const vms = open();
    const bytes = Buffer.alloc(20_000_000);
    for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
    const input = await putBlob(vms.blobs.folder, bytes);
    const result = await run(vms, 'cat $SALLYPORT_INPUTS/in > $SALLYPORT_OUTPUTS/text', {
      inputs: [{ port: 'in', type: 'file', artifact: input }],
      outputs: [{ ...text, type: 'file' }],
    });
    assert.equal(result.outputs['text']?.digest, input.digest);
  });

  function isUp(machine: string): boolean {
    return qemuOf(machine) !== undefined;
  }
});

const crashVm = join(import.meta.dirname, '../../support/crashVm.ts');
