import assert from 'node:assert/strict';
import { join } from 'node:path';
import { appNodes } from '../../../extension/src/apps/appNodes.ts';
import { Emitter } from '../../../extension/src/emitter.ts';
import type { Services } from '../../../extension/src/services.ts';
import type { Vault } from '../../../extension/src/vault/core/vaultContract.ts';
import { WishAnswers } from '../../../extension/src/vault/wishAnswers.ts';
import { isWishScope, wishScope } from '../../../extension/src/vault/wishScope.ts';
import { answerWish } from '../../../extension/src/vault/ui/answerWish.ts';
import { endOrphans } from '../../../extension/src/vault/ui/endOrphans.ts';
import { wishesOf, type PluginWish } from '../../../extension/src/vault/ui/pluginWishes.ts';
import { registerWishes, unansweredOf } from '../../../extension/src/vault/ui/registerWishes.ts';
import type { VaultDoors } from '../../../extension/src/vault/ui/vaultDoors.ts';
import { wishState } from '../../../extension/src/vault/ui/wishState.ts';
import type { AppView, PermissionLine } from '../../../protocol/src/apps.ts';
import { permissionKey, permissionSentence, type Permission } from '../../../protocol/src/permissions.ts';
import type { TreeNode } from '../../../extension/src/views/treeNode.ts';
import { hostLine, makeApp, makePlugin } from '../../support/madeApps.ts';
import { memoryState } from '../../support/memoryState.ts';
import { sampleAgentsVault, sampleDraft } from '../../support/sampleVault.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

function wishLine(item = 'example-notes', hosts = 'api.example.org'): PermissionLine {
  const use = `header:authorization:Bearer @${hosts}`;
  const permission: Permission = { name: 'vaultWish', item, field: 'token', use };
  const sentence = permissionSentence(permission);
  return { key: permissionKey(permission), permission, sentence, isNew: false, isLocal: false };
}

function wishingApp(lines: readonly PermissionLine[] = [wishLine()], over: Partial<AppView> = {}): AppView {
  return makeApp({
    plugins: [makePlugin({ permissions: [hostLine('api.example.org'), ...lines] })],
    ...over,
  });
}

const fail = (error: unknown): never => assert.fail(String(error));
const principal = 'plugin:notes/search';

describe('the wishes of plugins', () => {
  it('[VAULTUSE-25] are those of installed plugins, each bound to installation and key', () => {
    const [wish, ...others] = wishesOf([wishingApp()]);
    assert.ok(wish);
    assert.deepEqual(others, []);
    assert.deepEqual(
      { principal: wish.principal, item: wish.item, field: wish.field, use: wish.use },
      {
        principal,
        item: 'example-notes',
        field: 'token',
        use: { kind: 'header', hosts: ['api.example.org'], name: 'authorization', prefix: 'Bearer ' },
      },
    );
    assert.ok(isWishScope(wish.scope));
    assert.equal(wish.scope, wishScope(`app:${'a'.repeat(24)}`, wish.key));
    const [moved] = wishesOf([wishingApp(undefined, { installation: 'b'.repeat(24) })]);
    const [wider] = wishesOf([wishingApp([wishLine('example-notes', 'api.example.org,evil.example')])]);
    assert.equal(new Set([wish.scope, moved?.scope, wider?.scope]).size, 3);
  });

  it('[VAULTUSE-25] are none of apps and plugins that are gone, and none that can’t be read', () => {
    const damaged: PermissionLine = {
      ...wishLine(),
      permission: { name: 'vaultWish', item: 'a', field: 'b', use: 'env:TOKEN' },
    };
    const gone = makePlugin({ state: 'removed', permissions: [wishLine()] });
    assert.deepEqual(
      wishesOf([
        wishingApp(undefined, { deletedUntil: 5 }),
        makeApp({ plugins: [gone] }),
        wishingApp([damaged]),
      ]),
      [],
    );
  });
});

