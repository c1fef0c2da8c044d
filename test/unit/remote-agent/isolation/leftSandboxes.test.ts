import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { readEnvironment } from '../../../../remote-agent/src/environment.ts';
import { openBubblewrap } from '../../../../remote-agent/src/isolation/bubblewrapSandboxes.ts';
import { sandboxOwner } from '../../../../remote-agent/src/isolation/identity.ts';
import { bubblewrapProgram, createPlace } from '../../../../remote-agent/src/isolation/place.ts';
import { standbyRequest } from '../../../../remote-agent/src/jobRequest.ts';
import {
  identifyProcess,
  isAlive,
  usageBelow,
  type ProcessId,
} from '../../../../remote-agent/src/processes.ts';
import {
  createRunnerFolder,
  rootScratch,
  sweepRunnerFolders,
} from '../../../../remote-agent/src/runnerFolder.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

describe('a sandbox whose runner was killed', function () {
  this.timeout(60_000);
  const scratch = useTemporaryFolder();
  const uid = process.getuid?.() ?? -1;
  /** Of a runner that no process can be. */
  const gone = 'sallyport-runner-4194305-7';
  const left: ProcessId[] = [];
  const children: ChildProcess[] = [];

  before(function () {
    if (existsSync(bubblewrapProgram)) return;
    console.log('No bubblewrap here: install it to run these.');
    this.skip();
  });
  afterEach(async () => {
    for (const each of left.splice(0)) if (isAlive(each)) process.kill(each.pid, 'SIGKILL');
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  const fileIn = (name: string): string => {
    mkdirSync(join(scratch(), name), { recursive: true });
    const path = join(scratch(), name, 'file');
    writeFileSync(path, '');
    return path;
  };

  /** Bubblewrap whose outer process is killed before it gives its word to the inner one; the inner one. */
  const halfMade = async (held: string, options: { uid?: number; gid?: number } = {}): Promise<ProcessId> => {
    const file = openSync(held, 'r');
    const words = ['--unshare-user', '--unshare-pid', '--die-with-parent', '--ro-bind', '/usr', '/usr'];
    // The outer one waits here, between the two.
    words.push('--userns-block-fd', '3', '--info-fd', '4', '--', '/usr/bin/true');
    const child = spawn(bubblewrapProgram, words, {
      ...{ stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe', file], env: {}, cwd: '/' },
      ...options,
    });
    closeSync(file);
    children.push(child);
    let said = '';
    (child.stdio[4] as Readable).on('data', (chunk: Buffer) => (said += chunk.toString()));
    await until(() => said.includes('}'));
    const { 'child-pid': pid } = JSON.parse(said) as { 'child-pid': number };
    const inner = identifyProcess(pid) ?? assert.fail('the inner process is not there');
    left.push(inner);
    child.kill('SIGKILL');
    await once(child, 'exit');
    // Nothing ends it (control).
    assert.equal(isAlive(inner), true);
    return inner;
  };

  const users = {
    'the runner’s user': {},
    ...(uid === 0 && { 'a card’s user': sandboxOwner(0, readEnvironment().uidMap, 0) }),
  };
  for (const [name, user] of Object.entries(users))
    it(`[JOB-12] half made, as ${name}, is ended by the next sweep`, async () => {
      const inner = await halfMade(fileIn(gone), user);
      assert.equal(sweepRunnerFolders(scratch(), uid, ''), 1);
      await until(() => !isAlive(inner));
      assert.equal(existsSync(join(scratch(), gone)), false);
    });

  it('[JOB-12] of a card, as the runner makes it, is ended by the next sweep', async () => {
    // Other users must get to what a sandbox of root's is shown.
    const open = mkdtempSync(join(uid === 0 ? rootScratch : tmpdir(), 'sallyport-left-'));
    if (uid === 0) chmodSync(open, 0o711);
    try {
      const folder = createRunnerFolder({ scratch: open, pid: 4194305, passable: uid === 0 });
      const word = join(folder.path, 'word');
      assert.equal(spawnSync('mkfifo', ['-m', '666', word]).status, 0);
      // The outer one waits between the two; it refuses to together with --disable-userns.
      const lines = [
        '#!/bin/bash',
        'for word; do [ "$word" = --disable-userns ] || words+=("$word"); done',
        `exec 60<>${word} 61>/dev/null`,
        `exec ${bubblewrapProgram} --userns-block-fd 60 --info-fd 61 "$\{words[@]}"`,
      ];
      const program = folder.write('program', lines.join('\n'));
      chmodSync(program, 0o755);
      const place = createPlace({ environment: readEnvironment(), folder, helpers: {} });
      const opening = openBubblewrap({ ...place, program }, standbyRequest(), folder.nextJobFolder());
      const refused = assert.rejects(opening);
      const below = () => usageBelow(process.pid).pids.filter(isHeldBack);
      await until(() => below().length === 2);
      const [outer = 0, inner = 0] = below().map(Number);
      const found = identifyProcess(inner) ?? assert.fail();
      left.push(found);
      process.kill(outer, 'SIGKILL');
      await until(() => !below().includes(outer));
      assert.equal(isAlive(found), true);
      assert.equal(sweepRunnerFolders(open, uid, ''), 1);
      await until(() => !isAlive(found));
      await refused;
    } finally {
      rmSync(open, { recursive: true, force: true });
    }
  });

  it('[JOB-12] is found through a link to the scratch folder', async () => {
    const inner = await halfMade(fileIn(gone));
    symlinkSync(scratch(), join(scratch(), 'link'));
    assert.equal(sweepRunnerFolders(join(scratch(), 'link'), uid, ''), 1);
    await until(() => !isAlive(inner));
  });

  it('[JOB-12] is the only one: those of a living runner, of others and other programs stay', async () => {
    const own = createRunnerFolder({ scratch: scratch(), pid: process.pid });
    const living = await halfMade(own.write('file', ''));
    const foreign = await halfMade(fileIn(`${gone}-of-somebody`));
    const held = openSync(fileIn(gone), 'r');
    const reader = spawn('sleep', ['1000'], { stdio: ['ignore', 'ignore', 'inherit', held] });
    closeSync(held);
    children.push(reader);
    assert.equal(sweepRunnerFolders(scratch(), uid, ''), 1);
    const inner = await halfMade(fileIn(gone));
    assert.equal(sweepRunnerFolders(scratch(), uid, ''), 1);
    await until(() => !isAlive(inner));
    assert.deepEqual([isAlive(living), isAlive(foreign)], [true, true]);
    assert.equal(reader.signalCode, null);
  });
});

function isHeldBack(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('--userns-block-fd');
  } catch {
    // It has ended.
    return false;
  }
}
