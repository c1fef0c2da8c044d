import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Hypervisor, StartOptions } from '../../../../language-server/src/runners/vm/hypervisor.ts';
import { MachineFolder } from '../../../../language-server/src/runners/vm/machineFolder.ts';
import { openSocketFolder } from '../../../../language-server/src/runners/vm/socketFolder.ts';
import { vfkitHypervisor } from '../../../../language-server/src/runners/vm/vfkitMachine.ts';
import { askVfkit } from '../../../../language-server/src/runners/vm/vfkitOrders.ts';
import { createVmTransport } from '../../../../language-server/src/runners/vm/vmTransport.ts';
import { putTree } from '../../../support/blobs.ts';
import { jobWith } from '../../../support/jobs.ts';
import { Heard, openPlace } from '../../../support/remotePlace.ts';
import { runnerProgram } from '../../../support/runnerClient.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const never = new AbortController().signal;
const fake = join(import.meta.dirname, '../../../support/fakeVfkit.ts');

/** A program that takes vfkit's options and is the guest at the other end stands in for it. */
describe('VMs of a Mac', () => {
  const folder = useTemporaryFolder();
  const held: MachineFolder[] = [];
  const children: ChildProcess[] = [];

  beforeEach(() => {
    for (const name of ['image', 'machines', 'blobs']) mkdirSync(join(folder(), name));
    for (const name of ['kernel', 'initrd', 'root.ext4', 'disk.ext4'])
      writeFileSync(join(folder(), 'image', name), name);
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    }
    for (const each of held.splice(0)) each.release();
  });

  const hypervisor = (more: { words?: readonly string[]; clone?: () => void } = {}): Hypervisor =>
    vfkitHypervisor({
      vfkit: '/opt/homebrew/bin/vfkit',
      clone: more.clone ?? copyFileSync,
      spawnMachine: (program, args, at, { output }) => {
        const [flag, profile, vfkit, ...words] = args;
        assert.deepEqual([program, flag, vfkit], ['/usr/bin/sandbox-exec', '-p', '/opt/homebrew/bin/vfkit']);
        assert.match(profile ?? '', /deny default/);
        const child = spawn(process.execPath, [fake, runnerProgram(), at, ...words, ...(more.words ?? [])], {
          stdio: ['ignore', output, output],
          cwd: at,
          detached: true,
        });
        children.push(child);
        return child;
      },
    });
  const create = async ({ isRunning }: Hypervisor) => {
    const machine = await MachineFolder.create(join(folder(), 'machines'), isRunning);
    held.push(machine);
    return machine;
  };
  const optionsOf = (machine: MachineFolder, more: Partial<StartOptions> = {}): StartOptions => ({
    folder: machine,
    image: join(folder(), 'image'),
    imageId: 'image',
    shape: { accelerator: 'vz', memoryMB: 1024, processors: 1, network: false, shares: [] },
    shares: [],
    diskMB: 1024,
    project: () => 'project',
    signal: never,
    ...more,
  });

  it('[VM-32] start, run cards through their ports, are found again, and end', async () => {
    const mac = hypervisor();
    const machine = await create(mac);
    const { shape, imageId } = optionsOf(machine);
    const problems: string[] = [];
    const transport = createVmTransport({
      folder: machine,
      hypervisor: mac,
      image: { path: join(folder(), 'image'), id: imageId, diskMB: 1024 },
      shape,
      shares: [],
      stored: () => undefined,
      project: () => 'project',
      now: () => Date.now(),
      onProblem: (problem) => problems.push(problem),
    });
    const place = openPlace(transport, join(folder(), 'blobs'));
    try {
      const code = await putTree(place.blobs.folder, { 'main.sh': 'echo hello' });
      const heard = new Heard();
      const { outcome } = await place.runner.run(jobWith({ jobId: 'mac-1', code }), heard, never);
      assert.deepEqual(outcome, { kind: 'exited', exitCode: 0 }, JSON.stringify(outcome));
      assert.equal(heard.stdout, 'hello\n');
    } finally {
      await place.runner.dispose();
    }
    assert.deepEqual(problems, []);
    assert.equal(machine.readFacts()?.accelerator, 'vz');
    // Another engine, which did not start it.
    const next = hypervisor();
    assert.equal(await next.isRunning(machine), true);
    await next.stop(machine);
    assert.equal(await next.isRunning(machine), false);
    await machine.ended;
    assert.equal(machine.readFacts(), undefined);
    for (const name of ['root.ext4', 'disk.ext4', 'control', 'orders'])
      assert.equal(existsSync(machine.file(name)), false, name);
    // Whatever the VM wrote, it was to copies.
    assert.deepEqual(readdirSync(join(folder(), 'image')).sort(), [
      'disk.ext4',
      'initrd',
      'kernel',
      'root.ext4',
    ]);
  });

  it('[VM-32] say in vfkit’s words why they did not start', async () => {
    const mac = hypervisor({ words: ['--gui'] });
    const machine = await create(mac);
    await assert.rejects(mac.start(optionsOf(machine)), {
      code: 'isolation-missing',
      message: /unknown flag: --gui/,
    });
    assert.equal(await mac.isRunning(machine), false);
  });

  it('[VM-32] are not started on disks that can’t be cloned, nor for what they have not', async () => {
    const full = hypervisor({
      clone: () => {
        throw new Error('ENOTSUP');
      },
    });
    const machine = await create(full);
    await assert.rejects(full.start(optionsOf(machine)), { code: 'isolation-missing', message: /cloned/ });
    const { shape } = optionsOf(machine);
    const network = { shape: { ...shape, network: true } };
    await assert.rejects(hypervisor().start(optionsOf(machine, network)), {
      code: 'isolation-missing',
      message: /no network/,
    });
    assert.deepEqual(children, []);
  });

  it('end when starting is cancelled', async () => {
    const stop = new AbortController();
    const mac = hypervisor();
    const machine = await create(mac);
    const starting = mac.start(optionsOf(machine, { signal: stop.signal }));
    stop.abort();
    await assert.rejects(starting, { code: 'cancelled' });
    await machine.ended;
  });

  const answers: readonly (readonly [what: string, answer: string, expected: boolean])[] = [
    ['an answer', 'HTTP/1.1 200 OK\r\n\r\n{}', true],
    ['an order that was taken', 'HTTP/1.0 202 Accepted\r\n\r\n', true],
    ['a refusal', 'HTTP/1.1 500 No\r\n\r\n', false],
    ['something else', 'SSH-2.0-x\r\n', false],
    ['nothing', '', false],
    ['more than an answer', `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(100_000)}`, false],
  ];
  for (const [what, answer, expected] of answers)
    it(`hears ${what} as ${expected ? 'one' : 'none'}`, async () => {
      const server = createServer((socket) => socket.on('error', () => undefined).end(answer));
      const path = join(folder(), 'orders');
      await new Promise<void>((resolve) => server.listen(path, resolve));
      try {
        assert.equal((await askVfkit(path, 'GET')) !== undefined, expected);
      } finally {
        server.close();
      }
      assert.equal(await askVfkit(path, 'GET'), undefined);
    });
});

