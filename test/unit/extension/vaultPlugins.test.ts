import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { AppView } from '../../../protocol/src/apps.ts';
import { Emitter } from '../../../extension/src/emitter.ts';
import type { Notice } from '../../../extension/src/messages.ts';
import type { Services } from '../../../extension/src/services.ts';
import type { Vault } from '../../../extension/src/vault/core/vaultContract.ts';
import { endOrphans } from '../../../extension/src/vault/ui/endOrphans.ts';
import { letPluginUse, type NamedPlugin } from '../../../extension/src/vault/ui/letPluginUse.ts';
import { orphanedGrants, pluginTargets } from '../../../extension/src/vault/ui/pluginTargets.ts';
import { WishAnswers } from '../../../extension/src/vault/wishAnswers.ts';
import { hostLine, makeApp, makePlugin } from '../../support/madeApps.ts';
import { memoryState } from '../../support/memoryState.ts';
import { sampleAgentsVault, sampleDraft } from '../../support/sampleVault.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

const scope = `app:${'a'.repeat(24)}`;
const principal = 'plugin:notes/search';

describe('plugins that could use a value', () => {
  const hostsOf = (apps: readonly AppView[], itemHosts: readonly string[] = []) =>
    pluginTargets(apps, itemHosts).map(({ app, plugin, hosts }) => [`${app}/${plugin}`, ...hosts]);
  const permissions = ['api.example.org', '*.example.org', 'db.example.org:8443'].map((host) =>
    hostLine(host),
  );

  it('[VAULTUSE-23] are those that are installed, with each host that a person accepted by name', () => {
    const apps = [
      makeApp({ plugins: [makePlugin({ permissions }), makePlugin({ id: 'gone', state: 'removed' })] }),
      makeApp({ id: 'old', deletedUntil: 5 }),
      makeApp({ id: 'shut', plugins: [makePlugin({ permissions: [] })] }),
    ];
    assert.deepEqual(hostsOf(apps), [['notes/search', 'api.example.org', 'db.example.org:8443']]);
  });

  it('[VAULTUSE-23] are only for hosts that the item was saved for', () => {
    const apps = [makeApp({ plugins: [makePlugin({ permissions })] })];
    assert.deepEqual(hostsOf(apps, ['API.example.org:443']), [['notes/search', 'api.example.org']]);
    assert.deepEqual(hostsOf(apps, ['db.example.org']), []);
  });

  const grants = [
    { id: 'kept', principal, scope },
    { id: 'reinstalled', principal, scope: 'app:other' },
    { id: 'gone', principal: 'plugin:notes/other', scope },
    { id: 'card', principal: 'card:load', scope: 's' },
  ];
  const cases: readonly (readonly [string, readonly AppView[], readonly string[]])[] = [
    ['where all is there', [makeApp()], ['reinstalled', 'gone']],
    ['where the app was deleted', [makeApp({ deletedUntil: 5 })], ['kept', 'reinstalled', 'gone']],
    [
      'where the plugin was removed',
      [makeApp({ plugins: [makePlugin({ state: 'removed' })] })],
      ['kept', 'reinstalled', 'gone'],
    ],
    ['where nothing is installed', [], ['kept', 'reinstalled', 'gone']],
  ];
  for (const [what, apps, ended] of cases)
    it(`[VAULTUSE-19] no longer have a grant ${what}`, () =>
      assert.deepEqual(orphanedGrants(grants, apps, []), ended));
});

