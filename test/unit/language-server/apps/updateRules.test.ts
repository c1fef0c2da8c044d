import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compareVersions } from '../../../../language-server/src/apps/appVersion.ts';
import {
  allowed,
  nothing,
  wideningOf,
  type PermissionSet,
} from '../../../../language-server/src/apps/permissionSet.ts';
import { decideUpdate, type VersionFacts } from '../../../../language-server/src/apps/updateRules.ts';
import { widening, type Permission } from '../../../../protocol/src/permissions.ts';

const text: Permission = { name: 'generate', kind: 'text' };
const image: Permission = { name: 'generate', kind: 'image' };
const host = (name: string): Permission => ({ name: 'network', host: name });
const storage = (megabytes: number): Permission => ({ name: 'storage', megabytes });
const set = (parts: Partial<PermissionSet> = {}): PermissionSet => ({ ...nothing, ...parts });

const installed: VersionFacts = {
  source: 'here',
  appVersion: '1.2.0',
  treeDigest: 'a',
  permissions: set({
    app: [text, storage(8)],
    plugins: { search: [host('*.example.org')] },
    packages: ['x@1.0.0 sha'],
  }),
};
const next = { ...installed, appVersion: '1.3.0', treeDigest: 'b', isRestore: false };
const asks = (parts: Partial<PermissionSet>) => ({
  ...next,
  permissions: { ...installed.permissions, ...parts },
});

describe('rules of updates', () => {
  const table: readonly (readonly [
    string,
    VersionFacts | null,
    VersionFacts & { isRestore: boolean },
    string,
  ])[] = [
    ['a first install', null, next, 'install'],
    ['a first install from a backup', null, { ...next, isRestore: true }, 'restore install'],
    ['the same bytes', installed, { ...installed, isRestore: false }, 'none'],
    ['the same permissions', installed, next, 'apply'],
    ['one permission fewer', installed, asks({ app: [storage(8)] }), 'apply'],
    ['less storage', installed, asks({ app: [text, storage(4)] }), 'apply'],
    ['a narrower host', installed, asks({ plugins: { search: [host('api.example.org')] } }), 'apply'],
    ['a plugin fewer', installed, asks({ plugins: {} }), 'apply'],
    ['one permission more', installed, asks({ app: [text, image, storage(8)] }), 'wider'],
    ['more storage', installed, asks({ app: [text, storage(9)] }), 'wider'],
    [
      'one host more',
      installed,
      asks({ plugins: { search: [host('*.example.org'), host('example.net')] } }),
      'wider',
    ],
    ['a wider host', installed, asks({ plugins: { search: [host('*.org')] } }), 'wider'],
    ['another port', installed, asks({ plugins: { search: [host('a.example.org:8443')] } }), 'wider'],
    [
      'a plugin more, which asks for nothing',
      installed,
      asks({ plugins: { ...installed.permissions.plugins, b: [] } }),
      'wider',
    ],
    [
      'a plugin called like a method',
      installed,
      asks({ plugins: { ...installed.permissions.plugins, constructor: [] } }),
      'wider',
    ],
    ['a package more', installed, asks({ packages: ['x@1.0.0 sha', 'y@1.0.0 sha'] }), 'packages'],
    ['a package changed', installed, asks({ packages: ['x@1.0.0 other'] }), 'packages'],
    ['a package fewer', installed, asks({ packages: [] }), 'packages'],
    ['another source', installed, { ...next, source: 'there' }, 'source-changed'],
    [
      'another source, same bytes',
      installed,
      { ...installed, source: 'there', isRestore: false },
      'source-changed',
    ],
    ['an older version', installed, { ...next, appVersion: '1.1.9' }, 'downgrade'],
    ['a pre-release of the same', installed, { ...next, appVersion: '1.2.0-rc.1' }, 'downgrade'],
    ['the same version, other bytes', installed, { ...next, appVersion: '1.2.0' }, 'same-version'],
    [
      'all of it',
      installed,
      { ...asks({ app: [image], packages: [] }), source: 'there', appVersion: '1.0.0', isRestore: true },
      'restore source-changed downgrade wider packages',
    ],
  ];
  for (const [name, before, staged, expected] of table)
    it(`[APPS-05] ${name}: ${expected}`, () => {
      const decision = decideUpdate(before, staged);
      assert.equal(decision.kind === 'ask' ? decision.reasons.join(' ') : decision.kind, expected);
    });

  it('[APPS-05] what was once narrowed is asked for again', () => {
    const narrowed = {
      ...installed,
      permissions: set({
        app: [storage(8)],
        plugins: installed.permissions.plugins,
        packages: installed.permissions.packages,
      }),
    };
    assert.deepEqual(decideUpdate(narrowed, next), { kind: 'ask', reasons: ['wider'] });
  });

  const anyPermission = fc.oneof(
    fc.constantFrom<Permission>(text, image, { name: 'models' }, { name: 'results' }),
    fc.constantFrom('a.org', '*.a.org', 'b.a.org', 'a.org:8443').map(host),
    fc.nat(9).map(storage),
  );
  const anySet = fc.record({
    app: fc.array(anyPermission, { maxLength: 4 }),
    plugins: fc.dictionary(
      fc.constantFrom('a', 'b', 'constructor', '__proto__'),
      fc.array(anyPermission, { maxLength: 3 }),
    ),
    packages: fc.subarray(['x@1 s', 'x@2 s', 'y@1 s']),
  });

  it('[APPS-05] an update that is applied by itself never has a right that was not accepted', () => {
    fc.assert(
      fc.property(anySet, anySet, (accepted, asked) => {
        const decision = decideUpdate(
          { ...installed, permissions: accepted },
          { ...next, permissions: asked },
        );
        if (decision.kind !== 'apply') return;
        assert.deepEqual(widening(accepted.app, asked.app), []);
        for (const [id, permissions] of Object.entries(asked.plugins)) {
          assert.ok(Object.hasOwn(accepted.plugins, id));
          assert.deepEqual(widening(accepted.plugins[id] ?? [], permissions), []);
        }
      }),
    );
  });

  it('[APPS-06] rights at run time are within both what was accepted and what is asked', () => {
    fc.assert(
      fc.property(anySet, anySet, (accepted, asked) => {
        const rights = allowed(accepted, asked);
        assert.deepEqual(widening(accepted.app, rights.app), []);
        assert.deepEqual(widening(asked.app, rights.app), []);
        for (const [id, permissions] of Object.entries(rights.plugins)) {
          assert.deepEqual(widening(accepted.plugins[id] ?? [], permissions), []);
          assert.deepEqual(widening(asked.plugins[id] ?? [], permissions), []);
        }
        assert.deepEqual(wideningOf(accepted, { ...rights, packages: accepted.packages }).plugins, []);
      }),
    );
  });

  it('orders versions as semver does', () => {
    const order = [
      '0.9.9',
      '1.0.0-1',
      '1.0.0-2',
      '1.0.0-10',
      '1.0.0-a',
      '1.0.0-a.1',
      '1.0.0-b',
      '1.0.0',
      '1.0.1',
      '1.2.0',
      '1.10.0',
      '2.0.0',
    ];
    for (const [at, a] of order.entries())
      for (const [other, b] of order.entries())
        assert.equal(Math.sign(compareVersions(a, b)), Math.sign(at - other), `${a} ${b}`);
  });
});