describe('the folder of sockets with short paths', () => {
  const folder = useTemporaryFolder();
  const uid = process.getuid?.() ?? -1;

  it('is the same for the same path, short, and for this user alone', () => {
    const long = `/Users/someone/${'x'.repeat(200)}`;
    const path = openSocketFolder(long, folder(), uid);
    assert.equal(openSocketFolder(long, folder(), uid), path);
    assert.notEqual(openSocketFolder(`${long}y`, folder(), uid), path);
    const macs = '/private/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T';
    assert.ok(Buffer.byteLength(join(macs, path.slice(folder().length), 'terminal')) < 104);
  });

  it('is refused where others can look into it, or another made it, or it is a link', () => {
    const path = openSocketFolder('/one', folder(), uid);
    assert.throws(() => openSocketFolder('/one', folder(), uid + 1), { code: 'unsafe-path' });
    chmodSync(path, 0o755);
    assert.throws(() => openSocketFolder('/one', folder(), uid), { code: 'unsafe-path' });
    const other = openSocketFolder('/two', folder(), uid);
    symlinkSync(
      other,
      join(
        folder(),
        openSocketFolder('/three', join(folder(), 'made-elsewhere'), uid).split('/').at(-1) ?? '',
      ),
    );
    assert.throws(() => openSocketFolder('/three', folder(), uid), { code: 'unsafe-path' });
  });
});