describe('Let a Plugin Use a Value', () => {
  const folder = useTemporaryFolder();
  let vault: Vault;
  let apps: AppView[];
  let reviewed: string[];
  let notices: Notice[];
  const now = Date.now();

  beforeEach(async () => {
    resetStub();
    vault = await sampleAgentsVault(join(folder(), 'agents'));
    await vault.save(sampleDraft('api', { value: 'canary-value-1' }));
    apps = [makeApp()];
    reviewed = [];
    notices = [];
  });
  afterEach(() => vault.lock());

  const run = async (named: NamedPlugin = {}): Promise<void> => {
    const item = vault.get('api');
    assert.ok(item);
    await letPluginUse({ vault, item }, named, {
      apps: async () => apps,
      review: async (grant) => void reviewed.push(grant),
      notifier: {
        show: (notice) => void notices.push(notice),
        showError: (error: unknown) => assert.fail(String(error)),
      },
    });
  };

  it('[VAULTUSE-23] puts exactly what was chosen before the person, and gives nothing itself', async () => {
    stub.chosen = ['search of Notes', 'As a bearer token'];
    await run();
    const [grant] = vault.grants();
    assert.deepEqual(reviewed, [grant?.id]);
    assert.equal(grant?.state, 'pending');
    assert.deepEqual(
      { principal: grant.principal, scope: grant.scope, field: grant.field, use: grant.use },
      {
        principal,
        scope,
        field: 'value',
        use: { kind: 'header', hosts: ['api.example.org'], name: 'authorization', prefix: 'Bearer ' },
      },
    );
  });

  const uses: readonly (readonly [string, string, string, object])[] = [
    ['In another header', 'Content-Length', 'X-Key', { kind: 'header', name: 'x-key', prefix: '' }],
    ['As the password of Basic', 'a:b', 'me', { kind: 'basic', user: 'me' }],
    ['In the address', 'a b', 'key', { kind: 'query', name: 'key' }],
  ];
  for (const [choice, wrong, right, use] of uses)
    it(`[VAULTUSE-23] asks on for “${choice}”, and takes no “${wrong}”`, async () => {
      stub.chosen = ['search of Notes', choice];
      const running = run();
      await until(() => stub.boxes.at(-1)?.isShown === true);
      const box = stub.boxes.at(-1);
      box?.enter(wrong);
      assert.notEqual(box?.validationMessage, undefined);
      box?.enter(right);
      await running;
      assert.deepEqual(vault.grants()[0]?.use, { ...use, hosts: ['api.example.org'] });
    });

  it('[VAULTUSE-23] asks for no plugin that was named, and for the hosts where there are several', async () => {
    const permissions = ['api.example.org', 'db.example.org:8443'].map((host) => hostLine(host));
    apps = [makeApp({ plugins: [makePlugin({ permissions }), makePlugin({ id: 'other' })] })];
    stub.chosen = [['db.example.org:8443'], 'As a bearer token'];
    await run({ app: 'notes', plugin: 'search' });
    const use = vault.grants()[0]?.use;
    assert.deepEqual(use && 'hosts' in use && use.hosts, ['db.example.org:8443']);
  });

  for (const [what, chosen] of [
    ['the list of plugins', [undefined]],
    ['the list of ways', ['search of Notes', undefined]],
  ] as const)
    it(`asks for nothing where a person closes ${what}`, async () => {
      stub.chosen = [...chosen];
      await run();
      assert.deepEqual([vault.grants(), reviewed], [[], []]);
    });

  it('says why there is nothing to choose', async () => {
    apps = [];
    await run();
    apps = [makeApp({ plugins: [makePlugin({ permissions: [] })] })];
    await run();
    assert.deepEqual(
      notices.map(({ text }) => text.slice(0, 30)),
      ['No app with a plugin is instal', 'No installed plugin may reach '],
    );
  });

  it('[VAULTUSE-19] ends a grant as soon as the app is gone', async () => {
    for (const each of [principal, 'card:load'] as const) {
      const { id } = await vault.ask({
        item: 'api',
        field: 'value',
        principal: each,
        scope: each === principal ? scope : 's',
        use: { kind: 'header', hosts: ['api.example.org'], name: 'x', prefix: '' },
        limits: { count: null, until: null },
        reason: '',
      });
      await vault.answer(id, 'accepted');
    }
    const fail = (error: unknown): never => assert.fail(String(error));
    const changed = new Emitter<undefined>(fail);
    const status = { state: 'open', vault };
    const answers = new WishAnswers(memoryState(), fail);
    const watch = endOrphans({
      engine: {
        on: (_name: string, listener: () => void) => changed.on(listener),
        onDidChangeState: () => ({ dispose: () => undefined }),
        call: async () => apps,
      },
      log: { error: fail },
      vault: { vaults: { agents: { status }, personal: { status: { state: 'locked' } } }, answers },
    } as unknown as Services);
    const states = () => vault.grants().map(({ principal: who, state }) => [who, state]);
    apps = [makeApp({ deletedUntil: now })];
    changed.fire(undefined);
    await until(() => states().some(([, state]) => state === 'revoked'));
    assert.deepEqual(states().sort(), [
      ['card:load', 'accepted'],
      [principal, 'revoked'],
    ]);
    watch.dispose();
  });
});