describe('WishAnswers', () => {
  const owner = { principal, scope: 'app:i:s' };
  const other = { principal: 'plugin:notes/other', scope: 'app:i:s' };

  it('[VAULTUSE-25] keeps what was answered, for each plugin and wish, over a restart', async () => {
    const state = memoryState();
    const answers = new WishAnswers(state, fail);
    let changes = 0;
    answers.onDidChange(() => changes++);
    assert.ok(answers.isEmpty);
    await answers.put(owner, 'given');
    await answers.put(other, 'none');
    const again = new WishAnswers(state, fail);
    assert.deepEqual(
      [again.of(owner), again.of(other), again.of({ ...owner, scope: 'x' })],
      ['given', 'none', undefined],
    );
    await answers.keepOnly([other]);
    assert.deepEqual([again.of(owner), again.of(other), changes], [undefined, 'none', 3]);
  });

  for (const damaged of [null, 7, [], { 'a b': 'yes' }, { 'a b': { given: true } }])
    it(`takes ${JSON.stringify(damaged)} in its place for no answers`, () => {
      const answers = new WishAnswers(memoryState({ 'sallyport.pluginWishes': damaged }), fail);
      assert.ok(answers.isEmpty);
    });

  it('has no answer for a name that every object has', () => {
    const answers = new WishAnswers(memoryState(), fail);
    for (const scope of ['', 'constructor', '__proto__'])
      assert.equal(answers.of({ principal: '', scope }), undefined);
  });
});

describe('the answer to a wish', () => {
  const folder = useTemporaryFolder();
  let vault: Vault;
  let wish: PluginWish;
  let answer: 'accepted' | 'declined' | undefined;
  let asked: string[];
  let isLocked: boolean;
  let added: number;
  let now: number;

  beforeEach(async () => {
    resetStub();
    vault = await sampleAgentsVault(join(folder(), 'agents'));
    await vault.save(sampleDraft('api', { token: 'canary-value-1' }));
    await vault.save(sampleDraft('elsewhere', { token: 'canary-value-2' }, { hosts: ['other.example'] }));
    await vault.save(sampleDraft('example-notes', { token: 'canary-value-3', user: 'me-myself' }));
    await vault.save(sampleDraft('zzz', { token: 'canary-value-4' }, { hosts: ['api.example.org:443'] }));
    await vault.generateKeyPair({ id: 'pair', title: 'Pair', hosts: [], tags: [], expiresAt: null });
    const [found] = wishesOf([wishingApp()]);
    assert.ok(found);
    wish = found;
    answer = 'accepted';
    asked = [];
    isLocked = false;
    added = 0;
    now = Date.now();
  });
  afterEach(() => vault.lock());

  const run = (of: PluginWish = wish) =>
    answerWish(of, {
      openVaults: async () => [vault],
      isPersonalLocked: () => isLocked,
      unlock: async () => void (isLocked = false),
      add: async () => {
        added++;
      },
      review: async (grant) => {
        asked.push(grant);
        if (answer) await vault.answer(grant, answer);
      },
      now: () => now,
    });
  const labels = (at = 0) => stub.lists[at]?.map(({ label }) => label);
  const states = () => vault.grants().map(({ item, state }) => `${item} ${state}`);

  it('[VAULTUSE-25] shows what is wished for, and only values that may go to the host, the best fitting first', async () => {
    assert.equal(await run(), undefined);
    assert.deepEqual(labels(), [
      'What it would like',
      'It calls it “token” of “example-notes”',
      'in the header authorization of requests to api.example.org, put in outside the sandbox',
      'Your values',
      'ZZZ · token',
      'EXAMPLE-NOTES · token',
      'API · token',
      'EXAMPLE-NOTES · user',
      'Your answer',
      'Add a value to the vault…',
      'No value: it asks without one',
      'Decide later',
    ]);
    assert.deepEqual([vault.grants(), asked], [[], []]);
  });

  it('[VAULTUSE-25] puts exactly the chosen value before the person, bound to this wish', async () => {
    stub.chosen = ['API · token'];
    assert.equal(await run(), 'given');
    const [grant] = vault.grants();
    assert.ok(grant);
    assert.deepEqual(asked, [grant.id]);
    const { item, field, scope, use, reason } = grant;
    assert.deepEqual(
      { item, field, principal: grant.principal, scope, use, reason },
      { item: 'api', field: 'token', principal, scope: wish.scope, use: wish.use, reason: '' },
    );
  });

  for (const [what, given, result, left] of [
    ['says no', 'declined', 'none', 'declined'],
    ['turns away from the question', undefined, undefined, 'revoked'],
  ] as const)
    it(`[VAULTUSE-25] is none where the person ${what}, and nothing goes on waiting`, async () => {
      answer = given;
      stub.chosen = ['API · token'];
      assert.equal(await run(), result);
      assert.deepEqual(states(), [`api ${left}`]);
    });

  it('[VAULTUSE-25] takes the place of the one before, which stays where the next is not allowed', async () => {
    stub.chosen = ['API · token'];
    await run();
    answer = 'declined';
    stub.chosen = ['ZZZ · token'];
    assert.equal(await run(), undefined);
    assert.ok(labels(1)?.includes('Now: API · token'));
    assert.deepEqual(states().sort(), ['api accepted', 'zzz declined']);
    answer = 'accepted';
    stub.chosen = ['ZZZ · token'];
    assert.equal(await run(), 'given');
    assert.deepEqual(states().sort(), ['api revoked', 'zzz accepted', 'zzz declined']);
  });

  it('[VAULTUSE-27] ends what was given where the person wants none, and nobody else’s', async () => {
    stub.chosen = ['API · token'];
    await run();
    const { id } = await vault.ask({
      ...(vault.grants()[0] ?? assert.fail()),
      scope: `app:${'a'.repeat(24)}`,
    });
    await vault.answer(id, 'accepted');
    stub.chosen = ['No value'];
    assert.equal(await run(), 'none');
    assert.deepEqual(states().sort(), ['api accepted', 'api revoked']);
    assert.equal(vault.grants().find((grant) => grant.id === id)?.state, 'accepted');
  });

  it('goes on after the personal vault was unlocked, a value added, or a line pressed that only tells', async () => {
    isLocked = true;
    stub.chosen = ['Unlock the personal vault', 'Add a value', 'It calls it', 'API · token'];
    assert.equal(await run(), 'given');
    assert.deepEqual([stub.lists.length, added, isLocked], [4, 1, false]);
  });

  it('[VAULTUSE-25] does not offer a value that was not saved for one of several hosts', async () => {
    const [several] = wishesOf([wishingApp([wishLine('zzz', 'api.example.org,evil.example')])]);
    assert.ok(several);
    await run(several);
    assert.ok(!labels()?.some((label) => label.startsWith('ZZZ')));
    assert.ok(labels()?.includes('API · token'));
  });

  it('[VAULTUSE-25] has a state: waiting, given, ended, none', async () => {
    const answers = new WishAnswers(memoryState(), fail);
    const state = (isComplete = true, open: readonly Vault[] = [vault]) =>
      wishState(wish, answers, { open, isComplete }, now);
    assert.equal(state(), 'waiting');
    stub.chosen = ['API · token'];
    await run();
    assert.equal(state(), 'waiting');
    await answers.put(wish, 'given');
    assert.equal(state(), 'given');
    assert.equal(state(false, []), 'given');
    await vault.revoke(vault.grants()[0]?.id ?? '');
    assert.equal(state(), 'ended');
    await answers.put(wish, 'none');
    assert.equal(state(), 'none');
  });
});

