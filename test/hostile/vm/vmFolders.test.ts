import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRecordWrites } from '../../../language-server/src/history/recordJob.ts';
import type { CardJob } from '../../../language-server/src/runners/cardRunner.ts';
import { putTree } from '../../support/blobs.ts';
import { bundledRunner } from '../../support/bundledRunner.ts';
import { HistoryHarness } from '../../support/historyHarness.ts';
import { jobWith } from '../../support/jobs.ts';
import { Heard } from '../../support/remotePlace.ts';
import { until } from '../../support/until.ts';
import { builtVmHome, openTestVms, vmFault, type TestVms } from '../../support/vm.ts';
import { processesNamed, qemuOf, serversOf } from '../../support/vmProcesses.ts';

const never = new AbortController().signal;
const limits = { seconds: 60, memoryMB: 256, processes: 32, outputMB: 64, logMB: 1 };
/** Whom a root of tests gives the folders: a card of root's must not act as root. */
const owner = process.getuid?.() === 0 ? 12_345 : (process.getuid?.() ?? -1);

describe('folders of this computer in a VM', function () {
  this.timeout(300_000);
  let home = '';
  let runner = '';
  let work = '';
  let shared = '';
  let vms: TestVms;
  let jobs = 0;

  before(async function () {
    // It may have to build the image first.
    this.timeout(600_000);
    const fault = vmFault();
    if (fault !== undefined) {
      console.log(`      skipped: ${fault}`);
      this.skip();
    }
    runner = bundledRunner();
    home = await builtVmHome(runner);
    work = mkdtempSync(join(tmpdir(), 'sallyport-vm-folders-'));
    chmodSync(work, 0o755);
    mkdirSync(join(work, 'blobs'));
    writeFileSync(join(work, 'secret'), 'secret of this computer\n');
    shared = makeShared('shared');
    vms = openTestVms(home, runner, join(work, 'blobs'));
  });
  after(async () => {
    if (home === '') return;
    await vms.place.dispose();
    await until(() => serversOf(shared).length === 0);
    rmSync(work, { recursive: true, force: true });
  });

  /** A folder that its owner alone may read and write. */
  function makeShared(name: string): string {
    const path = join(work, name);
    mkdirSync(path, { mode: 0o700 });
    writeFileSync(join(path, 'kept'), 'kept\n');
    own(path, join(path, 'kept'));
    return path;
  }
  function own(...paths: readonly string[]): void {
    if (process.getuid?.() === 0) for (const path of paths) chownSync(path, owner, owner);
  }
  const jobOf = async (
    script: string,
    access: readonly (readonly [string, boolean])[],
    more: Partial<CardJob>,
  ) => {
    const code = await putTree(vms.blobs.folder, { 'main.sh': script });
    const hostFolders = access.map(([path, write], at) => ({
      path,
      write,
      name: at === 0 ? 'data' : `data${at}`,
    }));
    jobs += 1;
    const jobId = `vm-folders-${process.pid}-${jobs}`;
    const job = jobWith({ jobId, code, limits, access: { network: { kind: 'none' }, hostFolders } });
    return { ...job, project: 'one', ...more };
  };
  const run = async (
    script: string,
    access: readonly (readonly [string, boolean])[] = [[shared, true]],
    more: Partial<CardJob> = {},
  ) => {
    const heard = new Heard();
    const { outcome } = await vms.place.run(await jobOf(script, access, more), heard, never);
    return { outcome, stdout: heard.stdout, stderr: heard.stderr };
  };

  it('[VM-11] a card writes where it was told that it may, and what it writes is the owner’s', async () => {
    const script =
      'cat /host/data/kept; echo new > /host/data/new; mkdir /host/data/in; rm /host/data/kept; id -u';
    const { stdout, stderr, outcome } = await run(script);
    assert.deepEqual(outcome, { kind: 'exited', exitCode: 0 }, stderr);
    assert.equal(stdout, 'kept\n1000\n');
    assert.equal(readFileSync(join(shared, 'new'), 'utf8'), 'new\n');
    for (const name of ['new', 'in']) assert.equal(statSync(join(shared, name)).uid, owner);
    assert.ok(!existsSync(join(shared, 'kept')));
    // What the person does meanwhile is seen by the next card, or with the server in Rust a second later.
    writeFileSync(join(shared, 'kept'), 'kept\n');
    writeFileSync(join(shared, 'new'), 'newer\n');
    own(join(shared, 'kept'));
    await until(async () => (await run('cat /host/data/new')).stdout === 'newer\n');
  });

  it('[VM-10] what is shared for reading is not written, not even by the VM’s own root', async () => {
    chmodSync(shared, 0o755);
    const attack = [
      'for f in /host/data/kept /host/data/planted; do echo attacked > $f; done',
      'rm -f /host/data/kept; mkdir /host/data/d; mv /host/data/kept /host/data/gone; chmod 777 /host/data/kept',
      'ln -s x /host/data/link; touch /host/data/kept; truncate -s 0 /host/data/kept; exit 0',
    ].join('\n');
    const before = statSync(join(shared, 'kept'), { bigint: true });
    const { stderr } = await run(attack, [[shared, false]]);
    assert.match(stderr, /Read-only file system/);
    const after = statSync(join(shared, 'kept'), { bigint: true });
    assert.deepEqual([after.ctimeNs, after.ino], [before.ctimeNs, before.ino]);
    assert.deepEqual(readdirSync(shared).sort(), ['in', 'kept', 'new']);
    // The guest's kernel is not what keeps it: the server's own mount is read-only, whoever has taken it over.
    const reading = serverOf('ro');
    if (process.getuid?.() === 0) {
      assert.throws(() => runInside(reading, 'touch /share/planted'), /Read-only file system/);
      // Control: the same where the server of those who may write has it.
      runInside(serverOf('rw'), 'touch /share/planted');
      assert.ok(existsSync(join(shared, 'planted')));
      rmSync(join(shared, 'planted'));
    }
    await run('echo written > /host/data/kept');
    assert.equal(readFileSync(join(shared, 'kept'), 'utf8'), 'written\n');
  });

  it('[VM-10] links in it lead nowhere outside of it', async () => {
    const secret = join(work, 'secret');
    symlinkSync(secret, join(shared, 'absolute'));
    symlinkSync('../secret', join(shared, 'above'));
    symlinkSync('/proc/self/root', join(shared, 'root'));
    try {
      // Control: outside of the VM they lead to the secret.
      for (const name of ['absolute', 'above'])
        assert.match(readFileSync(join(shared, name), 'utf8'), /secret of this computer/);
      const { stdout, stderr } = await run(
        `cd /host/data; cat absolute above root${secret} ../secret /host/secret ../../../../../../..${secret}; echo end`,
      );
      assert.equal(stdout, 'end\n');
      assert.equal(stderr.match(/No such file/g)?.length, 6, stderr);
    } finally {
      for (const name of ['absolute', 'above', 'root']) rmSync(join(shared, name), { force: true });
    }
  });

  it('[VM-10] a pipe in it is not one to this computer', async () => {
    const pipe = join(shared, 'pipe');
    execFileSync('mkfifo', ['-m', '666', pipe]);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const read = () => {
      const buffer = Buffer.alloc(64);
      return buffer.toString('utf8', 0, readSync(reader, buffer));
    };
    try {
      await run('timeout 2 sh -c "echo attacked > /host/data/pipe"');
      assert.equal(read(), '');
      // Control: the same program here.
      execFileSync('sh', ['-c', 'echo attacked > "$1"', 'sh', pipe]);
      assert.equal(read(), 'attacked\n');
    } finally {
      closeSync(reader);
      rmSync(pipe);
    }
  });

  it('[VM-11] other cards find nothing of it: of the same project, and of another', async () => {
    const look =
      'test -d /host && echo seen; ls -d /run/sallyport 2>/dev/null; grep -c virtiofs /proc/mounts; exit 0';
    // Control: the card that asked.
    const asked = await run(look);
    assert.equal(asked.stdout, 'seen\n1\n');
    for (const more of [{}, { project: 'two' }]) {
      const { stdout } = await run(look, [], more);
      assert.equal(stdout, '0\n');
    }
    const machines = join(home, 'vm/machines');
    const devices = readdirSync(machines).flatMap((name) => {
      const pid = qemuOf(join(machines, name));
      return pid === undefined
        ? []
        : [readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('vhost-user-fs').length - 1];
    });
    assert.deepEqual(devices.sort(), [0, 0, 1, 1], 'the VMs without folders have no device for them');
  });

  it('[VM-13] refuses what no card is shown, and a folder that was replaced is another one', async () => {
    const refuse = async (path: string) => {
      const { outcome } = await run('true', [[path, false]]);
      assert.ok(outcome.kind === 'refused' && outcome.code === 'unsafe-path', JSON.stringify(outcome));
      return outcome;
    };
    symlinkSync(shared, join(work, 'link'));
    for (const path of [
      home,
      join(home, 'vm'),
      '/',
      join(work, 'link'),
      join(work, 'secret'),
      join(work, 'none'),
    ])
      await refuse(path);
    if (process.getuid?.() === 0) {
      const closed = join(work, 'closed');
      mkdirSync(join(closed, 'open'), { recursive: true });
      chmodSync(closed, 0o700);
      const { detail, remedy } = await refuse(join(closed, 'open'));
      assert.match(detail, /may not enter/);
      assert.match(remedy ?? '', /chmod o\+x/);
      const itself = join(work, 'itself');
      mkdirSync(itself, { mode: 0o700 });
      assert.match((await refuse(itself)).remedy ?? '', /chmod o\+rx/);
    }
    renameSync(shared, `${shared}-before`);
    makeShared('shared');
    writeFileSync(join(shared, 'kept'), 'another\n');
    assert.equal((await run('cat /host/data/kept')).stdout, 'another\n');
  });

  it('[VM-12] what a card does there is taken back', async () => {
    const history = new HistoryHarness(join(work, 'history'));
    try {
      writeFileSync(join(shared, 'kept'), 'before\n');
      own(join(shared, 'kept'));
      const job = await jobOf(
        'echo after > /host/data/kept; echo more > /host/data/more',
        [[shared, true]],
        {},
      );
      const record = createRecordWrites(() => history.journal);
      const result = await record(history.root, job, () => vms.place.run(job, new Heard(), never));
      assert.deepEqual(result.outcome, { kind: 'exited', exitCode: 0 });
      assert.equal(readFileSync(join(shared, 'kept'), 'utf8'), 'after\n');
      await history.turn('undo', { group: job.jobId });
      assert.equal(readFileSync(join(shared, 'kept'), 'utf8'), 'before\n');
      assert.ok(!existsSync(join(shared, 'more')));
    } finally {
      history.close();
    }
  });

  it('[VM-12] nothing writes there when the engine that recorded it is gone', async () => {
    const folder = makeShared('killed');
    const job = await jobOf(
      'echo begun; while :; do date +%s%N > /host/data/now; sleep 0.1; done',
      [[folder, true]],
      {
        project: 'killed',
      },
    );
    const others = processesNamed('qemu-system');
    const engine = spawn(process.execPath, [crashVm, home, runner, join(work, 'blobs'), JSON.stringify(job)]);
    let said = '';
    let machines: number[] = [];
    engine.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    engine.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const written = () => (existsSync(join(folder, 'now')) ? readFileSync(join(folder, 'now'), 'utf8') : '');
    try {
      await until(() => said.includes('begun') && written() !== '', 120_000);
      // Control: while the engine lives, it goes on.
      const first = written();
      await until(() => written() !== first && written() !== '');
      assert.equal(serversOf(folder).length, 1);
      machines = processesNamed('qemu-system').filter((pid) => !others.includes(pid));
      assert.notEqual(machines.length, 0);
    } finally {
      engine.kill('SIGKILL');
      await once(engine, 'close');
    }
    await until(() => serversOf(folder).length === 0);
    const last = statSync(join(folder, 'now'), { bigint: true }).mtimeNs;
    await until(() => machines.every((pid) => !existsSync(`/proc/${pid}`)));
    assert.equal(statSync(join(folder, 'now'), { bigint: true }).mtimeNs, last);
  });

  it('a VM whose folder is not served any more ends, and the next card gets another', async () => {
    chmodSync(shared, 0o755);
    const heard = new Heard();
    const running = vms.place.run(
      await jobOf('echo begun; sleep 50; cat /host/data/kept', [[shared, false]], {}),
      heard,
      never,
    );
    await until(() => heard.stdout.includes('begun'), 120_000);
    process.kill(serverOf('ro'), 'SIGKILL');
    const { outcome } = await running;
    assert.equal(outcome.kind, 'unknown', JSON.stringify(outcome));
    const { stdout } = await run('cat /host/data/kept', [[shared, false]]);
    assert.equal(stdout, readFileSync(join(shared, 'kept'), 'utf8'));
  });

  function serverOf(mode: 'ro' | 'rw'): number {
    return serversOf(shared, mode)[0] ?? assert.fail(`nothing serves the folder ${mode}`);
  }
});

/** Does in the mounts of a server what the folder's owner may. Throws with what was said where it could not be done. */
function runInside(pid: number, script: string): void {
  const who = ['-S', String(owner), '-G', String(owner)];
  execFileSync('nsenter', ['-t', String(pid), '-m', ...who, '/bin/sh', '-c', script], { stdio: 'pipe' });
}

const crashVm = join(import.meta.dirname, '../../support/crashVm.ts');
