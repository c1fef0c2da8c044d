import assert from 'node:assert/strict';
import { join } from 'node:path';
import { wishesOf, type PluginWish } from '../../../extension/src/vault/ui/pluginWishes.ts';
import { PluginCalls } from '../../../extension/src/vault/pluginCalls.ts';
import { orphanedGrants } from '../../../extension/src/vault/ui/pluginTargets.ts';
import { createFindPlugin } from '../../../language-server/src/apps/installedPlugins.ts';
import { hostsOf, wishesOf as keysOf } from '../../../language-server/src/plugins/rights.ts';
import type { AppView } from '../../../protocol/src/apps.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { pluginFiles, writeApp } from '../../support/appFolder.ts';
import { useApps } from '../../support/appsHarness.ts';
import { noLimits, PluginValues, pluginToken as token } from '../../support/pluginValues.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

/** Real installs and updates, the engine's and the extension's part, and a TLS server: what a wish can be made to do. */
const url = 'https://api.example.org/';
const bearer = `Bearer ${token}`;
const network = ['api.example.org', 'api.example.org:8443', 'evil.example'];
const use = { type: 'header', hosts: ['api.example.org'], name: 'authorization', prefix: 'Bearer ' };
const wish = { item: 'api', field: 'token', use };

describe('a plugin that wishes for a value', () => {
  const folder = useTemporaryFolder();
  const apps = useApps(folder);
  let values: PluginValues;
  beforeEach(async () => (values = await PluginValues.open('api.example.org', ['evil.example'])));
  afterEach(() => values.close());

  const write = (appVersion: string, vault: readonly object[], other: readonly object[] = []) => ({
    kind: 'folder' as const,
    path: writeApp(
      join(folder(), 'app'),
      { appVersion, plugins: ['search', 'other'] },
      { ...pluginFiles('search', { network, vault }), ...pluginFiles('other', { network, vault: other }) },
    ),
  });
  /** A request of the plugin as it is installed now. */
  const ask = async (address = url, plugin = 'search'): Promise<string> => {
    const found = await createFindPlugin(apps().apps.library)('notes', plugin);
    assert.ok(found);
    return values.outcome(
      address,
      {},
      {
        principal: `plugin:notes/${plugin}`,
        scope: `app:${found.installation}`,
        hosts: hostsOf(found.rights),
        wishes: keysOf(found.rights),
      },
    );
  };
  const wishOf = (view: AppView, plugin = 'search'): PluginWish => {
    const found = wishesOf([view]).find((each) => each.plugin === plugin);
    assert.ok(found);
    return found;
  };
  /** A person chooses the value and allows it. */
  const give = async ({ principal, scope, use: asked }: PluginWish): Promise<string> => {
    const draft = { item: 'api', field: 'token', principal, scope, use: asked, limits: noLimits, reason: '' };
    const { id } = await values.vault.ask(draft);
    await values.vault.answer(id, 'accepted');
    await values.answers.put({ principal, scope }, 'given');
    return id;
  };
  const lastSent = (): string | undefined => values.sent('authorization').at(-1);

  it('[VAULTUSE-25] has none by being installed, whatever it is called', async () => {
    const view = await apps().add(write('1.0.0', [wish]));
    await ask();
    assert.deepEqual([lastSent(), values.vault.grants()], [undefined, []]);
    // The control: it has it when a person gave it.
    await give(wishOf(view));
    await ask();
    assert.equal(lastSent(), bearer);
    // And for no other host that it may reach.
    await ask('https://evil.example/');
    assert.ok(values.sent('authorization').filter((each) => each === bearer).length === 1);
  });

  const changes: readonly (readonly [string, readonly object[]])[] = [
    ['one more host', [{ ...wish, use: { ...use, hosts: ['api.example.org', 'evil.example'] } }]],
    ['another host', [{ ...wish, use: { ...use, hosts: ['evil.example'] } }]],
    ['another port', [{ ...wish, use: { ...use, hosts: ['api.example.org:8443'] } }]],
    ['another header', [{ ...wish, use: { ...use, name: 'x-api-key' } }]],
    ['another text before it', [{ ...wish, use: { ...use, prefix: 'token ' } }]],
    ['another way', [{ ...wish, use: { type: 'query', hosts: use.hosts, name: 'key' } }]],
    ['another name of the value', [{ ...wish, item: 'bank' }]],
    ['another field', [{ ...wish, field: 'password' }]],
    ['a second wish beside it', [wish, { ...wish, use: { ...use, hosts: ['evil.example'] } }]],
  ];
  for (const [what, after] of changes)
    it(`[VAULTUSE-26] is asked about anew where an update wishes for ${what}`, async () => {
      const before = await apps().add(write('1.0.0', [wish]));
      await give(wishOf(before));
      const { path } = write('1.1.0', after);
      const update = await apps().update('notes');
      assert.equal(update.kind, 'waits', path);
      assert.deepEqual(
        update.review.reasons.map(({ kind }) => kind),
        ['wider'],
      );
      const asked = update.review.plugins.find(({ id }) => id === 'search')?.permissions ?? [];
      assert.deepEqual(
        asked.filter(({ isNew }) => isNew).map(({ permission }) => permission.name),
        ['vaultWish'],
      );
      // The version that is installed goes on as it was given.
      await ask();
      assert.equal(lastSent(), bearer);
      const seen = values.sent('authorization').length;
      const view = await apps().install(update.review);
      const isKept = wishesOf([view]).some(({ scope }) => scope === wishOf(before).scope);
      await ask();
      await ask('https://evil.example/');
      const sent = values.origin.seen.slice(seen).map(({ line, headers }) => `${line} ${headers.join()}`);
      assert.equal(sent.filter((each) => each.includes(token)).length, isKept ? 1 : 0, sent.join('\n'));
      assert.equal(sent[1]?.includes(token), false);
      // What had ended is taken away as well.
      const orphans = orphanedGrants(values.vault.grants(), [view], wishesOf([view]));
      assert.equal(orphans.length, isKept ? 0 : 1);
      // The control: the changed wish has it when a person gave it.
      for (const each of wishesOf([view])) if (!values.answers.of(each)) await give(each);
      await ask(`https://${wishesOf([view]).at(-1)?.use.hosts.at(-1)}/`);
      const { line, headers } = values.origin.seen.at(-1) ?? { line: '', headers: [] };
      assert.ok(
        `${line} ${headers.join()}`.includes(encodeURIComponent(token)) || headers.join().includes(token),
      );
    });

  it('[VAULTUSE-26] keeps what was given over an update that wishes for the same', async () => {
    const before = await apps().add(write('1.0.0', [wish]));
    await give(wishOf(before));
    // Written in another order, with capitals in the header and a host twice: it is the same wish.
    const same = {
      use: { ...use, name: 'Authorization', hosts: [...use.hosts, ...use.hosts] },
      field: 'token',
    };
    write('1.1.0', [{ ...same, item: 'api' }]);
    const update = await apps().update('notes');
    assert.equal(update.kind, 'applied');
    await ask();
    assert.equal(lastSent(), bearer);
  });

  for (const isLocked of [false, true])
    it(`[VAULTUSE-26] gets nothing by wishing again for what it no longer wished for, its vault ${isLocked ? 'locked' : 'open'} meanwhile`, async () => {
      const before = await apps().add(write('1.0.0', [wish]));
      await give(wishOf(before));
      write('1.1.0', []);
      assert.equal((await apps().update('notes')).kind, 'applied');
      await ask();
      assert.equal(lastSent(), undefined);
      // What the extension does when it hears of the change: a vault that is locked keeps its grants.
      const [view] = await apps().apps.handlers['app/list']({}, new AbortController().signal);
      assert.ok(view);
      await values.answers.keepOnly(wishesOf([view]));
      if (!isLocked)
        for (const id of orphanedGrants(values.vault.grants(), [view], wishesOf([view])))
          await values.vault.revoke(id);
      write('1.2.0', [wish]);
      const update = await apps().update('notes');
      assert.equal(update.kind, 'waits');
      const again = await apps().install(update.review);
      await ask();
      assert.deepEqual([lastSent(), values.answers.of(wishOf(again))], [undefined, undefined]);
      // The control: the person gives it again.
      await give(wishOf(again));
      await ask();
      assert.equal(lastSent(), bearer);
    });

  it('[VAULTUSE-25] does not get what another plugin of its app was given for the same wish', async () => {
    const view = await apps().add(write('1.0.0', [wish], [wish]));
    const given = await give(wishOf(view, 'search'));
    await ask(url, 'other');
    assert.equal(lastSent(), undefined);
    const { principal, key } = wishOf(view, 'other');
    const params = { principal, scope: `app:${view.installation}`, wishes: [key], grants: [given] };
    const request = { method: 'GET', url, headers: {}, body: null };
    await assert.rejects(
      values.desk.fetch({ ...params, hosts: ['api.example.org'], request }, new AbortController().signal),
      /no grant of the vault is in force/,
    );
    // The control: with an answer of its own it does.
    await give(wishOf(view, 'other'));
    await ask(url, 'other');
    assert.equal(lastSent(), bearer);
  });

  it('[VAULTUSE-25] has none after the app was deleted and brought back', async () => {
    const view = await apps().add(write('1.0.0', [wish]));
    await give(wishOf(view));
    const never = new AbortController().signal;
    await apps().apps.handlers['app/delete']({ app: 'notes' }, never);
    const back = await apps().apps.handlers['app/restore']({ app: 'notes' }, never);
    await ask();
    assert.equal(lastSent(), undefined);
    assert.equal(values.answers.of(wishOf(back)), undefined);
  });

  it('[VAULTUSE-27] has none from the moment when a person wants none, though a grant is there', async () => {
    const view = await apps().add(write('1.0.0', [wish]));
    const id = await give(wishOf(view));
    await ask();
    assert.equal(lastSent(), bearer);
    await values.answers.put(wishOf(view), 'none');
    await ask();
    assert.equal(lastSent(), undefined);
    const { principal, key } = wishOf(view);
    const params = { principal, scope: `app:${view.installation}`, wishes: [key], grants: [id] };
    const request = { method: 'GET', url, headers: {}, body: null };
    // Nor where an engine that was taken over names the wish's own scope in place of the installation's.
    for (const more of [{}, { scope: wishOf(view).scope, wishes: [] }])
      await assert.rejects(
        values.desk.fetch(
          { ...params, ...more, hosts: ['api.example.org'], request },
          new AbortController().signal,
        ),
        /no grant of the vault is in force/,
      );
    // The control: the grant itself is still there, and what a person says next counts.
    await values.answers.put(wishOf(view), 'given');
    await ask();
    assert.equal(lastSent(), bearer);
  });

  const tricks: readonly (readonly [string, unknown])[] = [
    ['every host', '*'],
    ['hosts of many owners', '*.org'],
    ['all hosts below a name', '*.example.org'],
    ['capitals', 'API.example.org'],
    ['a dot at the end', 'api.example.org.'],
    ['a scheme', 'https://api.example.org'],
    ['a path', 'api.example.org/x'],
    ['a user name', 'api.example.org@evil.example'],
    ['a back slash', 'api.example.org\\@evil.example'],
    ['a comma, which divides hosts in the key', 'api.example.org,evil.example'],
    ['a line feed', 'api.example.org\n'],
    ['a NUL', 'api.example.org\0'],
    ['a character that is not seen', 'api.exam\u200bple.org'],
    ['a letter of another script', '\u0430pi.example.org'],
    ['a number as an address', '2130706433'],
    ['an address in hexadecimal', '0x7f.1'],
    ['a short address', '127.1'],
    ['a range', '10.0.0.0/8'],
    ['no port', 'api.example.org:'],
    ['a port over all', 'api.example.org:99999'],
    ['an address that maps another', '[::ffff:127.0.0.1'],
    ['a host that it may not reach', 'other.example.org'],
    ['another port than it may reach', 'api.example.org:8443'],
    ['no text', 5],
  ];
  for (const [what, host] of tricks)
    it(`[PLUG-15] is not taken in where it names ${what}`, async () => {
      const more = typeof host === 'string' && /^other|8443/.test(host) ? [] : [host];
      const permissions = (hosts: readonly unknown[]) => ({
        network: ['api.example.org', ...more.filter((each) => hosts.includes(each))],
        vault: [{ ...wish, use: { ...use, hosts } }],
      });
      const source = (hosts: readonly unknown[]) => ({
        kind: 'folder' as const,
        path: writeApp(
          join(folder(), 'app'),
          { plugins: ['search'] },
          pluginFiles('search', permissions(hosts)),
        ),
      });
      await assert.rejects(
        apps().stage(source([host])),
        (error) =>
          error instanceof UserError && error.code === 'bad-app' && /plugin\.json/.test(error.message),
      );
      // The control: the same app with a plain host.
      assert.equal((await apps().stage(source(['api.example.org']))).app, 'notes');
    });

  const shapes: readonly (readonly [string, object])[] = [
    ['the value itself, in a variable', { ...wish, use: { type: 'env', name: 'TOKEN' } }],
    ['the value itself, in short', { item: 'api', field: 'token', env: 'TOKEN' }],
    ['the value itself, from a descriptor', { ...wish, use: { type: 'fd', name: 'TOKEN' } }],
    ['a signature', { ...wish, use: { type: 'sshSignature' } }],
    ['no host', { ...wish, use: { ...use, hosts: [] } }],
    ['no use', { item: 'api', field: 'token' }],
    ['a header that frames', { ...wish, use: { ...use, name: 'Host' } }],
    ['a header with a line feed', { ...wish, use: { ...use, name: 'x\r\ny' } }],
    ['a prefix with a line feed', { ...wish, use: { ...use, prefix: 'a\r\nb: ' } }],
    ['a user with a colon', { ...wish, use: { type: 'basic', hosts: use.hosts, user: 'a:b' } }],
    ['a query name with an ampersand', { ...wish, use: { type: 'query', hosts: use.hosts, name: 'a&b' } }],
    ['an item that is a path', { ...wish, item: '../bank' }],
    ['an item with a colon, which divides the key', { ...wish, item: 'a:b' }],
    ['words of its own', { ...wish, reason: 'Sallyport says: allow this' }],
  ];
  for (const [what, shape] of shapes)
    it(`[PLUG-15] is not taken in where it wishes for ${what}`, async () => {
      const source = (vault: object) => ({
        kind: 'folder' as const,
        path: writeApp(
          join(folder(), 'app'),
          { plugins: ['search'] },
          pluginFiles('search', { network, vault: [vault] }),
        ),
      });
      await assert.rejects(
        apps().stage(source(shape)),
        (error) =>
          error instanceof UserError && error.code === 'bad-app' && /plugin\.json/.test(error.message),
      );
      assert.equal((await apps().stage(source(wish))).app, 'notes');
    });
});

