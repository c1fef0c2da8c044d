import assert from 'node:assert/strict';
import { closedAccess, toAccess } from '../../../../language-server/src/permissions/access.ts';
import type { Permission } from '../../../../protocol/src/permissions.ts';
import type { JobAccess } from '../../../../protocol/src/runner.ts';

const give = (asked: readonly Permission[], runtime: 'python' | 'js' = 'python') =>
  toAccess(asked, runtime, '/project', '/home/p');
const folder = (path: string, write = false): Permission => ({
  name: 'hostFolder',
  path,
  mount: 'data',
  write,
});

const vaultItem = (use: string): Permission => ({ name: 'vaultItem', item: 'db', field: 'password', use });

describe('access', () => {
  /** What is opened for what was accepted; everything else stays closed. */
  const table: readonly (readonly [string, readonly Permission[], Partial<JobAccess>])[] = [
    ['nothing', [], {}],
    [
      'hosts',
      [
        { name: 'network', host: 'a.test' },
        { name: 'network', host: 'b.test:8080' },
      ],
      { network: { kind: 'hosts', hosts: ['a.test', 'b.test:8080'] } },
    ],
    [
      'the whole network',
      [
        { name: 'network', host: 'a.test' },
        { name: 'network', host: '*' },
      ],
      { network: { kind: 'all' } },
    ],
    ['the project', [{ name: 'unsandboxed' }], { projectRoot: '/project' }],
    [
      'a folder',
      [folder('/data/../data/x')],
      { hostFolders: [{ path: '/data/x', name: 'data', write: false }] },
    ],
    [
      'a folder that is written with a slash at its end',
      [folder('/data/')],
      { hostFolders: [{ path: '/data', name: 'data', write: false }] },
    ],
    [
      'a folder in a VM, which is on this computer',
      [folder('~/x/'), { name: 'execution', service: 'vm' }],
      { hostFolders: [{ path: '/home/p/x', name: 'data', write: false }] },
    ],
    [
      'a folder of one’s own',
      [folder('~/x', true)],
      { hostFolders: [{ path: '/home/p/x', name: 'data', write: true }] },
    ],
    [
      'all that is one’s own',
      [folder('~')],
      { hostFolders: [{ path: '/home/p', name: 'data', write: false }] },
    ],
  ];
  for (const [what, asked, opened] of table) {
    it(`[PRM-10] opens ${what} and nothing else`, () => {
      assert.deepEqual(give(asked), { access: { ...closedAccess, ...opened }, vault: [] });
    });
  }

  const refused: readonly (readonly [string, readonly Permission[]])[] = [
    ['a relative folder', [folder('data')]],
    ['another user’s home', [folder('~root/x')]],
    ['a value for a host that is not listed', [vaultItem('header:x:@b.test')]],
    [
      'a value for a host with the whole network',
      [{ name: 'network', host: '*' }, vaultItem('header:x:@a.test')],
    ],
    ['a value in a way that is none', [vaultItem('telepathy:X')]],
    ['another machine', [{ name: 'execution', service: 'moon:x' }]],
    ['a folder on another machine', [folder('/data'), { name: 'execution', service: 'ssh:lab' }]],
    ['the project in a VM', [{ name: 'unsandboxed' }, { name: 'execution', service: 'vm' }]],
    ['an environment', [{ name: 'environmentSource', source: 'x' }]],
    ['a model', [{ name: 'models' }]],
  ];
  for (const [what, asked] of refused) {
    it(`[PRM-10] refuses ${what}, rather than running with less`, () => {
      const given = give([{ name: 'network', host: 'a.test' }, ...asked]);
      assert.ok('refused' in given);
      assert.equal(given.refused.kind, 'bad-card');
      assert.ok(given.refused.remedy);
    });
  }

  it('asks the vault for exactly what was accepted', () => {
    const asked: Permission[] = [
      { name: 'network', host: 'a.test' },
      vaultItem('basic:u@a.test'),
      vaultItem('fd:X'),
    ];
    const given = give(asked);
    assert.ok('vault' in given);
    assert.deepEqual(given.vault, [
      { item: 'db', field: 'password', use: { kind: 'basic', hosts: ['a.test'], user: 'u' } },
      { item: 'db', field: 'password', use: { kind: 'fd', name: 'X' } },
    ]);
  });

  it('[PRM-10] opens nothing at all for a js card', () => {
    assert.deepEqual(give([], 'js'), { access: closedAccess, vault: [] });
    assert.ok('refused' in give([vaultItem('env:X')], 'js'));
    assert.ok('refused' in give([{ name: 'network', host: 'a.test' }], 'js'));
  });
});
