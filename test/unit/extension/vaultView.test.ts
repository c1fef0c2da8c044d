import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Secret } from '../../../extension/src/vault/core/secret.ts';
import type { Vault } from '../../../extension/src/vault/core/vaultContract.ts';
import type { VaultStatus } from '../../../extension/src/vault/life/vaultLife.ts';
import {
  badHost,
  changesOf,
  draftOf,
  fieldNameProblem,
  formOf,
  listOf,
  newForm,
  parseDay,
  withValue,
} from '../../../extension/src/vault/ui/itemForm.ts';
import { grantOfPermission } from '../../../extension/src/vault/ui/cardGrants.ts';
import { vaultNodes } from '../../../extension/src/vault/ui/vaultNodes.ts';
import { parseVaultTarget } from '../../../extension/src/vault/ui/vaultTarget.ts';
import { statusExplanation, statusWord } from '../../../extension/src/vault/ui/vaultWords.ts';
import { permissionKey } from '../../../protocol/src/permissions.ts';
import { vaultUseText } from '../../../protocol/src/vaultUse.ts';
import type { TreeNode } from '../../../extension/src/views/treeNode.ts';
import { sampleAgentsVault, sampleDraft, sampleWish } from '../../support/sampleVault.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

const absent: VaultStatus = { state: 'absent' };
const now = Date.parse('2027-01-10T12:00:00');
const dayMs = 24 * 60 * 60 * 1000;

const closed: VaultStatus[] = [
  { state: 'unknown' },
  { state: 'locked' },
  absent,
  { state: 'keyring-silent' },
  { state: 'not-kept' },
  { state: 'device-key-lost' },
  { state: 'tampered', what: 'row-swapped', item: 'db' },
  { state: 'rolled-back', counter: 3, known: 9 },
  { state: 'counter-unavailable' },
  { state: 'other-vault' },
  { state: 'unsupported', version: 7 },
  { state: 'unreadable', code: 'EACCES' },
];

function flat(nodes: readonly TreeNode[]): TreeNode[] {
  return nodes.flatMap((node) => [node, ...(Array.isArray(node.children) ? flat(node.children) : [])]);
}

describe('The Vault view', () => {
  const folder = useTemporaryFolder();
  let vault: Vault;

  beforeEach(async () => {
    vault = await sampleAgentsVault(join(folder(), 'agents'));
  });
  afterEach(() => vault.lock());

  for (const status of closed) {
    it(`[VAULTUI-03] has words and a way out for a vault that is ${status.state}`, () => {
      const nodes = vaultNodes({ agents: status, personal: absent }, now);
      const [node] = nodes;
      assert.ok(node && node.description === statusWord(status) && node.description !== '');
      const ways = Array.isArray(node.children) ? (node.children as TreeNode[]) : [];
      assert.ok(ways.length > 0 && ways.every((way) => way.command), status.state);
      if (!['unknown', 'locked'].includes(status.state)) assert.notEqual(statusExplanation(status), '');
    });
  }

  it('[VAULTUI-01] lists names, kinds, hosts and expiry, and no value', async () => {
    await vault.save(
      sampleDraft(
        'api',
        { value: 'canary-value-1' },
        { hosts: ['api.example.org'], tags: ['prod'], expiresAt: now + 3 * dayMs },
      ),
    );
    await vault.save(sampleDraft('db', { user: 'canary-value-2', password: 'canary-value-3' }));
    await vault.save(sampleDraft('old', { value: 'canary-value-4' }, { expiresAt: now - dayMs }));
    const nodes = vaultNodes({ agents: { state: 'open', vault }, personal: absent }, now);
    const all = flat(nodes);
    assert.doesNotMatch(JSON.stringify(nodes), /canary/);
    assert.equal(all.find(({ id }) => id === 'vault.agents')?.description, '3 items');
    assert.match(
      all.find(({ label }) => label === 'API')?.description ?? '',
      /token · expires 2027-01-13 · #prod/,
    );
    assert.match(all.find(({ label }) => label === 'OLD')?.description ?? '', /expired 2027-01-09/);
    assert.ok(all.some(({ label }) => label === 'may be sent to api.example.org'));
    assert.ok(all.some(({ label }) => label === 'may be sent wherever you grant it'));
    assert.deepEqual(
      all.map(({ id }) => id),
      [...new Set(all.map(({ id }) => id))],
    );
    const field = all.find(({ id }) => id.endsWith('field.password'));
    assert.deepEqual(parseVaultTarget([field]), { kind: 'agents', item: 'db', field: 'password' });
  });

  it('[VAULTUI-05] says on top what waits for an answer', async () => {
    await vault.save(sampleDraft('api', { value: 'canary-value-1' }));
    await vault.ask(sampleWish);
    const status: VaultStatus = { state: 'open', vault };
    assert.equal(vaultNodes({ agents: status, personal: absent }, now)[0]?.label, 'One request waits');
    await vault.answer(vault.grants()[0]?.id ?? '', 'accepted');
    const nodes = flat(vaultNodes({ agents: status, personal: absent }, now));
    assert.equal(nodes[0]?.id, 'vault.agents');
    assert.equal(nodes.find(({ label }) => label === 'API')?.kind, 'vault.item.granted');
  });

  it('shows what a title hides', async () => {
    const target = parseVaultTarget([{ vault: { kind: 'agents', item: 5 } }]);
    assert.deepEqual(target, {});
    assert.deepEqual(parseVaultTarget(['nonsense']), {});
    assert.deepEqual(parseVaultTarget([{ vault: { kind: 'other' } }]), {});
  });

  it('[VAULTUI-05] makes a grant of a card’s permission, and of no other', () => {
    const { item, field, use } = sampleWish;
    const key = permissionKey({ name: 'vaultItem', item, field, use: vaultUseText(use) });
    assert.deepEqual(grantOfPermission(key, 'fetch', 's'), {
      item,
      field,
      use,
      principal: 'card:fetch',
      scope: 's',
    });
    for (const other of [
      'network:api.example.org',
      'vaultItem:api:value',
      'vaultItem:api:value:nonsense',
      'xvaultItem:a:b:env:C',
    ])
      assert.equal(grantOfPermission(other, 'fetch', 's'), undefined, other);
  });
});

