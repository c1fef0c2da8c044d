import assert from 'node:assert/strict';
import fc from 'fast-check';
import { cardManifest } from '../../../protocol/src/manifests.ts';
import { permissionKey, permissionSentence, permissionsOfCard } from '../../../protocol/src/permissions.ts';
import type { VaultUse } from '../../../protocol/src/vault.ts';
import { parseVaultUse, vaultUseText, vaultUseWords } from '../../../protocol/src/vaultUse.ts';

const host = fc.constantFrom('a.example.org', 'b.example.org:8443', '127.0.0.1', '[::1]:9000');
const hosts = fc.uniqueArray(host, { minLength: 1 }).map((list) => list.sort());
const visible = fc.stringMatching(/^[ -~]{0,12}$/);
const use: fc.Arbitrary<VaultUse> = fc.oneof(
  fc.record({
    kind: fc.constant('header' as const),
    hosts,
    name: fc.stringMatching(/^[a-z-]{1,9}$/),
    prefix: visible,
  }),
  fc.record({ kind: fc.constant('basic' as const), hosts, user: fc.stringMatching(/^[!-9;-~]{0,9}$/) }),
  fc.record({ kind: fc.constant('query' as const), hosts, name: fc.stringMatching(/^[a-z~.]{1,9}$/) }),
  fc.record({
    kind: fc.constantFrom('env' as const, 'fd' as const),
    name: fc.stringMatching(/^[A-Z]{1,9}$/),
  }),
);

const card = (vault: unknown) =>
  cardManifest.safeParse({
    version: 1,
    title: 'T',
    runtime: 'shell',
    entry: 'main.sh',
    permissions: { network: ['a.example.org', 'b.example.org'], vault: [vault] },
  });

describe('the use of a vault value', () => {
  it('has one text for each use, and the text one use', () => {
    fc.assert(fc.property(use, (each) => assert.deepEqual(parseVaultUse(vaultUseText(each)), { ...each })));
    fc.assert(fc.property(fc.string(), (text) => void parseVaultUse(text)));
    const one: VaultUse = {
      kind: 'header',
      hosts: ['B.example.org', 'a.example.org'],
      name: 'X-Key',
      prefix: '',
    };
    assert.equal(vaultUseText(one), 'header:x-key:@a.example.org,b.example.org');
  });

  it('[VAULTUSE-08] is shown in other words where it is another use', () => {
    const header = fc.record({
      kind: fc.constant('header' as const),
      hosts,
      name: fc.constantFrom('authorization', 'x-key', 'x'),
      prefix: fc.constantFrom('', 'Bearer ', 'bearer ', 'token of requests to a.example.org, put in ', 'x'),
    });
    const either = fc.oneof(use, header);
    fc.assert(
      fc.property(either, either, (a, b) =>
        assert.equal(vaultUseText(a) === vaultUseText(b), vaultUseWords(a) === vaultUseWords(b)),
      ),
      { numRuns: 2000 },
    );
    assert.equal(
      vaultUseWords({ kind: 'header', hosts: ['a.example.org'], name: 'cookie', prefix: 'session=' }),
      'in the header cookie after “session=” of requests to a.example.org, put in outside the sandbox',
    );
  });

  it('[VAULTUSE-08] has its hosts in the permission that a person reviews', () => {
    const asked = (list: string[]) => {
      const parsed = card({
        item: 'api',
        field: 'token',
        use: { type: 'header', hosts: list, name: 'authorization', prefix: 'Bearer ' },
      });
      assert.ok(parsed.success);
      return permissionsOfCard(parsed.data).filter(({ name }) => name === 'vaultItem');
    };
    const [one] = asked(['a.example.org']);
    const [two] = asked(['a.example.org', 'b.example.org']);
    assert.ok(one && two);
    assert.notEqual(permissionKey(one), permissionKey(two));
    assert.equal(
      permissionSentence(two),
      'Use token of the vault item api in the header authorization of requests to a.example.org, b.example.org, put in outside the sandbox',
    );
  });

  const bad: readonly unknown[] = [
    { item: 'api', field: 'token' },
    { item: 'api', field: 'token', env: 'A', use: { type: 'env', name: 'A' } },
    { item: 'api', field: 'token', use: { type: 'header', hosts: [], name: 'a' } },
    { item: 'api', field: 'token', use: { type: 'header', hosts: ['*.example.org'], name: 'a' } },
    {
      item: 'api',
      field: 'token',
      use: { type: 'header', hosts: ['a.example.org'], name: 'Transfer-Encoding' },
    },
    { item: 'api', field: 'token', use: { type: 'header', hosts: ['a.example.org'], name: 'a b' } },
    {
      item: 'api',
      field: 'token',
      use: { type: 'header', hosts: ['a.example.org'], name: 'a', prefix: 'x\r\n' },
    },
    { item: 'api', field: 'token', use: { type: 'basic', hosts: ['a.example.org'], user: 'a:b' } },
    { item: 'api', field: 'token', use: { type: 'sshSignature' } },
    { item: '../api', field: 'token', env: 'A' },
  ];
  for (const each of bad) {
    it(`is not ${JSON.stringify(each)}`, () => {
      assert.equal(card(each).success, false);
    });
  }
});
