import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MachineFolder } from '../../../../language-server/src/runners/vm/machineFolder.ts';
import { serveShares, type SpawnShare } from '../../../../language-server/src/runners/vm/serveShares.ts';
import { sharesOf } from '../../../../language-server/src/runners/vm/shares.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { until } from '../../../support/until.ts';

describe('serving shared folders', () => {
  let work = '';
  let folder: MachineFolder;
  beforeEach(async function () {
    if (process.platform !== 'linux') {
      console.log('      skipped: VMs with folders run on Linux');
      this.skip();
    }
    work = mkdtempSync(join(tmpdir(), 'sallyport-shares-'));
    chmodSync(work, 0o755);
    for (const name of ['machines', 'a', 'b']) mkdirSync(join(work, name));
    writeFileSync(join(work, 'virtiofsd'), 'shared-dir');
    folder = await MachineFolder.create(join(work, 'machines'), () => Promise.resolve(false));
  });
  afterEach(() => {
    if (work === '') return;
    folder.release();
    rmSync(work, { recursive: true, force: true });
  });

  const shares = () =>
    sharesOf(
      ['a', 'b'].map((name) => ({ path: join(work, name), name, write: false })),
      [],
    );
  /** A server that is a Node program of ours; it is started outside of any sandbox. */
  const serverOf =
    (script: string, calls: string[][] = []): SpawnShare =>
    (_, args, { socket, output, more }) => {
      calls.push([...args]);
      return spawn(process.execPath, ['-e', script], { stdio: [socket, output, output, ...more] });
    };
  const serve = (spawnShare: SpawnShare, more: Partial<Parameters<typeof serveShares>[0]> = {}) =>
    serveShares({
      ...{ folder, shares: shares(), spawnShare, links: [] },
      virtiofsd: [join(work, 'virtiofsd')],
      ...more,
    });

  it('starts one server for each, with a socket in the VM’s folder, and ends them all', async () => {
    const calls: string[][] = [];
    const servers = await serve(serverOf('setInterval(() => {}, 1000)', calls));
    assert.equal(calls.length, 2);
    assert.ok(calls.every((args) => args.includes('--ro-bind-fd')));
    for (const name of ['share0', 'share1']) assert.ok(existsSync(folder.file(name)), name);
    assert.equal(servers.fault(), undefined);
    let ended = 0;
    servers.onEnd(() => (ended += 1));
    servers.stop();
    await until(() => ended === 2);
    folder.clear();
    assert.ok(!readdirSync(folder.path).some((name) => name.startsWith('share') || name.endsWith('.bpf')));
  });

  it('says what a server said that failed, and nothing of one that ended with its VM', async () => {
    const failing = await serve(serverOf('console.log("no room"); process.exit(3)'));
    await until(() => failing.fault() !== undefined);
    assert.match(failing.fault()?.message ?? '', /not served to the VM: no room/);
    let ended = 0;
    const leaving = await serve(serverOf('process.exit(0)'));
    leaving.onEnd(() => (ended += 1));
    await until(() => ended === 2);
    assert.equal(leaving.fault(), undefined);
  });

  it('[VM-08] is refused with the remedy where there is no server', async () => {
    for (const virtiofsd of [[], [join(work, 'none')], ['/bin/sh']]) {
      const calls: string[][] = [];
      await assert.rejects(serve(serverOf('', calls), { virtiofsd }), (error: unknown) => {
        assert.ok(error instanceof UserError && error.code === 'isolation-missing');
        assert.match(String(error.data['remedy']), /install virtiofsd/);
        return true;
      });
      assert.equal(calls.length, 0);
    }
  });

  it('[VM-13] serves nothing of a folder that was replaced, and leaves no server of the others', async () => {
    const wanted = shares();
    renameSync(join(work, 'b'), join(work, 'moved'));
    mkdirSync(join(work, 'b'));
    const children: ReturnType<typeof spawn>[] = [];
    const keep: SpawnShare = (...call) => {
      const child = serverOf('setInterval(() => {}, 1000)')(...call);
      children.push(child);
      return child;
    };
    await assert.rejects(serve(keep, { shares: wanted }), /was replaced/);
    await until(() => children.every(({ signalCode }) => signalCode === 'SIGKILL'));
    assert.equal(children.length, 1);
  });

  it('costs a VM without folders nothing', async () => {
    const servers = await serve(() => assert.fail('nothing is started'), {
      shares: [],
    });
    servers.stop();
    assert.equal(servers.fault(), undefined);
  });
});
