import assert from 'node:assert/strict';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import type { JobResult } from '../../../../protocol/src/runner.ts';
import { EventLog } from '../../../../remote-agent/src/served/eventLog.ts';
import { Journal } from '../../../../remote-agent/src/served/journal.ts';
import {
  openJournalFile,
  passingDisk,
  type JournalDisk,
} from '../../../../remote-agent/src/served/journalFile.ts';
import { jobWith } from '../../../support/jobs.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const result: JobResult = {
  outcome: { kind: 'exited', exitCode: 0 },
  outputs: {},
  outputProblems: [],
  logBytes: 0,
  logCutBytes: 0,
  waitMs: 0,
  runMs: 1,
  stageMs: 1,
  collectMs: 1,
  isolation: 'bubblewrap',
};

describe('the journal of a runner', () => {
  const folder = useTemporaryFolder();
  const path = () => join(folder(), 'journal');
  const statesOf = (journal: Journal) =>
    Object.fromEntries(
      [...journal.jobs.values()].map(({ job, started, ended }) => [
        job.jobId,
        ended ? 'ended' : started ? 'started' : 'accepted',
      ]),
    );
  const write = async (disk?: JournalDisk) => {
    const journal = new Journal(path(), disk);
    const { entry: one, durable } = journal.accept(jobWith({ jobId: 'one' }), 'engine', 60, 1);
    await durable;
    const second = journal.accept(jobWith({ jobId: 'two' }), 'engine', 60, 2);
    const two = second.entry;
    await second.durable;
    await journal.start(one);
    await journal.start(two);
    await journal.end(two, 3, result);
    await journal.accept(jobWith({ jobId: 'three' }), 'engine', 60, 3).durable;
    await journal.close();
    return readFileSync(path());
  };

  it('is with the system before anything is answered also where its disk ends with the machine', async () => {
    const inVm = await write(passingDisk);
    assert.deepEqual(statesOf(new Journal(path())), { one: 'started', two: 'ended', three: 'accepted' });
    rmSync(path());
    assert.deepEqual(inVm, await write());
  });

  it('is found again as it was left, 0600 [JRNL-01]', async () => {
    await write();
    const journal = new Journal(path());
    assert.deepEqual(statesOf(journal), { one: 'started', two: 'ended', three: 'accepted' });
    assert.deepEqual(journal.jobs.get('two')?.ended, { seq: 3, result });
    await journal.forget('two');
    await journal.close();
    assert.deepEqual(statesOf(new Journal(path())), { one: 'started', three: 'accepted' });
    assert.equal(statSync(path()).mode & 0o777, 0o600);
  });

  it('cut off at any byte is a beginning of what was acknowledged: no step without the one before it [JRNL-01]', async () => {
    const whole = await write();
    const order = ['accepted', 'started', 'ended'];
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: whole.length }), async (length) => {
        writeFileSync(path(), whole.subarray(0, length));
        const journal = new Journal(path());
        const states = statesOf(journal);
        await journal.close();
        const full: Record<string, string> = { one: 'started', two: 'ended', three: 'accepted' };
        for (const [id, state] of Object.entries(states))
          assert.ok(order.indexOf(state) <= order.indexOf(full[id] ?? ''), `${id} ${state}`);
        // A whole record is never lost with the torn one.
        const lines = whole.toString('utf8', 0, length).split('\n').length - 1;
        assert.equal(Object.keys(states).length, lines === 0 ? 0 : lines === 1 ? 1 : lines < 6 ? 2 : 3);
      }),
      { numRuns: 60 },
    );
  });

  it('damaged in the middle is refused, not guessed at [JRNL-01]', async () => {
    const whole = (await write()).toString();
    writeFileSync(path(), whole.replace('"jobId":"two"', '"jobId":"twi"'));
    assert.throws(() => new Journal(path()), { code: 'unreadable', message: /damaged/ });
  });

  it('acknowledges nothing before it is synced, and many with one sync [JRNL-02]', async () => {
    const steps: string[] = [];
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const { file } = openJournalFile(path(), undefined, {
      write: async (_descriptor, bytes) => (steps.push('write'), bytes.length),
      sync: async () => {
        steps.push('sync');
        await gate;
      },
    });
    const acknowledged: number[] = [];
    const append = (n: number) => file.append({ n }).then(() => acknowledged.push(n));
    const all = [append(1), append(2)];
    await new Promise((resolve) => setImmediate(resolve));
    all.push(append(3));
    assert.deepEqual(acknowledged, []);
    assert.deepEqual(steps, ['write', 'sync']);
    open();
    await Promise.all(all);
    assert.deepEqual(steps, ['write', 'sync', 'write', 'sync']);
    await file.close();
  });

  it('says that the disk is full, and keeps what it had [JRNL-03]', async () => {
    let isFull = false;
    const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
    const { writeSync, fdatasyncSync } = await import('node:fs');
    const journal = new Journal(path(), {
      write: async (descriptor, bytes, offset) => {
        // Half of the record still fits.
        const fits = isFull ? bytes.subarray(0, 20) : bytes;
        const count = writeSync(descriptor, fits, 0, fits.length, offset);
        if (isFull) throw full;
        return count;
      },
      sync: async (descriptor) => fdatasyncSync(descriptor),
    });
    await journal.accept(jobWith({ jobId: 'one' }), 'engine', 60, 1).durable;
    isFull = true;
    await assert.rejects(journal.accept(jobWith({ jobId: 'two' }), 'engine', 60, 1).durable, {
      code: 'disk-full',
    });
    assert.deepEqual(statesOf(journal), { one: 'accepted' });
    isFull = false;
    await journal.accept(jobWith({ jobId: 'three' }), 'engine', 60, 1).durable;
    await journal.close();
    assert.deepEqual(statesOf(new Journal(path())), { one: 'accepted', three: 'accepted' });
  });
});

