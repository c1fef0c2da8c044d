import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CardJob } from '../../../language-server/src/runners/cardRunner.ts';
import type { PlaceRunner } from '../../../language-server/src/runners/places/placeRunner.ts';
import type { SshConnection } from '../../../language-server/src/runners/ssh/sshConnection.ts';
import { openTerminalConnection } from '../../../language-server/src/runners/vm/terminalConnection.ts';
import { Terminals } from '../../../language-server/src/runners/vm/terminals.ts';
import { putTree } from '../../support/blobs.ts';
import { buildPrograms } from '../../support/builtPrograms.ts';
import { bundledRunner } from '../../support/bundledRunner.ts';
import { jobWith } from '../../support/jobs.ts';
import { writeProject } from '../../support/projectFolder.ts';
import { Heard } from '../../support/remotePlace.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';
import { builtVmHome, openTestVms, vmFault, type TestVms } from '../../support/vm.ts';

const never = new AbortController().signal;
const size = { columns: 90, rows: 20 };

/** A real VM, its real SSH server, and what someone in it, or in place of it, could try. */
describe('a terminal in a VM', function () {
  this.timeout(300_000);
  const folder = useTemporaryFolder();
  let home = '';
  let runner = '';
  let vms: TestVms;
  const open: { close(): void }[] = [];

  before(async function () {
    const fault = vmFault();
    if (fault !== undefined) {
      console.log(`      skipped: ${fault}`);
      this.skip();
    }
    runner = bundledRunner();
    home = await builtVmHome(runner);
  });
  beforeEach(() => {
    const blobs = join(folder(), 'blobs');
    mkdirSync(blobs, { recursive: true });
    vms = openTestVms(home, runner, blobs);
  });
  afterEach(async () => {
    for (const each of open.splice(0)) each.close();
    await vms.place.dispose();
  });

  const connect = async (place: PlaceRunner = vms.place, network = false): Promise<SshConnection> => {
    const connection = await openTerminalConnection(place, { project: 'one', network }, never);
    open.push(connection);
    return connection;
  };
  const said = async (connection: SshConnection, script: string) =>
    (await connection.run('', `exec 2>&1\n${script}\n`)).stdout;

  it('[VM-21] is an ordinary user who sees the machine and the files of a card that runs, and changes nothing', async () => {
    const code = await putTree(vms.blobs.folder, {
      'main.sh': 'echo begun; sleep 500',
      'note.txt': 'seen\n',
    });
    const limits = { seconds: 600, memoryMB: 128, processes: 16, outputMB: 1, logMB: 1 };
    const job = { ...jobWith({ jobId: `vm-terminal-${process.pid}`, code, limits }), project: 'one' };
    const heard = new Heard();
    const stop = new AbortController();
    const running = vms.place.run(job, heard, stop.signal);
    await until(() => heard.stdout.includes('begun'));

    const connection = await connect();
    const look = await said(
      connection,
      'id -u; cat /jobs/*/code/note.txt; busybox ps | grep -c "[s]leep 500"; head -1 /etc/passwd',
    );
    assert.match(look, /^2000\nseen\n[1-9]\nroot:x:0:0:/);
    const note = '$(echo /jobs/*/code/note.txt)';
    const attempts = [
      `echo changed > ${note}`,
      `rm -f ${note}`,
      'echo x > /etc/passwd',
      'echo x > /usr/bin/x',
      'echo 1 > /proc/sys/kernel/panic',
      'kill -9 1',
      'pkill -9 -f "sleep 500"',
      'mount -o remount,rw /',
      'umount /var/lib/sallyport',
    ];
    const tried = await said(
      connection,
      attempts.map((each) => `(${each}) >/dev/null 2>&1 && echo "did: ${each}"`).join('\n'),
    );
    assert.equal(tried, '');
    assert.match(
      await said(connection, 'echo mine > ~/a && echo mine > /tmp/a && cat ~/a /tmp/a'),
      /^mine\nmine\n/,
    );
    assert.match(await said(connection, 'cat /jobs/*/code/note.txt'), /^seen/);
    // What a card was given in its environment, vault values among it, is nobody else's to see.
    const environments = 'cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n" | grep -c SALLYPORT_';
    assert.equal(await said(connection, environments), '0\n');
    stop.abort();
    assert.equal((await running).outcome.kind, 'cancelled');
  });

  it('[VM-22] reaches neither the runner’s socket, journal and blobs nor its memory, nor any device or network', async () => {
    const connection = await connect();
    const hidden = await said(
      connection,
      'ls -A /var/lib/sallyport | wc -l; cat /proc/net/dev | wc -l; ls /dev | grep -E "vd|vport|hvc|mem" | wc -l',
    );
    // Two lines of heading, and the loopback.
    assert.deepEqual(hidden.trim().split('\n'), ['0', '3', '0']);
    const attempts = [
      'cat /proc/1/environ',
      'head -c 1 /proc/1/mem',
      'ls -l /proc/1/root/',
      'ls -l /proc/1/cwd/',
      'readlink /proc/1/fd/0',
      'cat /proc/1/maps',
      'head -c 1 /proc/kcore',
      'cat /dev/vdb',
      'python3 -c "import ctypes; l=ctypes.CDLL(None,use_errno=True); exit(0 if l.ptrace(16,1,0,0)==0 else 1)"',
      // The journal’s disk has other ways to a file than its path: by handle (open_by_handle_at(2)).
      'python3 -c "import ctypes; l=ctypes.CDLL(None,use_errno=True); b=ctypes.create_string_buffer(256); exit(0 if l.name_to_handle_at(-100,b\'/jobs\',b,ctypes.byref(ctypes.c_int()),0)==0 else 1)"',
      'unshare -U true',
      'busybox unshare -U true',
      'busybox nc -w 1 10.0.2.2 22 </dev/null',
      'python3 -c "import socket; s=socket.socket(); s.settimeout(1); s.connect((\'10.0.2.2\',22))"',
      'python3 -c "import socket; s=socket.socket(socket.AF_UNIX); s.connect(\'/var/lib/sallyport/runner.sock\')"',
    ];
    for (const attempt of attempts) {
      const script = `(${attempt}) >/dev/null 2>&1 && echo did`;
      assert.equal(await said(connection, script), '', attempt);
    }
    // Two of its programs are at other addresses, also where those of a card are not.
    const maps = 'cut -d " " -f 1 /proc/self/maps';
    assert.notEqual(await said(connection, maps), await said(connection, maps));
    // The same right reads what is root's alone where nothing covers it: it is the cover that hides.
    assert.equal(
      await said(
        connection,
        'test ! -r /run/sallyport-terminal/host; cat /sys/kernel/slab/*/nothing 2>/dev/null; ls -d /jobs',
      ),
      '/jobs\n',
    );
  });

  it('[VM-22] in the VM that has a network, shows that one’s cards and has no network itself', async () => {
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const stop = new AbortController();
    try {
      const dial = `python3 -c "import socket; socket.create_connection(('10.0.2.2', ${port}), 20)"`;
      const code = await putTree(vms.blobs.folder, {
        'main.sh': `${dial} && echo reached; exec sleep 600`,
      });
      const job: CardJob = {
        ...jobWith({ jobId: `vm-terminal-network-${process.pid}`, code }),
        limits: { seconds: 600, memoryMB: 128, processes: 16, outputMB: 1, logMB: 1 },
        access: { network: { kind: 'all' }, hostFolders: [] },
        project: 'one',
      };
      const heard = new Heard();
      const running = vms.place.run(job, heard, stop.signal);
      await until(() => heard.stdout.includes('reached'), 120_000);
      const [there, here] = [await connect(vms.place, true), await connect()];
      const sleeping = 'busybox ps | grep -c "[s]leep 600"';
      assert.equal(await said(there, sleeping), '1\n');
      assert.equal(await said(here, sleeping), '0\n');
      assert.equal(await said(there, `(${dial}) >/dev/null 2>&1 || echo refused`), 'refused\n');
      assert.equal(await said(there, 'cat /proc/net/dev | wc -l'), '3\n');
      stop.abort();
      assert.equal((await running).outcome.kind, 'cancelled');
    } finally {
      stop.abort();
      server.close();
    }
  });

  it('[VM-23] lets in one key, once, shows one host key, and forwards nothing', async () => {
    const good = await connect();
    assert.equal(await said(good, 'echo in'), 'in\n');
    for (const refused of [
      good.openTcp('127.0.0.1', 22),
      good.openSocket('/var/lib/sallyport/runner.sock'),
      good.openSocket('/run/x'),
    ])
      await assert.rejects(refused, { code: 'unreachable' });
    good.close();
    await good.closed;

    // Another key than the one that was offered, as if someone else had got to the port.
    const offered: Buffer[] = [];
    const other: PlaceRunner = Object.create(vms.place, {
      openTerminal: {
        value: (key: string, options: object) => {
          offered.push(Buffer.from(key, 'base64'));
          return vms.place.openTerminal(Buffer.alloc(32, 7).toString('base64'), options);
        },
      },
    }) as PlaceRunner;
    await assert.rejects(connect(other), { code: 'sign-in' });
    assert.equal(offered.length, 1);

    // Another host than the one that the VM told of.
    const swapped: PlaceRunner = Object.create(vms.place, {
      openTerminal: {
        value: async (key: string, options: object) => {
          const way = await vms.place.openTerminal(key, options);
          return { ...way, hostKey: Buffer.alloc(32, 7).toString('base64') };
        },
      },
    }) as PlaceRunner;
    await assert.rejects(connect(swapped), { code: 'host-key' });

    // Nothing of that keeps the next one out, and its host key is another.
    const keys = new Set<string>();
    for (let count = 0; count < 2; count += 1) {
      const { hostKey, stream } = await vms.place.openTerminal(Buffer.alloc(32, 7).toString('base64'), {
        project: 'one',
      });
      keys.add(hostKey);
      stream.destroy();
    }
    assert.equal(keys.size, 2);
    assert.equal(await said(await connect(), 'echo in'), 'in\n');
  });

  it('[VM-24] several terminals share a connection; a slow reader loses nothing, closing the last ends everything', async () => {
    let connections = 0;
    let ids = 0;
    const terminals = new Terminals({
      connect: async (vm, signal) => {
        connections += 1;
        return openTerminalConnection(vms.place, vm, signal);
      },
      createId: () => String((ids += 1)),
      setTimer: (run, ms) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
    });
    open.push({ close: () => terminals.dispose() });
    const [one, two] = await Promise.all([
      terminals.open({ project: 'one', network: false }, size, never),
      terminals.open({ project: 'one', network: false }, size, never),
    ]);
    assert.equal(connections, 1);
    const readUntil = async (id: string, pattern: RegExp) => {
      for (let text = ''; ;) {
        const read = await terminals.read(id, AbortSignal.timeout(60_000));
        text += read.text;
        if (pattern.test(text)) return text;
        assert.equal(read.end, null, text);
      }
    };
    await terminals.write(one, 'stty size; echo from-$((20 + 1))\n');
    assert.match(await readUntil(one, /from-21/), /20 90/);
    terminals.resize(two, { columns: 123, rows: 45 });
    await terminals.write(two, 'sleep 0.2; stty size; setsid sleep 1234 & \n');
    await readUntil(two, /45 123/);

    // A megabyte comes whole, however slowly it is read.
    await terminals.write(one, 'head -c 1000000 /dev/zero | tr "\\0" x; echo; echo end-$((30 + 1))\n');
    const much = await readUntil(one, /end-31/);
    assert.equal((much.match(/x/g) ?? []).length >= 1_000_000, true);

    await terminals.write(one, 'exit 7\n');
    for (;;) {
      const { end } = await terminals.read(one, AbortSignal.timeout(60_000));
      if (!end) continue;
      assert.deepEqual(end, { code: 7, signal: null });
      break;
    }
    await assert.rejects(terminals.read(one, never), { code: 'not-found' });
    terminals.close(two);
    await until(() => terminals.count === 0);
    assert.equal(await said(await connect(), 'busybox ps | grep -c "[s]leep 1234"'), '0\n');
  });

  it('[VM-24] at the command line: keys, size, Ctrl-C and exit code are the shell’s', async () => {
    const built = await buildPrograms();
    try {
      // The one that the image was built with.
      copyFileSync(runner, join(built, 'dist/remote-agent.cjs'));
      const project = writeProject(join(folder(), 'project'), { a: {} });
      const steps = [
        { wait: 'person@vm:~$', size: [41, 131] },
        {
          wait: '',
          // Who says that it is on is the one program that is interrupted: of a shell that is about to start another
          // one, a signal waits for that one's end.
          type: `until [ "$(stty size)" = "41 131" ]; do sleep 0.1; done; tty; echo on-$((1 + 1)) >~/on; tail -f ~/on\r`,
        },
        { wait: 'on-2', type: '\u0003' },
        { wait: '^C' },
        { wait: 'person@vm:~$', type: 'echo typed-$((40 + 2)); exit 9\r' },
        { wait: 'typed-42' },
      ];
      const words = [
        useTerminal,
        JSON.stringify(steps),
        '150',
        process.execPath,
        join(built, 'dist/cli.mjs'),
        'vm',
        'terminal',
        project,
      ];
      const { stdout, stderr } = await promisify(execFile)('python3', words, {
        env: { ...process.env, SALLYPORT_HOME: home, TERM: 'xterm' },
      }).catch((error: unknown) => {
        const { stdout: shown, stderr: told } = error as { stdout?: unknown; stderr?: unknown };
        return assert.fail(`${String(told)}; it showed ${JSON.stringify(shown)}`);
      });
      assert.equal(stderr, '9', stdout);
      assert.match(stdout, /\/dev\/pts\/[0-9]/);
      assert.match(stdout, /typed-42/);
    } finally {
      rmSync(built, { recursive: true, force: true });
    }
  });
});

const useTerminal = join(import.meta.dirname, '../../support/useTerminal.py');
