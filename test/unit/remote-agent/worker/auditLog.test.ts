import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { tryLock } from '../../../../remote-agent/src/files/folderLock.ts';
import { AuditLog, type AuditLimits, type LogEntry } from '../../../../remote-agent/src/worker/auditLog.ts';
import { MemberLog } from '../../../../remote-agent/src/worker/memberLog.ts';
import { RefusalLog } from '../../../../remote-agent/src/worker/refusalLog.ts';
import type { Member } from '../../../../remote-agent/src/worker/workerFiles.ts';
import { shareLimits, WorkerLog } from '../../../../remote-agent/src/worker/workerLog.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

describe('a worker’s log', () => {
  const folder = useTemporaryFolder();
  const path = (number = 0) => join(folder(), number === 0 ? 'audit.log' : `audit.log.${number}`);
  const lines = (number = 0) =>
    existsSync(path(number)) ? readFileSync(path(number), 'utf8').split('\n') : [];
  /** All entries, the oldest first. Throws where a line is not whole. */
  const entries = () =>
    readdirSync(folder())
      .filter((name) => name.startsWith('audit.log'))
      .map((name) => Number(name.slice('audit.log.'.length) || 0))
      .sort((a, b) => b - a)
      .flatMap((number) => lines(number))
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { id: string });
  const idsOf = (all: readonly { id: string }[]) => all.map(({ id }) => id);
  const roomOf = ({ fileBytes, oldFiles }: AuditLimits) => fileBytes * (oldFiles + 1);
  const fill = (log: AuditLog, from: number, count: number) => {
    for (let id = from; id < from + count; id += 1) log.note({ id: String(id) });
  };

  it('[WORKER-09] is set aside by its size, so many times, each file 0600, the oldest left out', () => {
    const log = new AuditLog(folder(), 'audit.log', { fileBytes: 100, oldFiles: 3 });
    fill(log, 100, 100);
    const names = readdirSync(folder()).sort();
    assert.deepEqual(names, ['audit.log', 'audit.log.1', 'audit.log.2', 'audit.log.3']);
    for (const name of names) {
      const { mode, size } = statSync(join(folder(), name));
      assert.equal(mode & 0o777, 0o600);
      assert.ok(size <= 100, `${name}: ${size}`);
    }
    const kept = idsOf(entries());
    assert.deepEqual(
      kept,
      Array.from({ length: kept.length }, (_, at) => String(200 - kept.length + at)),
    );
    // Without the limit it grows (control).
    const endless = new AuditLog(folder(), 'audit.log', { fileBytes: Infinity, oldFiles: 3 });
    fill(endless, 0, 100);
    assert.ok(statSync(path()).size > 1000);
  });

  it('[WORKER-09] keeps a line that is longer than a file may be', () => {
    const log = new AuditLog(folder(), 'audit.log', { fileBytes: 50, oldFiles: 3 });
    for (const id of ['a', 'b'.repeat(500), 'c']) log.note({ id });
    assert.deepEqual(idsOf(entries()), ['a', 'b'.repeat(500), 'c']);
  });

  for (const gap of [1, 2, 3, undefined])
    it(`[WORKER-09] ${gap ? `loses nothing after a kill between two renames, with ${gap} left free` : 'control: with no number free the oldest goes'}`, () => {
      for (const number of [3, 2, 1, 0].filter((each) => each !== gap))
        writeFileSync(path(number), `{"id":"of ${number}"}\n`);
      const before = idsOf(entries());
      new AuditLog(folder(), 'audit.log', { fileBytes: 20, oldFiles: 3 }).note({ id: 'next' });
      const kept = gap === undefined ? before.slice(1) : before;
      assert.deepEqual(idsOf(entries()), [...kept, 'next']);
    });

  it('[WORKER-09] a line that was cut stays alone; what follows is whole', () => {
    const log = new AuditLog(folder(), 'audit.log', shareLimits.shared);
    log.note({ id: 'one' });
    appendFileSync(path(), '{"id":"cu');
    log.note({ id: 'two' });
    assert.deepEqual(lines(), ['{"id":"one"}', '{"id":"cu', '{"id":"two"}', '']);
  });

  it('[WORKER-09] goes on while another process changes the folder, and is set aside afterwards', () => {
    const log = new AuditLog(folder(), 'audit.log', { fileBytes: 30, oldFiles: 2 });
    const lock = tryLock(folder());
    fill(log, 10, 10);
    assert.equal(entries().length, 10);
    assert.equal(existsSync(path(1)), false);
    lock?.release();
    log.note({ id: 'last' });
    assert.equal(lines(1).length, 11);
    assert.deepEqual(lines(), ['{"id":"last"}', '']);
  });

  it('[WORKER-09] follows no link', () => {
    writeFileSync(join(folder(), 'elsewhere'), '');
    symlinkSync(join(folder(), 'elsewhere'), path());
    assert.throws(() => new AuditLog(folder(), 'audit.log', shareLimits.shared).note({ id: 'one' }));
    assert.equal(readFileSync(join(folder(), 'elsewhere'), 'utf8'), '');
  });

  /** Writes lines until it is ended, and says of each that it was written. */
  const writer = (name: string, fileBytes: number): { child: ChildProcess; written: string[] } => {
    const module = new URL('../../../../remote-agent/src/worker/auditLog.ts', import.meta.url).href;
    const program = `
      import { writeSync } from 'node:fs';
      import { AuditLog } from ${JSON.stringify(module)};
      const [folder, name, fileBytes] = process.argv.slice(1);
      const log = new AuditLog(folder, 'audit.log', { fileBytes: Number(fileBytes), oldFiles: 10_000 });
      for (let count = 0; ; count += 1) {
        log.note({ id: name + '-' + count });
        writeSync(1, name + '-' + count + '\\n');
      }
    `;
    const words = ['--input-type=module', '-e', program, folder(), name, String(fileBytes)];
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    const written: string[] = [];
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      written.push(...parts);
    });
    return { child, written };
  };

  it('[WORKER-09] loses and tears no line where several processes write it, and some are killed', async () => {
    const acknowledged: string[] = [];
    for (const round of [1, 2, 3]) {
      const writers = ['a', 'b', 'c'].map((name) => writer(`${name}${round}`, 400));
      await until(() => writers.every(({ written }) => written.length > 150));
      for (const { child, written } of writers) {
        const gone = once(child, 'close');
        child.kill('SIGKILL');
        await gone;
        acknowledged.push(...written);
      }
    }
    const kept = new Set(idsOf(entries()));
    assert.equal(kept.size, entries().length, 'a line is there twice');
    assert.deepEqual(
      acknowledged.filter((id) => !kept.has(id)),
      [],
    );
    assert.ok(existsSync(path(5)));
  });

  it('[WORKER-09] a flood of refusals from ever new addresses leaves the rest of the log for days', () => {
    let bytes = 0;
    const log = new RefusalLog(
      (refusal) => (bytes += JSON.stringify({ at: 'x'.repeat(24), ...refusal }).length),
    );
    const hourMs = 60 * 60_000;
    // Ten a second, each of another kind.
    for (let at = 0; at < 24 * hourMs; at += 100)
      log.note({ refusal: 'not-enrolled', why: 'SHA256:'.padEnd(50, 'x'), from: `2001:db8::${at}` }, at);
    log.flush(Infinity);
    assert.ok(
      bytes < roomOf(shareLimits.shared) / 7,
      `${bytes} bytes a day, of ${roomOf(shareLimits.shared)}`,
    );
  });

  const member = (at: number): [LogEntry, LogEntry] => [
    { event: 'connected', fingerprint: 'SHA256:'.padEnd(50, 'x'), name: 'n'.repeat(80) },
    { from: `2001:db8:1111:2222:3333:4444:5555:${at}`, why: 'x'.repeat(300) },
  ];

  it('[WORKER-11] a flood of one member leaves the rest of their own share for days', () => {
    let bytes = 0;
    const log = new MemberLog(
      (entry) => (bytes += JSON.stringify({ at: 'x'.repeat(24), ...entry }).length + 1),
    );
    const hourMs = 60 * 60_000;
    // Ten a second, connections and every refusal that a member can have.
    for (let at = 0; at < 24 * hourMs; at += 100)
      log.note(['connected', 'too-often', 'too-many', 'internal'][at % 4] ?? '', ...member(at), at);
    log.flush(Infinity);
    assert.ok(
      bytes < roomOf(shareLimits.member) / 7,
      `${bytes} bytes a day, of ${roomOf(shareLimits.member)}`,
    );
  });

  it('[WORKER-11] a member’s things are a line each, and beyond the budget a count of each kind', () => {
    const written: LogEntry[] = [];
    const log = new MemberLog((entry) => written.push(entry));
    for (let at = 0; at < 400; at += 1) log.note('connected', { event: 'connected' }, { from: `${at}` }, at);
    log.note('too-often', { event: 'refused' }, {}, 400);
    assert.deepEqual(
      written,
      Array.from({ length: 300 }, (_, at) => ({ event: 'connected', from: `${at}` })),
    );
    log.flush(400);
    assert.equal(written.length, 300);
    log.flush(Infinity);
    assert.deepEqual(written.slice(300), [
      { event: 'connected', times: 100 },
      { event: 'refused', times: 1 },
    ]);
  });

  it('[WORKER-11] counts that could not be written are written later, and nobody comes in meanwhile', () => {
    const written: LogEntry[] = [];
    let isFull = false;
    const log = new MemberLog((entry) => {
      if (isFull) throw new Error('full');
      written.push(entry);
    });
    const connect = (now: number) => log.note('connected', { event: 'connected' }, {}, now);
    for (let turn = 0; turn < 310; turn += 1) connect(0);
    isFull = true;
    assert.throws(() => connect(6 * 60_000), /full/);
    isFull = false;
    connect(6 * 60_000);
    assert.deepEqual(written[300], { event: 'connected', times: 10 });
  });

  it('[WORKER-11] nobody pushes another’s lines out of it, however much they do', () => {
    const small = { fileBytes: 10_000, oldFiles: 2 };
    const log = new WorkerLog(folder(), { shared: small, member: small });
    const { publicKey: key } = generateKeyPairSync('ed25519');
    const identityOf = (fingerprint: string): Member => ({
      identity: { fingerprint, spki: Buffer.alloc(0), key },
      name: fingerprint,
    });
    const all = () =>
      readdirSync(folder(), { recursive: true, encoding: 'utf8' })
        .filter((name) => /\.log(\.[0-9]+)?$/.test(name))
        .map((name) => readFileSync(join(folder(), name), 'utf8'))
        .join('');
    log.act({ event: 'enrolled', fingerprint: 'flood' });
    log.connected(identityOf('quiet'), '192.0.2.1', 0);
    log.refused({ refusal: 'not-enrolled', why: 'x', from: '192.0.2.66' }, undefined, 0);
    // More than all shares together have room for.
    const dayMs = 24 * 60 * 60_000;
    for (let day = 1; day <= 5; day += 1)
      for (let turn = 0; turn < 400; turn += 1)
        log.connected(identityOf('flood'), `2001:db8:1111:2222:3333:4444:5555:${turn}`, day * dayMs + turn);
    const text = all();
    assert.ok(text.length > 2 * small.fileBytes && text.length < 4 * small.fileBytes, String(text.length));
    for (const kept of ['"enrolled"', '192.0.2.1"', '192.0.2.66"'])
      assert.ok(text.includes(kept), `${kept} was pushed out`);
    // In one file for all it is (control).
    const shared = new AuditLog(folder(), 'shared.log', small);
    shared.note({ from: 'the quiet one' });
    for (let turn = 0; turn < 3000; turn += 1) shared.note({ from: 'flood' });
    assert.equal(all().includes('the quiet one'), false);
  });

  it('[WORKER-09] a reason is written in bounded length', () => {
    const reasons: string[] = [];
    const log = new RefusalLog(({ why }) => reasons.push(why));
    log.note({ refusal: 'internal', why: 'x'.repeat(100_000), from: '' }, 0);
    assert.equal(reasons[0]?.length, 300);
  });
});
