import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { tryLock, type LockFiles } from '../../../../remote-agent/src/files/folderLock.ts';
import {
  lifeOfProcess,
  thisProcess,
  type Life,
  type LockOwner,
} from '../../../../remote-agent/src/files/lockOwner.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

const program = join(import.meta.dirname, '../../../support/lockFolder.ts');

describe('the lock of a folder', () => {
  const folder = useTemporaryFolder();
  const self = thisProcess();
  const gone: LockOwner = { ...self, pid: 2 ** 22 + 1 };
  const nameOf = ({ place, boot, pid, startedAt }: LockOwner) =>
    `lock.${place}.${boot}.${pid}.${startedAt}.0011223344556677`;
  const leave = (owner: LockOwner) => fs.writeFileSync(join(folder(), nameOf(owner)), '');

  const owners: readonly [string, LockOwner, Life][] = [
    ['a process that has ended', gone, 'ended'],
    ['an earlier process with this number', { ...self, startedAt: self.startedAt - 1 || 1 }, 'ended'],
    ['an earlier boot', { ...self, boot: '0'.repeat(16) }, 'ended'],
    ['this process', self, 'running'],
    [
      'another process that runs',
      { ...self, pid: process.ppid, startedAt: startOf(process.ppid) },
      'running',
    ],
    ['a process whose start is not told', { ...self, startedAt: 0 }, 'unknown'],
    ['another machine', { ...self, place: '0'.repeat(16) }, 'unknown'],
  ];
  for (const [name, owner, life] of owners) {
    it(`[SEAL-07] [WORKER-10] of ${name} ${life === 'ended' ? 'is taken away' : 'counts'}`, () => {
      assert.equal(lifeOfProcess(owner), life);
      leave(owner);
      const lock = tryLock(folder());
      assert.equal(lock !== undefined, life === 'ended');
      lock?.release();
      assert.deepEqual(fs.readdirSync(folder()), life === 'ended' ? [] : [nameOf(owner)]);
    });
  }

  it('[SEAL-07] [WORKER-10] counts for ten minutes where nobody can tell, and for ever where its owner lives', () => {
    const old = new Date(Date.now() - 11 * 60 * 1000);
    leave(self);
    fs.utimesSync(join(folder(), nameOf(self)), old, old);
    assert.equal(tryLock(folder()), undefined);
    fs.unlinkSync(join(folder(), nameOf(self)));
    const elsewhere = { ...self, place: '0'.repeat(16) };
    leave(elsewhere);
    fs.utimesSync(join(folder(), nameOf(elsewhere)), old, old);
    tryLock(folder())?.release();
    assert.deepEqual(fs.readdirSync(folder()), []);
  });

  for (const [title, aheadMs] of [
    ['behind', -60 * 60 * 1000],
    ['ahead', 60 * 60 * 1000],
  ] as const)
    it(`[WORKER-10] is as old as the folder’s own clock says, which may be an hour ${title}`, () => {
      const elsewhere = { ...self, place: '0'.repeat(16) };
      const name = nameOf(elsewhere);
      leave(elsewhere);
      const files: LockFiles = {
        ...fs,
        fstatSync: ((handle: number) => {
          const found = fs.fstatSync(handle);
          return Object.assign(found, { mtimeMs: found.mtimeMs + aheadMs });
        }) as typeof fs.fstatSync,
      };
      assert.equal(tryLock(folder(), { files }), undefined);
      assert.deepEqual(fs.readdirSync(folder()), [name]);
      const old = new Date(Date.now() - 11 * 60 * 1000);
      fs.utimesSync(join(folder(), name), old, old);
      tryLock(folder(), { files })?.release();
      assert.deepEqual(fs.readdirSync(folder()), []);
    });

  it('[WORKER-10] of a process that is stopped counts, and of one that is dead and not yet waited for does not', async () => {
    // bash waits for its child only when it is told to, so the child stays a zombie.
    const shell = spawn('bash', ['-c', 'sleep 1000 & echo $!; read'], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      const [line] = (await once(shell.stdout, 'data')) as [Buffer];
      const pid = Number(line.toString());
      const owner = { ...self, pid, startedAt: startOf(pid) };
      process.kill(pid, 'SIGSTOP');
      assert.equal(lifeOfProcess(owner), 'running');
      process.kill(pid, 'SIGKILL');
      await until(() => lifeOfProcess(owner) === 'ended');
    } finally {
      shell.kill('SIGKILL');
      await once(shell, 'close');
    }
  });

  /** True where the contender, which sees the file system through `files`, has the lock now. */
  type Contender = (files: typeof fs) => boolean;
  const ours: Contender = (files) => tryLock(folder(), { files }) !== undefined;
  /** A mark that is taken away by how it looked a moment before. */
  const byTheLook: Contender = (files) => {
    const mark = join(folder(), 'mark');
    for (let round = 0; round < 2; round += 1)
      try {
        files.mkdirSync(mark);
        return true;
      } catch {
        if (files.statSync(mark, { throwIfNoEntry: false })?.mtimeMs === 0) files.rmdirSync(mark);
      }
    return false;
  };
  /** How many have the lock where a second contender comes, whole, before each call of the first one. */
  const holdersAtEachStep = (contender: Contender, abandon: () => void): number[] => {
    const holders: number[] = [];
    for (let step = 0; ; step += 1) {
      for (const name of fs.readdirSync(folder())) fs.rmSync(join(folder(), name), { recursive: true });
      abandon();
      let calls = 0;
      let second = false;
      const interrupted = new Proxy(fs, {
        get(target, name: keyof typeof fs) {
          if (calls++ === step) second = contender(fs);
          return target[name];
        },
      });
      const first = contender(interrupted);
      if (calls <= step) return holders;
      holders.push(Number(first) + Number(second));
    }
  };

  it('[SEAL-07] [WORKER-10] that was abandoned is had by one, whenever the second comes', () => {
    const holders = holdersAtEachStep(ours, () => leave(gone));
    assert.ok(holders.length >= 4, String(holders));
    assert.ok(
      holders.every((count) => count <= 1),
      String(holders),
    );
    assert.ok(holders.includes(1));
  });

  it('control: a mark that is taken away by its looks is had by two', () => {
    const holders = holdersAtEachStep(byTheLook, () => {
      fs.mkdirSync(join(folder(), 'mark'));
      fs.utimesSync(join(folder(), 'mark'), 0, 0);
    });
    assert.ok(holders.includes(2), String(holders));
  });

  const start = (turns: number, call = '') =>
    spawn(process.execPath, [program, folder(), String(turns), call], { stdio: ['pipe', 'pipe', 'inherit'] });

  it('[SEAL-07] [WORKER-10] that was abandoned is had by one after the other of many processes that start at once', async () => {
    const turns = 15;
    leave(gone);
    const children = Array.from({ length: 12 }, () => start(turns));
    await Promise.all(children.map(({ stdout }) => once(stdout, 'readable')));
    for (const { stdin } of children) stdin.end('.');
    const ends = children.map(async (child) => ((await once(child, 'close')) as [number | null])[0]);
    for (const { stdout } of children) stdout.resume();
    assert.deepEqual(await Promise.all(ends), Array(12).fill(0));
    assert.equal(fs.readFileSync(join(folder(), 'turns'), 'utf8').length, 12 * turns);
    assert.deepEqual(fs.readdirSync(folder()), ['turns']);
  });

  it('[SEAL-07] [WORKER-10] is free after a process that was killed at any step of taking or giving it', async () => {
    let isDone = false;
    for (let call = 0; !isDone; call += 1) {
      leave(gone);
      const child = start(1, String(call));
      child.stdin.end('.');
      const words = text(child.stdout);
      const [, signal] = (await once(child, 'close')) as [number | null, string | null];
      isDone = (await words).includes('done');
      assert.equal(signal, isDone ? null : 'SIGKILL');
      const lock = tryLock(folder());
      assert.ok(lock, `after the call ${call}: ${fs.readdirSync(folder()).join(' ')}`);
      lock.release();
      for (const name of fs.readdirSync(folder())) assert.doesNotMatch(name, /^lock/);
    }
  });
});

function startOf(pid: number): number {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
}
