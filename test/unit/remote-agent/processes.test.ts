import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { folderSize } from '../../../remote-agent/src/folderSize.ts';
import { closeInheritedDescriptors } from '../../../remote-agent/src/inheritedDescriptors.ts';
import {
  identifyProcess,
  isAlive,
  proportionalBytes,
  usageBelow,
} from '../../../remote-agent/src/processes.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';

describe('processes of this machine', () => {
  const folder = useTemporaryFolder();
  before(function () {
    if (process.platform === 'linux') return;
    console.log('      needs /proc');
    this.skip();
  });

  it('are known by number and start, until they end', async () => {
    const child = spawn('/bin/sh', ['-c', 'read line'], { stdio: ['pipe', 'ignore', 'ignore'] });
    const known = identifyProcess(child.pid ?? 0);
    assert.ok(known && isAlive(known));
    assert.equal(isAlive({ ...known, startTicks: '1' }), false);
    child.stdin.end();
    await once(child, 'exit');
    assert.equal(isAlive(known), false);
    assert.equal(identifyProcess(child.pid ?? 0), undefined);
  });

  it('[JOB-06] are counted with all that they started, threads and memory included', async () => {
    const text =
      'import threading,sys\nx=bytearray(64*2**20)\nthreading.Thread(target=sys.stdin.read).start()';
    const words = ['-c', 'exec 3<&0; /usr/bin/python3 -c "$0" <&3 & exec /usr/bin/python3 -c "$0"', text];
    const child = spawn('/bin/sh', words, { stdio: ['pipe', 'ignore', 'ignore'] });
    try {
      const pid = child.pid ?? 0;
      await until(() => usageBelow(pid).memoryBytes > 120 * 2 ** 20 && usageBelow(pid).threads >= 3);
      const usage = usageBelow(pid);
      assert.equal(usage.processes, 2);
      assert.ok(proportionalBytes(usage.pids) > 120 * 2 ** 20);
    } finally {
      child.stdin.end();
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });

  it('that are not there use nothing', () => {
    assert.deepEqual(usageBelow(4_194_999), { processes: 0, threads: 0, memoryBytes: 0, pids: [] });
  });

  it('[JOB-01] keep no descriptor that a child would inherit', async () => {
    const program = `
      import { closeInheritedDescriptors } from ${JSON.stringify(new URL('../../../remote-agent/src/inheritedDescriptors.ts', import.meta.url).href)};
      import { spawnSync } from 'node:child_process';
      const list = () => spawnSync('/bin/sh', ['-c', '[ -e /proc/self/fd/200 ] && echo 200'], { encoding: 'utf8' }).stdout;
      process.stdout.write(JSON.stringify([list(), closeInheritedDescriptors().closed.toSorted(), list()]));
    `;
    // Node itself sees to the first few; a gap before the number is where it stops looking.
    const words = [
      '-c',
      'exec 200</dev/null; exec "$@"',
      'bash',
      process.execPath,
      '--input-type=module',
      '-e',
      program,
    ];
    const child = spawn('/bin/bash', words, { stdio: ['ignore', 'pipe', 'ignore'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await once(child, 'close');
    const [before, closed, after] = JSON.parse(text) as [string, number[], string];
    assert.equal(before, '200\n');
    assert.ok(closed.includes(200));
    assert.equal(after, '');
  });

  it('[JOB-01] leave alone the certificates that Node is reading meanwhile', async () => {
    const certificates = path.join(folder(), 'extra.pem');
    execFileSync('mkfifo', [certificates]);
    const at = (file: string) => new URL(`../../../remote-agent/src/${file}`, import.meta.url).href;
    const program = `
      import { closeInheritedDescriptors } from ${JSON.stringify(at('inheritedDescriptors.ts'))};
      import { readTrustPaths } from ${JSON.stringify(at('environment.ts'))};
      import { readdirSync, readlinkSync } from 'node:fs';
      import 'node:tls';
      const name = (descriptor) => { try { return readlinkSync('/proc/self/fd/' + descriptor); } catch { return ''; } };
      const isOpen = () => readdirSync('/proc/self/fd').map(name).includes(process.env.NODE_EXTRA_CA_CERTS);
      while (!isOpen()) await new Promise((resolve) => setTimeout(resolve, 5));
      closeInheritedDescriptors(process.argv[1] === 'careful' ? readTrustPaths() : undefined);
      process.stdout.write(String(isOpen()), () => process.kill(process.pid, 'SIGKILL'));
    `;
    // Held open, so that Node’s own thread gets neither bytes nor an end.
    const writer = openSync(certificates, 'r+');
    for (const [how, kept] of [
      ['careful', 'true'],
      ['careless', 'false'],
    ] as const) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', program, how], {
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { ...process.env, NODE_EXTRA_CA_CERTS: certificates },
      });
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      await once(child, 'close');
      assert.equal(text, kept, how);
    }
    closeSync(writer);
  });

  it('[JOB-01] keep no certificates that were inherited, once Node has read its own', async () => {
    const certificates = path.join(folder(), 'extra.pem');
    execFileSync('mkfifo', [certificates]);
    const inherited = path.join(folder(), 'inherited.pem');
    writeFileSync(inherited, '');
    const at = (file: string) => new URL(`../../../remote-agent/src/${file}`, import.meta.url).href;
    const program = `
      import { closeInheritedDescriptors } from ${JSON.stringify(at('inheritedDescriptors.ts'))};
      import { readdirSync, readlinkSync, writeSync } from 'node:fs';
      import 'node:tls';
      const name = (descriptor) => { try { return readlinkSync('/proc/self/fd/' + descriptor); } catch { return ''; } };
      const open = () => readdirSync('/proc/self/fd').filter((descriptor) => name(descriptor).endsWith('.pem'));
      while (open().length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      const { closed, closeRest } = closeInheritedDescriptors((path) => path.endsWith('.pem'));
      writeSync(1, '[' + JSON.stringify(closed) + ',\\n');
      writeSync(1, JSON.stringify(closeRest()) + ',' + JSON.stringify(open()) + ']');
    `;
    // Held open, so that Node’s own thread gets neither bytes nor an end until it is closed.
    const writer = openSync(certificates, 'r+');
    const words = ['-c', 'exec 200<"$0"; exec "$@"', inherited, process.execPath];
    const child = spawn('/bin/bash', [...words, '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, NODE_EXTRA_CA_CERTS: certificates },
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    const ended = once(child, 'close');
    try {
      await until(() => text.includes('\n'), 60_000);
    } finally {
      closeSync(writer);
    }
    await ended;
    const [closed, rest, left] = JSON.parse(text) as number[][];
    assert.ok(!closed?.includes(200), text);
    assert.deepEqual([rest, left], [[200], []]);
  });

  it('[JOB-01] keep the descriptors of Node itself', () => {
    const own = openSync('/dev/null', 'r');
    closeInheritedDescriptors();
    assert.ok(fstatSync(own));
    closeSync(own);
  });
});

describe('the size of an outputs folder', () => {
  const folder = useTemporaryFolder();

  it('[JOB-06] is what lies in it on disk, links as links', () => {
    mkdirSync(path.join(folder(), 'deep/er'), { recursive: true });
    writeFileSync(path.join(folder(), 'deep/er/file'), Buffer.alloc(1_000_000));
    symlinkSync('/usr', path.join(folder(), 'usr'));
    symlinkSync('..', path.join(folder(), 'deep/up'));
    const size = folderSize(folder());
    assert.ok(size >= 1_000_000 && size < 1_100_000, String(size));
    assert.equal(folderSize(path.join(folder(), 'nothing')), 0);
  });
});
