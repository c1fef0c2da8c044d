import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Notice } from '../../../extension/src/messages.ts';
import type { Vault } from '../../../extension/src/vault/core/vaultContract.ts';
import { chooseKeyValue } from '../../../extension/src/vault/ui/chooseKeyValue.ts';
import { sampleAgentsVault, sampleDraft } from '../../support/sampleVault.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

const connection = { id: 'c1', name: 'Mine', origin: 'https://api.example.org' };
const bearer = { name: 'authorization', prefix: 'Bearer ' };

describe('a value of the vault chosen as a key', () => {
  const folder = useTemporaryFolder();
  let vault: Vault;
  let isLocked: boolean;
  let notices: Notice[];
  let asked: string[];
  let answer: 'accepted' | 'declined' | undefined;

  beforeEach(async () => {
    resetStub();
    vault = await sampleAgentsVault(join(folder(), 'agents'));
    await vault.save(sampleDraft('api', { token: 'canary-value-1' }));
    await vault.save(sampleDraft('elsewhere', { token: 'canary-value-2' }, { hosts: ['other.example'] }));
    await vault.generateKeyPair({ id: 'pair', title: 'Pair', hosts: [], tags: [], expiresAt: null });
    isLocked = false;
    notices = [];
    asked = [];
    answer = 'accepted';
  });
  afterEach(() => vault.lock());

  const choose = () =>
    chooseKeyValue(connection, bearer, {
      openVaults: async () => [vault],
      isPersonalLocked: () => isLocked,
      unlock: async () => void (isLocked = false),
      review: async (grant) => {
        asked.push(grant);
        if (answer) await vault.answer(grant, answer);
      },
      notifier: {
        show: (notice) => void notices.push(notice),
        showError: (error: unknown) => assert.fail(String(error)),
      },
      now: () => Date.now(),
    });

  it('[VAULTUSE-24] is one that may be sent to the host, and is put before the person as exactly that', async () => {
    stub.chosen = ['API · token'];
    assert.deepEqual(await choose(), { item: 'api', field: 'token' });
    assert.deepEqual(
      stub.lists[0]?.map(({ label }) => label),
      ['API · token'],
    );
    const [grant] = vault.grants();
    assert.deepEqual(asked, [grant?.id]);
    assert.deepEqual(grant?.use, { kind: 'header', hosts: ['api.example.org'], ...bearer });
    assert.equal(grant.principal, 'connection:c1');
    // What is granted already is not asked again.
    stub.chosen = ['API · token'];
    assert.deepEqual(await choose(), { item: 'api', field: 'token' });
    assert.equal(asked.length, 1);
  });

  for (const [what, given, state] of [
    ['says no', 'declined', 'declined'],
    ['turns away from the question', undefined, 'revoked'],
  ] as const)
    it(`[VAULTUSE-24] is none where the person ${what}, and nothing goes on waiting`, async () => {
      answer = given;
      stub.chosen = ['API · token'];
      assert.equal(await choose(), undefined);
      assert.equal(vault.grants()[0]?.state, state);
    });

  it('is looked for again after the personal vault was unlocked', async () => {
    isLocked = true;
    stub.chosen = ['Unlock the personal vault', 'API · token'];
    assert.deepEqual(await choose(), { item: 'api', field: 'token' });
    assert.equal(stub.lists.length, 2);
  });

  it('says where there is none', async () => {
    await vault.remove('api');
    assert.equal(await choose(), undefined);
    assert.match(notices[0]?.text ?? '', /No open vault has a value that may be sent to https:\/\/api/);
  });
});
