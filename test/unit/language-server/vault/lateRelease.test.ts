import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import type { ParamsOf } from '../../../../protocol/src/contract.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { Permission } from '../../../../protocol/src/permissions.ts';
import { jobSpec } from '../../../../protocol/src/runner.ts';
import type { vaultPersonRequests, VaultWish } from '../../../../protocol/src/vault.ts';
import { toSpec } from '../../../../language-server/src/runners/local.ts';
import { ValueRelease } from '../../../../language-server/src/runners/places/valueRelease.ts';
import type { AwaitedRelease } from '../../../../language-server/src/vault/awaitedRelease.ts';
import { createReleases, type Releases } from '../../../../language-server/src/vault/releaseValues.ts';
import { proveKey } from '../../../../remote-agent/src/vault/keyProof.ts';
import { jobWith } from '../../../support/jobs.ts';
import { FakePersonSide } from '../../../support/personSide.ts';

type Release = ParamsOf<(typeof vaultPersonRequests)['vault/release']>;

const sealed = { ephemeralKey: 'a', iv: 'b', ciphertext: 'c', tag: 'd' };
const wish: VaultWish = { item: 'db', field: 'password', use: { kind: 'env', name: 'DB' } };
const asked: Permission[] = [{ name: 'execution', service: 'slurm:lab' }];
const card = { id: 'load', asked, vault: [wish] };
const key = Buffer.alloc(32, 5).toString('base64');
const signal = new AbortController().signal;

