import assert from 'node:assert/strict';
import type { Vault } from '../../../extension/src/vault/core/vaultContract.ts';
import { ReleaseDesk } from '../../../extension/src/vault/releaseDesk.ts';
import { ReleasedValues } from '../../../extension/src/vault/releasedValues.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { VaultUse, VaultWish } from '../../../protocol/src/vault.ts';
import { createRecipientKey } from '../../../remote-agent/src/vault/openValue.ts';
import { Secret } from '../../../extension/src/vault/core/secret.ts';
import { VaultHarness } from '../../support/vaultHarness.ts';

const token = 'tok-9f4/Secret+Value==7';
const use: VaultUse = {
  kind: 'header',
  hosts: ['api.example.org'],
  name: 'authorization',
  prefix: 'Bearer ',
};
const wish: VaultWish = { item: 'api', field: 'token', use };
const wanted = { principal: 'card:load', scope: 'scope-1', wish };

describe('the release desk', () => {
  let harness: VaultHarness;
  let vault: Vault;
  let desk: ReleaseDesk;
  let released: ReleasedValues;
  let opened: readonly Vault[];
  const runner = createRecipientKey();

  const save = async (value = token, baseVersion = 0, hosts: string[] = []) => {
    using secret = Secret.fromText(value);
    return await vault.save({
      id: 'api',
      baseVersion,
      title: 'API',
      kind: 'token',
      fields: [{ name: 'token', kind: 'secret', value: secret }],
      hosts,
      tags: [],
      expiresAt: null,
    });
  };

  beforeEach(async () => {
    harness = new VaultHarness();
    vault = await harness.create();
    await save();
    opened = [vault];
    released = new ReleasedValues();
    desk = new ReleaseDesk({
      openVaults: async () => opened,
      hasLocked: () => false,
      released,
      now: () => harness.now,
    });
  });
  afterEach(() => harness.close());

  const grant = async (
    more: {
      use?: VaultUse;
      limits?: { count: number | null; until: number | null };
      principal?: string;
      scope?: string;
    } = {},
  ) => {
    const { limits = { count: null, until: null }, ...rest } = more;
    const asked = await vault.ask({
      item: 'api',
      field: 'token',
      principal: 'card:load',
      scope: 'scope-1',
      use,
      reason: '',
      limits,
      ...rest,
    });
    return vault.answer(asked.id, 'accepted', limits);
  };
  const release = (more: Partial<typeof wanted> = {}, jobId = 'job-1') => {
    const { principal, scope, wish: asked } = { ...wanted, ...more };
    return desk.release({ principal, scope, jobId, recipient: runner.publicKey, wishes: [asked] });
  };
  const isNeeded = (words: RegExp) => (error: unknown) =>
    error instanceof UserError &&
    error.code === 'permission-needed' &&
    words.test(error.message) &&
    !error.message.includes(token);

  for (const principal of ['plugin:notes/search', 'place:ssh:lab', 'connection:c', 'app:notes', 'agent'])
    it(`[VAULTUSE-13] seals nothing of a grant of ${principal}, whose value is for a request and nobody’s`, async () => {
      await grant({ principal, scope: 'app:i' });
      const asked = { principal, scope: 'app:i', wish };
      const refused = (error: unknown) => error instanceof UserError && error.code === 'bad-message';
      await assert.rejects(release(asked), refused);
      await assert.rejects(desk.ask({ ...asked, reason: '' }), refused);
      await assert.rejects(desk.covered({ principal, scope: 'app:i', wishes: [wish] }), refused);
      assert.deepEqual([vault.uses(), vault.grants().length], [[], 1]);
      // The control: the same grant of a card is given.
      await grant({ scope: 'app:i' });
      assert.equal((await release({ scope: 'app:i' })).values.length, 1);
    });

  it('[VAULTUSE-13] gives a granted value sealed, with a line in the log, and remembers what to look for', async () => {
    const { id } = await grant();
    const { values } = await release();
    assert.equal(runner.open('job-1', values[0]!).toString(), token);
    assert.ok(!JSON.stringify(values).includes(token));
    const [line] = vault.uses();
    assert.deepEqual(
      {
        grant: line?.grant,
        principal: line?.principal,
        item: line?.item,
        field: line?.field,
        host: line?.host,
      },
      { grant: id, principal: 'card:load', item: 'api', field: 'token', host: 'api.example.org' },
    );
    assert.equal(released.scrubber.text(`x ${token}`), 'x [vault value removed]');
  });

  const header = use;
  const others: readonly [string, Partial<typeof wanted>][] = [
    ['another card', { principal: 'card:other' }],
    ['another project', { scope: 'scope-2' }],
    ['another host', { wish: { ...wish, use: { ...header, hosts: ['evil.example.org'] } } }],
    [
      'one more host',
      { wish: { ...wish, use: { ...header, hosts: ['api.example.org', 'evil.example.org'] } } },
    ],
    ['another port', { wish: { ...wish, use: { ...header, hosts: ['api.example.org:8443'] } } }],
    ['no host', { wish: { ...wish, use: { ...header, hosts: [] } } }],
    ['another header', { wish: { ...wish, use: { ...header, name: 'x-log' } } }],
    ['another prefix', { wish: { ...wish, use: { ...header, prefix: '' } } }],
    ['the environment', { wish: { ...wish, use: { kind: 'env', name: 'TOKEN' } } }],
  ];
  for (const [name, more] of others) {
    it(`[VAULTUSE-13] gives nothing to ${name}, and lets a person be asked`, async () => {
      await grant();
      await assert.rejects(release(more), isNeeded(/no grant for token/));
      assert.equal(vault.uses().length, 0);
      assert.ok(released.scrubber.isEmpty);
      assert.equal(vault.grants().filter(({ state }) => state === 'pending').length, 1);
      // Asked again, it is the same request that waits.
      await assert.rejects(release(more));
      assert.equal(vault.grants().filter(({ state }) => state === 'pending').length, 1);
      // Negative control.
      await release();
    });
  }

  it('takes the port of TLS for a host without one, and some of the granted hosts', async () => {
    await grant({ use: { ...header, hosts: ['api.example.org:443', 'b.example.org'] } });
    await release();
    await release({ wish: { ...wish, use: { ...header, hosts: ['API.example.org:443'] } } });
  });

  it('[VAULTUSE-13] gives nothing under a grant that waits, was declined, revoked, used up, over, or of another version', async () => {
    const asked = await vault.ask({
      ...wish,
      principal: 'card:load',
      scope: 'scope-1',
      reason: '',
      limits: { count: null, until: null },
    });
    await assert.rejects(release(), isNeeded(/no grant/));
    await vault.answer(asked.id, 'declined');
    await assert.rejects(release(), isNeeded(/no grant/));
    const { id } = await grant({ limits: { count: 1, until: null } });
    await release();
    await assert.rejects(release(), isNeeded(/no grant/));
    await vault.revoke(id);
    await grant({ limits: { count: null, until: harness.now + 1000 } });
    await release();
    harness.now += 1000;
    await assert.rejects(release(), isNeeded(/no grant/));
    await grant();
    await release();
    await save('another value of it', 1);
    await assert.rejects(release(), isNeeded(/no grant/));
  });

  it('[VAULTUSE-13] sends a value only where its item was saved for, whatever was granted', async () => {
    await save(token, 1, ['other.example.org']);
    await grant();
    await assert.rejects(release(), isNeeded(/not saved for api\.example\.org/));
    await save(token, 2, ['api.example.org:443']);
    await grant();
    await release();
  });

  it('refuses a value that could not be kept out of logs', async () => {
    await save('short', 1);
    await grant();
    await assert.rejects(release(), isNeeded(/shorter than six/));
  });

  it('gives all of a job’s values or none, and uses up no grant for nothing', async () => {
    const { id } = await grant({ limits: { count: 1, until: null } });
    const missing: VaultWish = { ...wish, use: { kind: 'env', name: 'X' } };
    await assert.rejects(
      desk.release({ ...wanted, jobId: 'job-1', recipient: runner.publicKey, wishes: [wish, missing] }),
      isNeeded(/no grant/),
    );
    assert.equal(vault.grants().find((each) => each.id === id)?.used, 0);
  });

  it('says what is not there, and what is locked', async () => {
    await assert.rejects(
      release({ wish: { ...wish, item: 'gone' } }),
      isNeeded(/no field token of a vault item gone/),
    );
    await assert.rejects(release({ wish: { ...wish, field: 'gone' } }), isNeeded(/no field gone/));
    opened = [];
    await assert.rejects(release(), isNeeded(/no field token/));
    vault.lock();
    opened = [vault];
    await assert.rejects(release());
  });

  it('[VAULTUSE-14] tells names and never values, and lets what a model asks for wait', async () => {
    const names = await desk.names();
    assert.deepEqual(names, [{ item: 'api', title: 'API', kind: 'token', fields: ['token'], hosts: [] }]);
    const asked = await desk.ask({ ...wanted, reason: 'Because.' });
    assert.equal(asked.state, 'pending');
    assert.deepEqual(
      (await desk.covered({ principal: wanted.principal, scope: wanted.scope, wishes: [wish] })).covered,
      [false],
    );
    await vault.answer(asked.grant, 'accepted');
    assert.equal((await desk.ask({ ...wanted, reason: '' })).state, 'accepted');
    assert.deepEqual(
      (await desk.covered({ principal: wanted.principal, scope: wanted.scope, wishes: [wish] })).covered,
      [true],
    );
    await assert.rejects(
      desk.ask({ ...wanted, wish: { ...wish, item: 'gone' }, reason: '' }),
      isNeeded(/gone/),
    );
  });
});
