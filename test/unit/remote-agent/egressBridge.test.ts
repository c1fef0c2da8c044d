import assert from 'node:assert/strict';
import { ChildProcess, spawn, spawnSync, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { EgressRecord } from '../../../protocol/src/runner.ts';
import { createEgressProxy, type EgressProxy } from '../../../remote-agent/src/egress.ts';
import {
  awaitListener,
  bridgeCommand,
  bridgeEnvironment,
  egressBridge,
  proxyEnvironment,
} from '../../../remote-agent/src/egressBridge.ts';
import { until } from '../../support/until.ts';

const helper = join(import.meta.dirname, '../../../remote-agent/helpers/egressBridge.cjs');
const bubblewrap = [
  ...[
    '--unshare-all',
    '--unshare-user',
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    '--clearenv',
  ],
  ...['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
  ...['--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev'],
];

/** Bridge first, to its end; then the program, without the channel. */
const launch = `${bridgeCommand('/node', '/bridge.cjs').join(' ')} </dev/null || exit 97
unset ${Object.keys(bridgeEnvironment).join(' ')}
exec "$@" ${egressBridge.channelDescriptor}>&-`;

const stdio: StdioOptions = [
  ...(['ignore', 'pipe', 'inherit'] as const),
  ...Array.from({ length: egressBridge.channelDescriptor - 3 }, () => 'ignore' as const),
  'ipc',
];

describe('egressBridge', () => {
  let origin: Server;
  let address: string;
  let proxy: EgressProxy;
  let records: EgressRecord[];

  before(function () {
    if (spawnSync('bwrap', [...bubblewrap, '--', '/bin/true']).status !== 0) {
      console.log('      skipped: bubblewrap does not run here');
      this.skip();
    }
  });
  beforeEach(async () => {
    records = [];
    origin = createServer((_request, response) => response.end('from outside')).listen(0, '127.0.0.1');
    await once(origin, 'listening');
    address = `127.0.0.1:${(origin.address() as AddressInfo).port}`;
    proxy = createEgressProxy({
      jobId: 'job-1',
      hosts: [address],
      onRecord: (record) => records.push(record),
    });
  });
  afterEach(async () => {
    await proxy.close();
    origin.closeAllConnections();
    await once(origin.close(), 'close');
  });

  /** Runs a program in a network namespace of its own, and returns what it printed. */
  const runSealed = async (program: readonly string[]): Promise<string> => {
    const environment = Object.entries({ ...bridgeEnvironment, ...proxyEnvironment, NODE_OPTIONS: '' });
    const child = spawn(
      'bwrap',
      [
        ...bubblewrap,
        ...environment.flatMap(([name, value]) => ['--setenv', name, value]),
        ...['--ro-bind', helper, '/bridge.cjs', '--ro-bind', process.execPath, '/node'],
        ...['--', '/bin/sh', '-c', launch, 'sh', ...program],
      ],
      { stdio },
    );
    let printed = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (printed += text));
    const closed = once(child, 'close');
    await proxy.listen(await awaitListener(child));
    await closed;
    return printed;
  };
  const python = (script: string): Promise<string> => runSealed(['/usr/bin/python3', '-c', script]);
  const direct = (): string => {
    const [host, port] = address.split(':');
    return `import socket
try:
    socket.create_connection(("${host ?? ''}", ${port ?? ''}), 2).close()
    print("reached")
except OSError as error:
    print("kept in")`;
  };

  it('[EGRESS-07] carries requests of ordinary programs out of an empty network, and nothing else', async () => {
    const script = `import urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": "http://127.0.0.1:${egressBridge.port}"}))
print(opener.open("http://${address}/").read().decode())
${direct()}
try:
    opener.open("http://127.0.0.1:1/")
except Exception as error:
    print(error.code)`;
    assert.equal(await python(script), 'from outside\nkept in\n403\n');
    await until(() => records.length >= 2);
    assert.deepEqual(
      records.map(({ host, port, verdict }) => [`${host}:${port}`, verdict]),
      [
        [address, 'allowed'],
        ['127.0.0.1:1', 'refused'],
      ],
    );
    const control = spawnSync('python3', ['-c', direct()], { encoding: 'utf8' });
    assert.equal(control.stdout, 'reached\n', 'the control');
  });

  it('is found by Node through the environment that cards get', async () => {
    const script = `fetch("http://${address}/").then((answer) => answer.text()).then(console.log)`;
    assert.equal(await runSealed(['/node', '-e', script]), 'from outside\n');
    // The record of an answered request may come a moment after its answer.
    await until(() => records.length > 0);
    assert.equal(records[0]?.verdict, 'allowed');
  });

  it('[EGRESS-07] leaves nothing of ours inside: no process, no channel, no variable', async () => {
    const script = `import os
print(sorted(int(pid) for pid in os.listdir("/proc") if pid.isdigit() and open(f"/proc/{pid}/comm").read() == "node\\n"))
print([name for name in os.environ if "CHANNEL" in name])
print([os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if fd == "${egressBridge.channelDescriptor}"])`;
    const printed = (await python(script)).split('\n');
    assert.deepEqual(printed.slice(0, 2), ['[]', '[]']);
    assert.doesNotMatch(printed[2] ?? '', /socket/);
  });

  it('is closed together with the proxy', async () => {
    const running = python(`import sys, time, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": "http://127.0.0.1:${egressBridge.port}"}))
opener.open("http://${address}/").read()
deadline = time.monotonic() + 60
while time.monotonic() < deadline:
    try:
        opener.open("http://${address}/", timeout=30).read()
    except OSError:
        print("gone")
        break`);
    while (records.length === 0) await new Promise((settle) => setTimeout(settle, 5));
    await proxy.close();
    assert.equal(await running, 'gone\n');
  });

  const failures: [title: string, act: (child: ChildProcess) => void][] = [
    ['ends early', (child) => child.emit('exit', 1)],
    ['closes the channel', (child) => child.emit('disconnect')],
    ['cannot be started', (child) => child.emit('error', new Error('ENOENT'))],
    ['sends no socket', (child) => child.emit('message', 'listening', undefined)],
    [
      'sends something else',
      (child) =>
        child.emit(
          'message',
          'listening',
          connect({ port: 1 })
            .on('error', () => 0)
            .destroy(),
        ),
    ],
    ['takes too long', () => undefined],
  ];
  for (const [title, act] of failures) {
    it(`[EGRESS-07] means no network where the sandbox ${title}`, async () => {
      const child = new ChildProcess();
      const waiting = awaitListener(child, 20);
      act(child);
      await assert.rejects(waiting, { code: 'isolation-missing' });
      assert.deepEqual(child.eventNames(), []);
    });
  }
});