describe('Choose Values That Plugins Wish For', () => {
  const folder = useTemporaryFolder();
  let vault: Vault;
  let apps: AppView[];
  let answers: WishAnswers;
  let shown: string[];
  let run: (...args: unknown[]) => Promise<unknown>;
  let services: Services;
  let changed: Emitter<undefined>;

  beforeEach(async () => {
    resetStub();
    vault = await sampleAgentsVault(join(folder(), 'agents'));
    await vault.save(sampleDraft('api', { token: 'canary-value-1' }));
    apps = [wishingApp([wishLine('first'), wishLine('second')])];
    answers = new WishAnswers(memoryState(), fail);
    shown = [];
    changed = new Emitter<undefined>(fail);
    const status = { state: 'open', vault };
    services = {
      commands: {
        register: (_id: string, handler: (...args: unknown[]) => Promise<unknown>) => {
          run = handler;
          return { dispose: () => undefined };
        },
        run: async (id: string, grant: string) => {
          if (id === 'sallyport.reviewVaultRequests') await vault.answer(grant, 'accepted');
        },
      },
      engine: {
        call: async () => apps,
        on: (_name: string, listener: () => void) => changed.on(listener),
        onDidChangeState: () => ({ dispose: () => undefined }),
      },
      log: { error: fail },
      notifier: { show: ({ text }: { text: string }) => void shown.push(text), showError: fail },
      vault: {
        answers,
        vaults: {
          open: async () => [vault],
          agents: { status },
          personal: { status: { state: 'absent' }, look: () => undefined },
        },
      },
    } as unknown as Services;
    registerWishes(services, { open: async () => undefined } as unknown as VaultDoors);
  });
  afterEach(() => vault.lock());

  it('[VAULTUSE-25] asks for each wish that nobody answered, once', async () => {
    assert.equal(unansweredOf(apps[0] ?? assert.fail(), services.vault).length, 2);
    stub.chosen = ['API · token', 'No value'];
    await run({ app: 'notes' });
    assert.deepEqual(
      wishesOf(apps).map((wish) => answers.of(wish)),
      ['given', 'none'],
    );
    assert.deepEqual(unansweredOf(apps[0] ?? assert.fail(), services.vault), []);
    assert.deepEqual(shown, ['search of Notes asks without a value.']);
    assert.equal(vault.grants().filter(({ state }) => state === 'accepted').length, 1);
  });

  it('[VAULTUSE-25] stops where the person decides later, and says what holds until then', async () => {
    stub.chosen = ['Decide later', 'API · token'];
    await run({ app: 'notes' });
    assert.equal(stub.lists.length, 1);
    assert.deepEqual(shown, ['Notes asks without a value until you choose one.']);
    assert.ok(answers.isEmpty);
  });

  it('changes the answer to the wish that is named, or chosen from a list with the state of each', async () => {
    const [first, second] = wishesOf(apps);
    assert.ok(first && second);
    await answers.put(first, 'none');
    await answers.put(second, 'none');
    stub.chosen = ['API · token'];
    await run({ app: 'notes', plugin: 'search', wish: second.key });
    assert.deepEqual([answers.of(first), answers.of(second)], ['none', 'given']);
    await run();
    assert.deepEqual(
      stub.lists.at(-1)?.map(({ description }) => description),
      ['no value', 'a value is given'],
    );
  });

  it('says where no plugin wishes for anything', async () => {
    apps = [makeApp()];
    await run();
    assert.deepEqual(shown, ['No installed plugin wishes for a value.']);
  });

  it('[VAULTUSE-26] ends what was given, and forgets the answer, when a wish is gone', async () => {
    stub.chosen = ['API · token', 'API · token'];
    await run({ app: 'notes' });
    const watch = endOrphans(services);
    const [first, second] = wishesOf(apps);
    apps = [wishingApp([wishLine('first')])];
    changed.fire(undefined);
    const states = () => vault.grants().map(({ scope, state }) => [scope, state]);
    await until(() => states().some(([, state]) => state === 'revoked'));
    assert.deepEqual(
      states().sort(),
      [
        [first?.scope, 'accepted'],
        [second?.scope, 'revoked'],
      ].sort(),
    );
    assert.deepEqual(
      [answers.of(first ?? assert.fail()), answers.of(second ?? assert.fail())],
      ['given', undefined],
    );
    watch.dispose();
  });

  it('[VAULTUSE-27] takes away, as soon as it can, a grant of a wish for which a person wants none', async () => {
    stub.chosen = ['API · token', 'API · token'];
    await run({ app: 'notes' });
    const [first] = wishesOf(apps);
    assert.ok(first);
    await answers.put(first, 'none');
    const watch = endOrphans(services);
    changed.fire(undefined);
    await until(() => vault.grants().some(({ state }) => state === 'revoked'));
    assert.deepEqual(
      vault
        .grants()
        .filter(({ state }) => state === 'revoked')
        .map(({ scope }) => scope),
      [first.scope],
    );
    watch.dispose();
  });

  it('[VAULTUSE-25] stands in the Apps view with its state, and leads to the answer', () => {
    const wishes = (nodes: readonly TreeNode[]): TreeNode[] =>
      nodes.flatMap((node) => [
        ...(node.kind === 'plugin.wish' ? [node] : []),
        ...wishes(typeof node.children === 'function' ? [] : (node.children ?? [])),
      ]);
    const [first, second, ...others] = wishes(
      appNodes(apps, (_app, _plugin, key) => (key.includes('first') ? 'given' : 'waiting')),
    );
    assert.deepEqual(
      [first?.description, second?.description, others],
      ['a value is given', 'waits for your answer', []],
    );
    assert.deepEqual(
      [second?.command?.id, second?.app, second?.plugin, second?.wish],
      ['sallyport.choosePluginValues', 'notes', 'search', wishesOf(apps)[1]?.key],
    );
  });
});