describe('the events of a job', () => {
  const folder = useTemporaryFolder();
  const clear = { isCongested: false, whenClear: () => Promise.resolve() };

  it('are told once each, in order, from any number on, after a torn line was cut off [JRNL-04]', async () => {
    const path = join(folder(), 'events');
    const log = new EventLog(path);
    for (let n = 1; n <= 500; n += 1)
      log.append({ kind: 'log', stream: 'stdout', text: `line ${n} ${'x'.repeat(n)}` });
    log.close();
    writeFileSync(path, '{"seq":501,"event":{"kind":"lo', { flag: 'a' });
    const again = new EventLog(path);
    assert.equal(again.lastSeq, 500);
    again.append({ kind: 'started' });
    for (const after of [0, 1, 250, 500, 501, 900]) {
      const told: number[] = [];
      await again.follow(
        after,
        (seq) => told.push(seq),
        clear,
        () => true,
        new AbortController().signal,
      );
      assert.deepEqual(
        told,
        Array.from({ length: Math.max(0, 501 - after) }, (_, index) => after + index + 1),
      );
    }
    again.close();
  });

  it('wait for a reader that can’t follow, and come as they happen [JRNL-04]', async () => {
    const log = new EventLog(join(folder(), 'events'));
    const told: number[] = [];
    let isOver = false;
    let clearNow: () => void = () => undefined;
    const slow = { isCongested: true, whenClear: () => new Promise<void>((resolve) => (clearNow = resolve)) };
    const done = log.follow(
      0,
      (seq) => told.push(seq),
      slow,
      () => isOver,
      new AbortController().signal,
    );
    log.append({ kind: 'started' });
    log.append({ kind: 'started' });
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(told, [1]);
    isOver = true;
    clearNow();
    await new Promise((resolve) => setImmediate(resolve));
    clearNow();
    await done;
    assert.deepEqual(told, [1, 2]);
    log.close();
  });
});
