import assert from 'node:assert/strict';
import {
  refusalOf,
  type Grant,
  type GrantDraft,
  type GrantRefusal,
} from '../../../../extension/src/vault/core/grants.ts';
import { loginDraft, VaultHarness } from '../../../support/vaultHarness.ts';

const wish: GrantDraft = {
  item: 'one',
  field: 'password',
  principal: 'card:fetch',
  scope: 'scope',
  use: { kind: 'header', hosts: ['api.example.org'], name: 'authorization', prefix: 'Bearer ' },
  limits: { count: null, until: null },
  reason: 'please',
};

describe('vault grants', () => {
  let harness: VaultHarness;
  beforeEach(() => (harness = new VaultHarness()));
  afterEach(() => harness.close());

  async function vaultWithItem() {
    const vault = await harness.create();
    await vault.save(loginDraft('one', 'x'));
    return vault;
  }

  it('[SEAL-12] wait for a person, release when accepted, and are in the log with each use', async () => {
    const vault = await vaultWithItem();
    const asked = await vault.ask(wish);
    assert.deepEqual([asked.state, asked.itemVersion, asked.used], ['pending', 1, 0]);
    await assert.rejects(vault.consume(asked.id, { host: 'api.example.org' }), {
      code: 'not-granted',
      data: { reason: 'pending' },
    });
    await vault.answer(asked.id, 'accepted');
    await vault.consume(asked.id, { host: 'api.example.org' });
    harness.now += 5;
    await vault.consume(asked.id, { host: 'api.example.org' });
    const again = await harness.open();
    assert.equal(again.grants()[0]?.used, 2);
    assert.deepEqual(again.uses()[0], {
      grant: asked.id,
      principal: 'card:fetch',
      item: 'one',
      field: 'password',
      host: 'api.example.org',
      at: harness.now,
    });
    assert.equal(again.uses().length, 2);
  });

  it('[SEAL-12] the same wish that waits is not asked twice; another is', async () => {
    const vault = await vaultWithItem();
    const first = await vault.ask(wish);
    assert.equal((await vault.ask({ ...wish, reason: 'again' })).id, first.id);
    const others: Partial<GrantDraft>[] = [
      { principal: 'card:other' },
      { field: 'user' },
      { scope: 'other' },
      { use: { kind: 'env', name: 'X' } },
    ];
    for (const other of others) assert.notEqual((await vault.ask({ ...wish, ...other })).id, first.id);
    assert.equal(vault.grants().length, 5);
  });

  it('[SEAL-12] are answered once, and a refusal or a revocation is for good', async () => {
    const vault = await vaultWithItem();
    const declined = await vault.ask(wish);
    await vault.answer(declined.id, 'declined');
    await assert.rejects(vault.answer(declined.id, 'accepted'), { code: 'already-answered' });
    await assert.rejects(vault.consume(declined.id, { host: '' }), { data: { reason: 'declined' } });
    const revoked = await vault.ask(wish);
    await vault.answer(revoked.id, 'accepted');
    await vault.revoke(revoked.id);
    await vault.revoke(revoked.id);
    await assert.rejects(vault.answer(revoked.id, 'accepted'), { code: 'already-answered' });
    // V23: also after a restart.
    const again = await harness.open();
    await assert.rejects(again.consume(revoked.id, { host: '' }), { data: { reason: 'revoked' } });
    await assert.rejects(again.answer('none', 'accepted'), { code: 'no-such-grant' });
    await assert.rejects(again.revoke('none'), { code: 'no-such-grant' });
    await assert.rejects(again.consume('none', { host: '' }), { data: { reason: 'unknown' } });
  });

  it('[SEAL-12] V27 a next version of the item needs another yes; a person can carry the grant over', async () => {
    const vault = await vaultWithItem();
    const grant = await vault.ask(wish);
    const waiting = await vault.ask({ ...wish, field: 'user' });
    await vault.answer(grant.id, 'accepted');
    await vault.save(loginDraft('one', 'y', 1));
    await assert.rejects(vault.consume(grant.id, { host: '' }), { data: { reason: 'item-changed' } });
    await assert.rejects(vault.answer(waiting.id, 'accepted'), { code: 'changed-elsewhere' });
    const next = await vault.ask(wish);
    assert.notEqual(next.id, grant.id);
    await vault.answer(next.id, 'accepted');
    await vault.save(loginDraft('one', 'z', 2), { carryGrants: true });
    await vault.consume(next.id, { host: '' });
    await assert.rejects(vault.consume(grant.id, { host: '' }), { data: { reason: 'item-changed' } });
  });

  it('[SEAL-12] end with their item, and a later item of the name has none', async () => {
    const vault = await vaultWithItem();
    const grant = await vault.ask(wish);
    await vault.answer(grant.id, 'accepted');
    await vault.remove('one');
    assert.equal(vault.grants()[0]?.state, 'revoked');
    await vault.save(loginDraft('one', 'y'));
    await assert.rejects(vault.consume(grant.id, { host: '' }), { data: { reason: 'revoked' } });
  });

  it('[SEAL-12] that are counted end at their count, whoever uses them at the same time', async () => {
    const vault = await vaultWithItem();
    const { id } = await vault.ask({ ...wish, limits: { count: 3, until: null } });
    await vault.answer(id, 'accepted');
    const other = await harness.open();
    const tries = Array.from({ length: 8 }, (_, at) =>
      (at % 2 === 0 ? vault : other).consume(id, { host: '' }),
    );
    const ended = await Promise.allSettled(tries);
    assert.equal(ended.filter(({ status }) => status === 'fulfilled').length, 3);
    assert.equal((await harness.open()).grants()[0]?.used, 3);
  });

  it('[SEAL-12] counts and states survive a rewrite of the log', async () => {
    const vault = await vaultWithItem();
    await vault.save(loginDraft('two', 'x'));
    const { id } = await vault.ask({ ...wish, limits: { count: 3, until: null } });
    await vault.answer(id, 'accepted');
    await vault.consume(id, { host: '' });
    await vault.consume(id, { host: '' });
    await vault.remove('two');
    for (const each of [vault, await harness.open()]) {
      assert.equal(each.grants().find((grant) => grant.id === id)?.used, 2);
      assert.equal(each.uses().length, 2);
    }
    await vault.consume(id, { host: '' });
    await assert.rejects(vault.consume(id, { host: '' }), { data: { reason: 'used-up' } });
  });

  it('[SEAL-12] the person’s limits count, not those that were asked for', async () => {
    const vault = await vaultWithItem();
    const { id } = await vault.ask({ ...wish, limits: { count: 1000, until: null } });
    await vault.answer(id, 'accepted', { count: 1, until: harness.now + 1000 });
    await vault.consume(id, { host: '' });
    await assert.rejects(vault.consume(id, { host: '' }), { data: { reason: 'used-up' } });
  });

  it('[SEAL-12] what a program asks for is bounded, and names nothing that is not there', async () => {
    const vault = await vaultWithItem();
    await assert.rejects(vault.ask({ ...wish, item: 'x\u202Ey' }), {
      code: 'no-such-item',
      data: { item: '' },
    });
    await assert.rejects(vault.ask({ ...wish, field: 'none' }), { code: 'no-such-field' });
    await assert.rejects(vault.ask({ ...wish, reason: 'x'.repeat(2001) }), { code: 'bad-item' });
    await assert.rejects(vault.ask({ ...wish, limits: { count: 0, until: null } }), { code: 'bad-item' });
    for (let at = 0; at < 100; at++) await vault.ask({ ...wish, principal: `card:c${at}` });
    await assert.rejects(vault.ask(wish), { code: 'too-many-asks' });
  });

  it('what a person did is noted beside', async () => {
    const vault = await vaultWithItem();
    await vault.note([{ grant: '', principal: 'person', item: 'one', field: 'password', host: '' }]);
    assert.deepEqual(
      vault.uses().map(({ principal, at }) => [principal, at]),
      [['person', harness.now]],
    );
  });

  const accepted: Grant = {
    ...wish,
    id: 'g',
    itemVersion: 2,
    state: 'accepted',
    askedAt: 50,
    answeredAt: 100,
    used: 1,
  };
  const decisions: readonly [string, Partial<Grant>, number | undefined, number, GrantRefusal | undefined][] =
    [
      ['without limits', {}, 2, 1e9, undefined],
      ['before its end', { limits: { count: null, until: 200 } }, 2, 199, undefined],
      ['at its end', { limits: { count: null, until: 200 } }, 2, 200, 'expired'],
      ['with a clock before the answer', { limits: { count: null, until: 200 } }, 2, 99, 'expired'],
      ['with one use left', { limits: { count: 2, until: null } }, 2, 150, undefined],
      ['with none left', { limits: { count: 1, until: null } }, 2, 150, 'used-up'],
      ['of a version before', {}, 3, 150, 'item-changed'],
      ['of an item that is gone', {}, undefined, 150, 'item-removed'],
      ['that waits', { state: 'pending' }, 2, 150, 'pending'],
      ['that was declined', { state: 'declined' }, 2, 150, 'declined'],
      ['that was revoked', { state: 'revoked' }, 2, 150, 'revoked'],
    ];
  for (const [name, change, version, now, expected] of decisions)
    it(`[SEAL-12] a grant ${name}: ${expected ?? 'releases'}`, () =>
      assert.equal(refusalOf({ ...accepted, ...change }, version, now), expected));
});