describe('The form of an item', () => {
  it('counts what was changed, and keeps what was not touched', async () => {
    const before = formOf({
      id: 'db',
      version: 4,
      title: 'Database',
      kind: 'database',
      fields: [
        { name: 'user', kind: 'text' },
        { name: 'password', kind: 'secret' },
      ],
      hosts: ['db.example.org'],
      tags: [],
      expiresAt: null,
      savedAt: 0,
    });
    assert.equal(changesOf(before, before), 0);
    using value = Secret.fromText('fresh');
    const after = withValue({ ...before, title: 'DB', hosts: [] }, 'password', value);
    assert.equal(changesOf(after, before), 3);
    const draft = draftOf(after);
    assert.equal(draft.baseVersion, 4);
    assert.deepEqual(
      draft.fields.map(({ name, value: given }) => [name, given !== undefined]),
      [
        ['user', false],
        ['password', true],
      ],
    );
    assert.equal(changesOf({ ...before, fields: before.fields.slice(1) }, before), 1);
  });

  it('wipes a value that is typed again, and leaves out fields without one', () => {
    const form = newForm('login', 'Mail', 'mail');
    const first = Secret.fromText('first');
    const once = withValue(form, 'password', first);
    using second = Secret.fromText('second');
    const twice = withValue(once, 'password', second);
    assert.ok(first.isWiped);
    assert.deepEqual(
      draftOf(twice).fields.map(({ name }) => name),
      ['password'],
    );
  });

  it('takes hosts, tags, names and days as they are meant, and no other', () => {
    assert.deepEqual(listOf(' a.example.org, ,b.example.org:80,a.example.org '), [
      'a.example.org',
      'b.example.org:80',
    ]);
    for (const bad of [
      'https://a.example.org',
      'A.example.org',
      'a.example.org/x',
      'a b',
      'ünï.example',
      'a.example.org.',
    ])
      assert.equal(badHost(`ok.example.org, ${bad}`), bad);
    assert.equal(badHost('a.example.org, 127.0.0.1:8080, [::1]:80'), undefined);
    const form = newForm('token', 'T', 't');
    assert.equal(fieldNameProblem('value', form), 'taken');
    assert.equal(fieldNameProblem('Value', form), 'name');
    assert.equal(fieldNameProblem('other-1', form), undefined);
    assert.equal(parseDay(''), null);
    assert.equal(new Date(parseDay('2027-02-28') ?? 0).getDate(), 28);
    for (const bad of ['2027-02-30', '27-02-01', 'tomorrow', '2027-13-01'])
      assert.equal(parseDay(bad), undefined);
  });
});
