import assert from 'node:assert/strict';
import { limits } from '../../../../protocol/src/limits.ts';
import { createDeferred } from '../../../../remote-agent/src/deferred.ts';
import type { ProgramEnd } from '../../../../remote-agent/src/isolation/sandbox.ts';
import { StandbyPool, type Standing } from '../../../../remote-agent/src/isolation/standby.ts';
import { isStandby, sandboxRequest } from '../../../../remote-agent/src/jobRequest.ts';
import { jobWith } from '../../../support/jobs.ts';

interface Made extends Standing {
  readonly outputMB: number;
  readonly lose: () => void;
}

function createPool(count: number, open?: () => Promise<Made>) {
  const made: Made[] = [];
  const discarded: Made[] = [];
  const errors: unknown[] = [];
  const timers: { run: () => void; ms: number; isStopped: boolean }[] = [];
  const pool = new StandbyPool<Made>({
    count,
    outputMB: 256,
    open:
      open ??
      ((outputMB) => {
        const each = standing(outputMB);
        made.push(each);
        return Promise.resolve(each);
      }),
    discard: async (each) => void discarded.push(each),
    onError: (error) => errors.push(error),
    setTimer: (run, ms) => {
      const timer = { run, ms, isStopped: false };
      timers.push(timer);
      return () => (timer.isStopped = true);
    },
  });
  return { pool, made, discarded, errors, timers };
}

function standing(outputMB = 256): Made {
  const ended = createDeferred<ProgramEnd>();
  const lose = () => ended.resolve({ kind: 'lost', said: '' });
  return { outputMB, prepared: { sandbox: { ended: ended.promise } }, lose };
}

describe('standby sandboxes', () => {
  it('[JOB-08] are never more than eight, and each serves one job', async () => {
    const { pool, made } = createPool(100);
    await pool.fill();
    assert.equal(pool.size, 8);
    const taken = new Set(Array.from({ length: 9 }, () => pool.take(256)));
    assert.equal(taken.size, 9);
    assert.ok(taken.has(undefined));
    await pool.fill();
    assert.equal(made.length, 16);
    await pool.dispose();
  });

  it('[JOB-08] are all gone after ten minutes without a job, and come back with one', async () => {
    const { pool, discarded, timers } = createPool(2);
    await pool.fill();
    await pool.fill();
    const [first, second] = timers;
    assert.deepEqual([first?.isStopped, second?.ms], [true, limits.standbyIdleMs]);
    assert.equal(limits.standbyIdleMs, 600_000);
    second?.run();
    assert.deepEqual([pool.size, discarded.length], [0, 2]);
    await pool.fill();
    assert.equal(pool.size, 2);
    await pool.dispose();
  });

  it('[JOB-08] are dropped when they end by themselves', async () => {
    const { pool, made, discarded } = createPool(1);
    await pool.fill();
    made[0]?.lose();
    await made[0]?.prepared.sandbox.ended;
    await Promise.resolve();
    assert.deepEqual([pool.take(256), discarded.length], [undefined, 1]);
    await pool.dispose();
  });

  it('tell once why they can’t be made, and try again with the next job', async () => {
    const { pool, errors } = createPool(3, () => Promise.reject(new Error('no')));
    await pool.fill();
    assert.equal(errors.length, 1);
    await pool.fill();
    assert.equal(errors.length, 2);
    await pool.dispose();
  });

  it('end with the runner, also one that is being made', async () => {
    const opening = createDeferred<Made>();
    const { pool, discarded } = createPool(1, () => opening.promise);
    void pool.fill();
    const disposed = pool.dispose();
    opening.resolve(standing());
    await disposed;
    assert.equal(discarded.length, 1);
  });

  it('[JOB-08] are made for the sizes of outputs that the last jobs had', async () => {
    const { pool, made, discarded } = createPool(2);
    const sizes = () => made.filter((each) => !discarded.includes(each)).map(({ outputMB }) => outputMB);
    await pool.fill();
    assert.equal(pool.take(1), undefined, 'none of another size is given');
    await pool.fill();
    assert.deepEqual(sizes(), [256, 1]);
    const one = pool.take(1);
    assert.equal(one?.outputMB, 1);
    await pool.fill();
    assert.deepEqual(sizes(), [1, 1, 1], 'the taken one, and two for the size of the last two jobs');
    assert.deepEqual([pool.size, discarded.includes(one)], [2, false]);
    await pool.dispose();
  });

  const closed = { network: { kind: 'none' }, hostFolders: [] } as const;
  const size = { seconds: 1, memoryMB: 8, processes: 3, outputMB: 256, logMB: 1 };
  const rows = {
    'a card that asks for nothing': [true, { access: closed, limits: size }],
    'a card with other outputs': [true, { access: closed, limits: { ...size, outputMB: 1 } }],
    'a card with hosts': [
      false,
      { access: { ...closed, network: { kind: 'hosts', hosts: ['a.test'] } }, limits: size },
    ],
    'a card with the network': [false, { access: { ...closed, network: { kind: 'all' } }, limits: size }],
    'a card with a folder': [
      false,
      { access: { ...closed, hostFolders: [{ path: '/usr', name: 'usr', write: false }] }, limits: size },
    ],
    'a card that sees the project': [false, { access: { ...closed, projectRoot: '/usr' }, limits: size }],
  } as const;
  for (const [name, [expected, job]] of Object.entries(rows)) {
    it(`[JOB-08] ${expected ? 'fit' : 'do not fit'} ${name}`, () => {
      assert.equal(isStandby(sandboxRequest(jobWith(job as object), [])), expected);
    });
  }
});