describe('values that are released when a job has started', () => {
  let person: FakePersonSide;
  let releases: Releases;
  let released: Release[];
  let isCovered: boolean;
  let isTrusted: boolean;
  let accepted: Permission[];
  let told: string[];
  let answer: () => unknown;

  beforeEach(() => {
    person = new FakePersonSide();
    [released, isCovered, isTrusted, accepted, told] = [[], true, true, [...asked], []];
    answer = () => ({ values: [{ grant: 'g', wish, sealed }] });
    person.others.set('vault/covered', () => ({ covered: [isCovered] }));
    person.others.set('vault/ask', () => ({ grant: 'g', state: 'pending' }));
    person.others.set('vault/release', (params: Release) => {
      released.push(params);
      return answer();
    });
    releases = createReleases({
      person,
      scopeOf: (root) => (root === '/copy' ? null : 'scope'),
      isTrusted: () => isTrusted,
      accepted: () => accepted,
      onLocked: (id) => told.push(id),
    });
  });

  const later = async (): Promise<AwaitedRelease> => {
    const { releaseLater } = await releases.forJob(card, '/project', 'job-1', { asksValues: true }, signal);
    assert.ok(releaseLater);
    return releaseLater;
  };

  it('are only looked for before the job is sent, and nothing of them goes with it [SLURM-16]', async () => {
    const releaseLater = await later();
    assert.deepEqual(released, []);
    const spec = jobSpec.parse(toSpec({ ...jobWith({}), releaseLater }));
    assert.deepEqual(Object.keys(spec.awaitsVault ?? {}), ['ticket', 'waitSeconds']);
    assert.ok(!JSON.stringify(spec).includes('password'));
    assert.notEqual((await later()).ticket, releaseLater.ticket);
  });

  it('are asked for at a place that knows its key as ever', async () => {
    const { vault } = await releases.forJob(
      card,
      '/project',
      'job-1',
      { vaultKey: key, asksValues: true },
      signal,
    );
    assert.equal(vault?.length, 1);
    assert.deepEqual(released[0]?.recipient, key);
  });

  const early: readonly [string, () => void, string, string][] = [
    [
      'there is no grant',
      () => (isCovered = false),
      '/project',
      'there is no grant for password of the vault item db in its environment',
    ],
    ['the folder is a copy', () => undefined, '/copy', 'can’t be told from a copy'],
    [
      'nobody is there',
      () =>
        person.others.set('vault/covered', () => {
          throw new UserError('closed', 'nobody');
        }),
      '/project',
      'from VS Code',
    ],
  ];
  for (const [name, arrange, root, words] of early) {
    it(`send nothing where ${name} [SLURM-16]`, async () => {
      arrange();
      const forJob = releases.forJob(card, root, 'job-1', { asksValues: true }, signal);
      await assert.rejects(forJob, { code: 'permission-needed', message: new RegExp(words) });
      assert.equal(
        person.asked.some(({ method }) => method === 'vault/ask'),
        !isCovered,
      );
    });
  }

  it('are asked for by the card, its project, this job and this key alone [SLURM-16]', async () => {
    await releases.forStarted(await later(), 'job-1', key, signal);
    const wanted = { principal: 'card:load', scope: 'scope', jobId: 'job-1', recipient: key, wishes: [wish] };
    assert.deepEqual(released, [wanted]);
  });

  const late: readonly [string, () => void, string][] = [
    ['the folder is not trusted any more', () => (isTrusted = false), 'untrusted'],
    ['a permission was taken back', () => (accepted = []), 'slurm:lab'],
    ['other values come back', () => (answer = () => ({ values: [] })), 'other values'],
  ];
  for (const [name, arrange, words] of late) {
    it(`are not given where ${name} [SLURM-16]`, async () => {
      const awaited = await later();
      arrange();
      await assert.rejects(releases.forStarted(awaited, 'job-1', key, signal), {
        message: new RegExp(words),
      });
    });
  }

  it('wait for a locked vault until it is open, or until the job wants none any more [SLURM-17]', async () => {
    const awaited = await later();
    answer = () => {
      throw new UserError('permission-needed', 'it is locked', { isLocked: true, remedy: '' });
    };
    const given = releases.forStarted(awaited, 'job-1', key, signal);
    while (told.length === 0) await new Promise(setImmediate);
    releases.changed();
    while (released.length < 2) await new Promise(setImmediate);
    answer = () => ({ values: [{ grant: 'g', wish, sealed }] });
    await new Promise(setImmediate);
    releases.changed();
    assert.equal((await given).length, 1);
    assert.deepEqual(told, ['load']);
    answer = () => {
      throw new UserError('permission-needed', 'it is locked', { isLocked: true, remedy: '' });
    };
    const stop = new AbortController();
    const dropped = releases.forStarted(awaited, 'job-2', key, stop.signal);
    stop.abort();
    await assert.rejects(dropped, { code: 'cancelled' });
  });

  it('leave nothing behind that waits, however they end', async () => {
    const awaited = await later();
    const stop = new AbortController();
    await releases.forStarted(awaited, 'job-1', key, stop.signal);
    assert.deepEqual(getEventListeners(stop.signal, 'abort'), []);
    isTrusted = false;
    await assert.rejects(releases.forStarted(awaited, 'job-1', key, stop.signal));
    assert.deepEqual(getEventListeners(stop.signal, 'abort'), []);
  });

  describe('asked for by a job', () => {
    let calls: string[];
    let desk: ValueRelease;
    let awaited: AwaitedRelease;
    beforeEach(async () => {
      awaited = await later();
      calls = [];
      desk = new ValueRelease(
        (jobId) => (jobId === 'job-1' ? awaited : undefined),
        (_awaited, _jobId, recipient) => {
          calls.push(recipient);
          return Promise.resolve([{ grant: 'g', wish, sealed }]);
        },
      );
    });
    const ask = (more: { jobId?: string; publicKey?: string; proof?: string } = {}) => {
      const { jobId = 'job-1', publicKey = key } = more;
      return desk.answer(
        { jobId, publicKey, proof: proveKey(awaited.ticket, jobId, publicKey), ...more },
        signal,
      );
    };

    it('are given twice to the same key and released once; another key is another release [SLURM-18]', async () => {
      assert.deepEqual(await ask(), await ask());
      assert.deepEqual(calls, [key]);
      const other = Buffer.alloc(32, 6).toString('base64');
      await ask({ publicKey: other });
      assert.deepEqual(calls, [key, other]);
    });

    it('are given to no job of another and to no key without its proof [SLURM-18]', async () => {
      const other = Buffer.alloc(32, 6).toString('base64');
      await assert.rejects(ask({ jobId: 'job-2' }), { code: 'not-found' });
      for (const proof of [
        '',
        other,
        proveKey(awaited.ticket, 'job-2', key),
        proveKey(awaited.ticket, 'job-1', other),
        proveKey(other, 'job-1', key),
      ])
        await assert.rejects(ask({ proof }), { code: 'bad-message' });
      assert.deepEqual(calls, []);
    });
  });
});