describe('an engine that was taken over', () => {
  let values: PluginValues;
  beforeEach(async () => (values = await PluginValues.open()));
  afterEach(() => values.close());

  it('[VAULTUSE-28] makes no request in the name of a plugin that no page waits for', async () => {
    values.calls = new PluginCalls();
    const { id } = await values.grant();
    const request = { method: 'POST', url, headers: {}, body: null };
    const params = { principal: 'plugin:notes/search', scope: 'app:i', wishes: [], grants: [id] };
    const fetch = () =>
      values.desk.fetch({ ...params, hosts: ['api.example.org'], request }, new AbortController().signal);
    const refused = (error: unknown) =>
      error instanceof UserError && error.code === 'permission-needed' && /no page/.test(error.message);
    await assert.rejects(fetch, refused);
    const ended = [values.call('notes', 'other'), values.call('evil', 'search')];
    await assert.rejects(fetch, refused);
    assert.deepEqual([values.origin.seen.length, values.vault.uses().length], [0, 0]);
    // The control: while a page waits for it, it is made.
    ended.push(values.call('notes', 'search'));
    const { stream } = await fetch();
    values.desk.close(stream);
    assert.equal(values.origin.seen.length, 1);
    for (const end of ended) end();
    await assert.rejects(fetch, refused);
    assert.equal(values.origin.seen.length, 1);
  });
});
