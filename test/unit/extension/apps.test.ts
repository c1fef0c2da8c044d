import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appLogReport } from '../../../extension/src/apps/appLog.ts';
import { appNodes } from '../../../extension/src/apps/appNodes.ts';
import { parseAppTarget } from '../../../extension/src/apps/appTarget.ts';
import { parseUriList } from '../../../extension/src/apps/dropApp.ts';
import { parseGitAddress } from '../../../extension/src/apps/gitAddress.ts';
import { registerApps } from '../../../extension/src/apps/registerApps.ts';
import { CommandRegistry } from '../../../extension/src/commandRegistry.ts';
import type { Reports } from '../../../extension/src/documents/reports.ts';
import type { Log } from '../../../extension/src/log.ts';
import type { Notice } from '../../../extension/src/messages.ts';
import type { Services } from '../../../extension/src/services.ts';
import { createSettings } from '../../../extension/src/settings.ts';
import { WishAnswers } from '../../../extension/src/vault/wishAnswers.ts';
import type { TreeNode } from '../../../extension/src/views/treeNode.ts';
import type { AppView } from '../../../protocol/src/apps.ts';
import { permissionKey } from '../../../protocol/src/permissions.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { FakeEngine } from '../../support/fakeEngine.ts';
import { hostLine, makeApp, makePlugin, makeReview, makeUpdate } from '../../support/madeApps.ts';
import { memoryState } from '../../support/memoryState.ts';
import { until } from '../../support/until.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

const childrenOf = (node: TreeNode | undefined): readonly TreeNode[] =>
  typeof node?.children === 'function' ? assert.fail('children are there at once') : (node?.children ?? []);
const lines = (nodes: readonly TreeNode[]): string[] =>
  nodes.map(({ label, description, kind }) => `${kind}: ${label}${description ? ` | ${description}` : ''}`);

describe('the Apps view', () => {
  it('[APPUI-07] shows apps, what they may do, plugins, disk and source', () => {
    const [node] = appNodes([
      makeApp({
        plugins: [makePlugin({ permissions: [hostLine('localhost:11434', { isLocal: true })] })],
      }),
    ]);
    assert.deepEqual([node?.label, node?.description, node?.kind], ['Notes', '1.0.0', 'app']);
    const details = childrenOf(node);
    assert.deepEqual(lines(details), [
      'appFact: Store up to 16 MB',
      'plugin.on: Plugin search | on',
      'appFact: 40 KB of code, 2.0 KB of 16 MB of data',
      'appFact: From https://example.org/notes.git | commit cccccccccccc',
    ]);
    assert.deepEqual(lines(childrenOf(details[1])), [
      'appFact: Reach localhost:11434 over the network | on your machine or local network',
    ]);
    assert.deepEqual([details[1]?.app, details[1]?.plugin], ['notes', 'search']);
  });

  it('[APPUI-07] shows what waits, what is off and why, and the last error', () => {
    const [node] = appNodes([
      makeApp({
        permissions: [],
        quotaBytes: 0,
        lastError: 'It threw\u202e',
        waiting: { stageId: 's', appVersion: '1.1.0' },
        plugins: [
          makePlugin({ state: 'switched-off', reason: 'Stopped three times', lastError: 'Too slow' }),
          makePlugin({ id: 'format', state: 'removed', permissions: [] }),
        ],
      }),
    ]);
    assert.equal(node?.kind, 'app.waiting');
    assert.equal(node.description, '1.0.0 · update waits · one plugin off · had an error');
    assert.match(node.spoken ?? '', /^Notes, 1\.0\.0 · update waits/);
    const details = childrenOf(node);
    assert.deepEqual(lines(details).slice(0, 5), [
      'appUpdate: Review the update to 1.1.0',
      'appError: Last error: It threw\\u{202E}',
      'appFact: Its page only shows itself',
      'plugin.off: Plugin search | switched off by Sallyport · had an error',
      'plugin.removed: Plugin format | removed',
    ]);
    assert.deepEqual(lines(childrenOf(details[3])).slice(0, 2), [
      'appFact: Stopped three times',
      'appError: Last error: Too slow',
    ]);
    assert.deepEqual(lines(childrenOf(details[4])), ['appFact: Only computes']);
    assert.match(lines(details).at(-2) ?? '', /40 KB of code, no data/);
  });

  it('keeps deleted apps below the others, and gives every line an id of its own', () => {
    const nodes = appNodes([
      makeApp(),
      makeApp({ id: 'board', plugins: [makePlugin(), makePlugin({ id: 'b', lastError: 'x', reason: 'y' })] }),
      makeApp({ id: 'old', name: 'Old', deletedUntil: Date.UTC(2026, 2, 1, 12) }),
    ]);
    assert.deepEqual(lines(nodes).at(-1), 'deletedApps: Deleted (1)');
    assert.deepEqual(lines(childrenOf(nodes.at(-1))), ['deletedApp: Old | kept until 2026-03-01']);
    const ids: string[] = [];
    const walk = (each: TreeNode): void => {
      ids.push(each.id);
      childrenOf(each).forEach(walk);
    };
    nodes.forEach(walk);
    assert.deepEqual(ids, [...new Set(ids)]);
  });
});

describe('addresses of apps', () => {
  for (const [text, expected] of [
    ['https://example.org/notes.git', { url: 'https://example.org/notes.git' }],
    [' https://example.org/notes#v1.2.0 ', { url: 'https://example.org/notes', ref: 'v1.2.0' }],
    ['ssh://git@example.org/a/b.git#main', { url: 'ssh://git@example.org/a/b.git', ref: 'main' }],
    ['git@example.org:a/b.git', { url: 'ssh://git@example.org/a/b.git' }],
    ['git@example.org:/a/b.git#feature/x', { url: 'ssh://git@example.org/a/b.git', ref: 'feature/x' }],
    ['', 'not-an-address'],
    ['notes', 'not-an-address'],
    ['https://example.org', 'not-an-address'],
    ['https://example.org/a b', 'not-an-address'],
    ['http://example.org/notes', 'scheme'],
    ['file:///etc', 'scheme'],
    ['ext::sh -c touch% /tmp/x', 'not-an-address'],
    ['git://example.org/notes', 'scheme'],
    ['--upload-pack=x', 'not-an-address'],
    ['https://me:secret@example.org/notes', 'credentials'],
    ['https://token@example.org/notes', 'credentials'],
    ['ssh://git:pass@example.org/notes', 'credentials'],
    ['https://example.org/notes?x=1', 'query'],
    ['https://example.org/notes#', 'ref'],
    ['https://example.org/notes#--exec', 'ref'],
    ['https://example.org/notes#a..b', 'ref'],
    ['https://example.org/notes#a#b', 'ref'],
    ['https://example.org/notes#a b', 'ref'],
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, () => assert.deepEqual(parseGitAddress(text), expected));
  }

  it('reads what was dropped, and the target of a command, from nothing but themselves', () => {
    assert.deepEqual(parseUriList('# x\r\nfile:///a\r\n\r\nfile:///b\n'), ['file:///a', 'file:///b']);
    assert.deepEqual(parseAppTarget(['notes']), { app: 'notes' });
    assert.deepEqual(parseAppTarget([{ app: 'notes', plugin: 'search', label: 'x' }]), {
      app: 'notes',
      plugin: 'search',
    });
    for (const args of [[], [null], [{ app: 3 }], [7]]) assert.deepEqual(parseAppTarget(args), {});
  });
});

describe('the log of an app', () => {
  it('shows what an app wrote as lines that can be told from its own', () => {
    const { title, text } = appLogReport('Notes', [
      { at: 0, source: 'plugin search', text: 'one\ntwo\u202e' },
      { at: 0, source: 'sallyport', text: 'switched off' },
    ]);
    assert.equal(title, 'Log of Notes');
    assert.match(text, /plugin search {2}one\n +two\\u\{202E\}\n/);
    assert.match(appLogReport('Notes', []).text, /Nothing was logged yet/);
  });
});

describe('the commands about apps', () => {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'sallyport-apps-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function make(apps: AppView[] = [makeApp()], answers: Record<string, (params: never) => unknown> = {}) {
    resetStub();
    const shown: Notice[] = [];
    const errors: unknown[] = [];
    const opened: { title: string; text: string }[] = [];
    const logged: string[] = [];
    const tabs: string[] = [];
    const fake = new FakeEngine({
      'app/list': () => structuredClone(apps),
      'app/stage': () => makeReview(),
      'app/install': () => makeApp(),
      'app/discard': () => ({ found: true }),
      'app/setPlugin': () => makeApp(),
      'app/delete': () => ({ until: Date.UTC(2026, 11, 30, 12) }),
      'app/restore': () => makeApp(),
      'app/export': () => ({ sizeBytes: 4096 }),
      'app/log': () => [],
      'app/review': () => makeUpdate(),
      ...answers,
    });
    const log: Log = {
      info: () => undefined,
      warn: () => undefined,
      error: (text) => void logged.push(text),
      show: () => undefined,
    };
    const notifier = {
      show: (notice: Notice) => void shown.push(notice),
      showError: (error: unknown) => void errors.push(error),
    };
    const reports = {
      show: async (title: string, text: string) => void opened.push({ title, text }),
      close: async () => undefined,
    } as unknown as Reports;
    const commands = new CommandRegistry((_id, error) => void errors.push(error));
    const engine = Object.assign(fake, { onDidChangeState: () => ({ dispose: () => undefined }) });
    const services = {
      commands,
      engine,
      log,
      notifier,
      reports,
      settings: createSettings(() => undefined),
      appPanels: { open: async (app: string) => void tabs.push(app) },
      vault: {
        answers: new WishAnswers(memoryState(), (error) => errors.push(error)),
        vaults: { onDidChange: () => ({ dispose: () => undefined }) },
      },
    } as unknown as Services;
    const registered = registerApps(services);
    const run = (id: string, ...args: unknown[]) =>
      Promise.resolve(stub.commands.get(`sallyport.${id}`)?.(...args));
    return { fake, run, shown, errors, opened, logged, tabs, registered, view: stub.treeViews[0]! };
  }
  const pick = async (count = 1) => {
    await until(() => stub.picks.length === count && stub.picks.at(-1)!.isShown);
    return stub.picks.at(-1)!;
  };
  const texts = (notices: readonly Notice[]) => notices.map(({ text }) => text);

  it('[APPUI-08] install from a git address, checked as it is typed', async () => {
    const { fake, run, shown, errors } = make();
    const done = run('installApp');
    (await pick()).choose('Git repository');
    await until(() => stub.boxes.length === 1);
    stub.boxes[0]!.enter('http://example.org/notes');
    assert.match(stub.boxes[0]!.validationMessage ?? '', /Only https:\/\/ and ssh:\/\//);
    assert.ok(stub.boxes[0]!.isShown);
    stub.boxes[0]!.enter('https://example.org/notes#v1');
    (await pick(2)).choose('Install');
    await done;
    assert.deepEqual(
      (fake.asked('app/stage') as { source: unknown }[]).map(({ source }) => source),
      [{ kind: 'git', url: 'https://example.org/notes', ref: 'v1' }],
    );
    assert.match(texts(shown)[0] ?? '', /is installed/);
    assert.deepEqual(errors, []);
  });

  it('[VAULTUSE-25] lead to the answer after an install with wishes, and only then', async () => {
    const wish = {
      name: 'vaultWish',
      item: 'example-notes',
      field: 'token',
      use: 'header:authorization:Bearer @api.example.org',
    } as const;
    const line = { key: permissionKey(wish), permission: wish, sentence: '', isNew: false, isLocal: false };
    const wishing = makeApp({ plugins: [makePlugin({ permissions: [hostLine('api.example.org'), line] })] });
    for (const [installed, asked] of [
      [wishing, [{ app: 'notes' }]],
      [makeApp(), []],
    ] as const) {
      resetStub();
      const { run, errors } = make([], { 'app/install': () => installed });
      const answered = () =>
        stub.executed.filter(({ id }) => id === 'sallyport.choosePluginValues').flatMap(({ args }) => args);
      const done = run('installApp');
      (await pick()).choose('Git repository');
      await until(() => stub.boxes.length === 1);
      stub.boxes[0]!.enter('https://example.org/notes');
      const list = await pick(2);
      assert.deepEqual(answered(), []);
      list.choose('Install');
      await done;
      assert.deepEqual([answered(), errors], [asked, []]);
    }
  });

  it('[APPUI-08] install from a folder, an archive, a backup, and what is dropped', async () => {
    const { fake, run, shown, view } = make();
    for (const [line, path, kind] of [
      ['Folder', '/a/notes', 'folder'],
      ['Zip archive', '/a/notes.zip', 'zip'],
      ['Backup of an app', '/a/notes.sallyport-app', 'backup'],
    ] as const) {
      stub.files.push(path);
      const count = stub.picks.length;
      const done = run('installApp');
      (await pick(count + 1)).choose(line);
      (await pick(count + 2)).choose('Don’t install');
      await done;
      assert.deepEqual((fake.asked('app/stage') as { source: unknown }[]).at(-1)?.source, { kind, path });
    }
    stub.files.push('/a/notes.sallyport-app');
    const imported = run('importApp');
    (await pick(7)).choose('Don’t install');
    await imported;
    const drop = async (list: string) => {
      const { dragAndDropController } = view.options as {
        dragAndDropController: { handleDrop: (target: undefined, transfer: object) => Promise<void> };
      };
      await dragAndDropController.handleDrop(undefined, {
        get: () => ({ asString: async () => list }),
      });
    };
    writeFileSync(join(folder, 'text.md'), '');
    await drop(`file://${folder}/text.md`);
    await drop('file:///a\r\nfile:///b');
    await drop('https://example.org/x');
    assert.match(texts(shown).slice(-3).join('\n'), /is no app.*\n2 things were dropped.*\n.*not on a disk/);
    const dropped = drop(`file://${folder}`);
    (await pick(8)).choose('Don’t install');
    await dropped;
    assert.deepEqual((fake.asked('app/stage') as { source: unknown }[]).at(-1)?.source, {
      kind: 'folder',
      path: folder,
    });
    assert.deepEqual(fake.asked('app/install'), []);
  });

  it('do nothing where a person turns away from a dialog', async () => {
    const { fake, run } = make();
    const done = run('installApp');
    (await pick()).choose('Folder');
    await done;
    await run('importApp');
    await run('exportApp', { app: 'notes' });
    for (const [at, id] of ['deleteApp', 'removePlugin'].entries()) {
      const asked = run(id, { app: 'notes', plugin: 'search' });
      const list = await pick(2 + at);
      list.choose('Keep it');
      await asked;
    }
    assert.deepEqual(
      fake.calls.filter(({ method }) => method !== 'app/list'),
      [],
    );
  });

  it('take no source and no answer from an argument', async () => {
    const { fake, run } = make();
    for (const [count, argument] of [
      { kind: 'folder', path: '/evil', answer: 'install', digest: 'd'.repeat(64) },
      { folder: '/evil' },
    ].entries()) {
      void run('installApp', argument);
      await pick(count + 1);
      assert.deepEqual(fake.asked('app/stage'), []);
      stub.picks[count]!.dispose();
    }
  });

  it('[APPUI-06] say of each kind of update what it is', async () => {
    const found: unknown[] = [];
    const { run, shown } = make([makeApp()], { 'app/update': () => found.shift() });
    found.push({ kind: 'none' });
    await run('checkAppUpdates', { app: 'notes' });
    found.push({ kind: 'applied', view: makeApp(), text: 'Updated to 1.0.1. It asks for nothing more.' });
    await run('checkAppUpdates', { app: 'notes' });
    found.push({ kind: 'waits', review: makeUpdate() });
    await run('checkAppUpdates', { app: 'notes' });
    assert.deepEqual(texts(shown), [
      'Notes has no update.',
      'Notes: Updated to 1.0.1. It asks for nothing more.',
      'An update of Notes to 1.1.0 asks for more, so it waits for your review. The installed version goes on working.',
    ]);
    assert.deepEqual(shown[2]?.action, {
      title: 'Review',
      command: 'sallyport.reviewAppUpdate',
      args: [{ app: 'notes' }],
    });
  });

  it('look for updates of all apps, count failures, and go on after one', async () => {
    const apps = [makeApp(), makeApp({ id: 'board', name: 'Board' }), makeApp({ id: 'c', name: 'C' })];
    const { fake, run, shown, logged } = make(apps, {
      'app/update': ({ app }: { app: string }) => {
        if (app === 'board') throw new UserError('unreadable', 'No answer');
        return { kind: 'none' };
      },
    });
    await run('checkAppUpdates');
    assert.equal(fake.asked('app/update').length, 3);
    assert.match(texts(shown)[0] ?? '', /update of Board could not be looked for/);
    assert.equal(logged.length, 1);
    const none = make([]);
    await none.run('checkAppUpdates');
    assert.match(texts(none.shown)[0] ?? '', /No app is installed yet/);
  });

  it('[APPUI-06] review what waits, for a named app, and say where nothing does', async () => {
    const waiting = makeApp({ waiting: { stageId: 'stage-9', appVersion: '1.1.0' } });
    const { fake, run } = make([waiting]);
    const done = run('reviewAppUpdate', { app: 'notes' });
    (await pick()).choose('Update to 1.1.0');
    await done;
    assert.deepEqual(fake.asked('app/review'), [{ stageId: 'stage-9' }]);
    const { run: again, shown } = make([makeApp()]);
    await again('reviewAppUpdate', { app: 'notes' });
    await again('reviewAppUpdate');
    assert.deepEqual(texts(shown), ['No update waits for you.', 'No update waits for you.']);
  });

  it('[APPUI-09] switch a plugin off and on, and remove it after a question', async () => {
    const { fake, run, shown } = make([
      makeApp({ plugins: [makePlugin(), makePlugin({ id: 'b', state: 'off' })] }),
    ]);
    await run('switchPluginOff', { app: 'notes', plugin: 'search' });
    await run('switchPluginOn', { app: 'notes', plugin: 'b' });
    const removing = run('removePlugin', { app: 'notes', plugin: 'search' });
    (await pick()).choose('Remove search');
    await removing;
    assert.deepEqual(fake.asked('app/setPlugin'), [
      { app: 'notes', plugin: 'search', state: 'off' },
      { app: 'notes', plugin: 'b', state: 'on' },
      { app: 'notes', plugin: 'search', state: 'removed' },
    ]);
    assert.match(texts(shown)[0] ?? '', /The plugin search of Notes is off/);
    await run('switchPluginOn', { app: 'notes', plugin: 'search' });
    assert.match(texts(shown).at(-1) ?? '', /no plugin for which/);
    assert.equal(fake.asked('app/setPlugin').length, 3);
    stub.chosen.push('Notes', 'search');
    await run('switchPluginOff');
    assert.equal(fake.asked('app/setPlugin').length, 4);
  });

  it('[APPUI-10] delete with sizes shown, and offer to bring it back', async () => {
    const apps = [makeApp()];
    const { fake, run, shown } = make(apps);
    await run('openAppLog', { app: 'notes' });
    apps[0] = makeApp({ dataBytes: 5 * 1024 * 1024 });
    const deleting = run('deleteApp', { app: 'notes' });
    const list = await pick();
    assert.equal(list.title, 'Delete Notes with its data?');
    assert.equal(list.items[0]?.label, 'Keep it');
    assert.equal(list.items[1]?.detail, '40 KB of code, 5.0 MB of data');
    list.choose('Delete Notes');
    await deleting;
    assert.deepEqual(fake.asked('app/delete'), [{ app: 'notes' }]);
    assert.match(texts(shown)[0] ?? '', /brought back until 2026-12-30/);
    assert.deepEqual(shown[0]?.action?.command, 'sallyport.restoreApp');
    const { run: again, fake: engine, shown: told } = make([makeApp({ deletedUntil: 1 })]);
    await again('restoreApp', { app: 'notes' });
    assert.deepEqual(engine.asked('app/restore'), [{ app: 'notes' }]);
    await again('deleteApp', { app: 'notes' });
    assert.match(texts(told).at(-1) ?? '', /No app is installed/);
  });

  it('[APPUI-11] export to a file that is not there yet, and never over one', async () => {
    const { fake, run, shown } = make();
    const there = join(folder, 'there.sallyport-app');
    writeFileSync(there, 'mine');
    stub.files.push(there);
    await run('exportApp', { app: 'notes' });
    assert.deepEqual(fake.asked('app/export'), []);
    assert.match(texts(shown)[0] ?? '', /is there already and was left alone/);
    stub.files.push(join(folder, 'new.sallyport-app'));
    await run('exportApp', { app: 'notes' });
    assert.match(texts(shown)[1] ?? '', /4\.0 KB.*no key/);
  });

  it('choose from the store by an address that a person gives once', async () => {
    const entries = [
      {
        id: 'notes',
        name: 'Notes',
        description: 'Keeps notes\u202e',
        url: 'https://example.org/notes.git',
        ref: 'v1.0.0',
        isInstalled: false,
      },
    ];
    const { fake, run, shown } = make([], { 'appStore/list': () => entries });
    stub.chosen.push('Notes');
    const done = run('browseApps');
    await until(() => stub.boxes.length === 1);
    stub.boxes[0]!.enter('https://example.org/index.git');
    (await pick()).choose('Don’t install');
    await done;
    assert.deepEqual(stub.written, [
      { name: 'sallyport.apps.storeIndex', value: 'https://example.org/index.git' },
    ]);
    assert.match(stub.lists[0]?.[0]?.detail ?? '', /Keeps notes\\u\{202E\} – https:/);
    assert.deepEqual((fake.asked('app/stage') as { source: unknown }[])[0]?.source, {
      kind: 'git',
      url: 'https://example.org/notes.git',
      ref: 'v1.0.0',
    });
    entries.length = 0;
    await run('browseApps');
    assert.match(texts(shown).at(-1) ?? '', /lists no app/);
    assert.equal(stub.boxes.length, 1, 'the address is kept');
  });

  it('show what an index is before it is used, and use exactly that', async () => {
    const known: string[] = [];
    const { fake, run, errors } = make([], {
      'appStore/list': ({ confirm }: { confirm?: string }) => {
        if (confirm !== undefined) known.push(confirm);
        if (known.length === 0)
          throw new UserError('permission-needed', 'It is not known', {
            url: 'https://example.org/index.git',
            commit: 'c'.repeat(40),
            digest: 'a'.repeat(64),
            apps: 2,
          });
        return [];
      },
    });
    stub.settings['sallyport.apps.storeIndex'] = 'https://example.org/index.git';
    const first = run('browseApps');
    const list = await pick();
    assert.equal(list.title, 'Take apps from the list at https://example.org/index.git?');
    list.dispose();
    await first;
    assert.deepEqual(known, []);
    const second = run('browseApps');
    (await pick(2)).choose('Use this list');
    await second;
    assert.deepEqual(known, ['a'.repeat(64)]);
    assert.deepEqual(errors, []);
    assert.equal(fake.asked('appStore/list').length, 3);
  });

  it('open an app that is installed, and no other', async () => {
    const { run, tabs, shown } = make();
    await run('openApp', { app: 'notes' });
    await run('openApp', { app: '../x' });
    stub.chosen.push('Notes');
    await run('openApp');
    assert.deepEqual(tabs, ['notes', 'notes']);
    assert.match(texts(shown)[0] ?? '', /There is no app/);
  });

  it('show the log, and say what to do where no app is', async () => {
    const { run, opened } = make();
    await run('openAppLog', { app: 'notes' });
    assert.equal(opened[0]?.title, 'Log of Notes');
    const { run: again, shown } = make([]);
    await again('openAppLog');
    await again('exportApp', { app: 'ghost' });
    await again('restoreApp');
    assert.match(
      texts(shown).join('\n'),
      /No app is installed.*\nNo app is installed.*\nNo deleted app is kept/,
    );
  });

  it('[APPUI-07] keep tree and badge in step with the engine', async () => {
    const apps = [makeApp({ waiting: { stageId: 's', appVersion: '1.1.0' } })];
    const { fake, view, registered } = make(apps);
    const { treeDataProvider } = view.options as {
      treeDataProvider: {
        getChildren(): Promise<TreeNode[]>;
        onDidChangeTreeData: (f: () => void) => object;
      };
    };
    assert.equal((await treeDataProvider.getChildren()).length, 1);
    assert.deepEqual(view.badge, { value: 1, tooltip: 'One update waits for your review' });
    let drawn = 0;
    treeDataProvider.onDidChangeTreeData(() => drawn++);
    apps[0] = makeApp();
    await treeDataProvider.getChildren();
    assert.equal(fake.asked('app/list').length, 1, 'nothing is read twice');
    fake.tell('app/changed', { app: 'notes' });
    await until(() => drawn === 1);
    await treeDataProvider.getChildren();
    assert.equal(view.badge, undefined);
    registered.dispose();
  });

  it('look for updates by themselves only where the settings say so, once, and only in repositories', async () => {
    const apps = [makeApp(), makeApp({ id: 'local', source: { kind: 'folder', path: '/a' } })];
    const { fake, view, shown } = make(apps, { 'app/update': () => ({ kind: 'none' }) });
    view.shown.fire(undefined);
    assert.deepEqual(fake.calls, []);
    stub.settings['sallyport.apps.checkForUpdates'] = 'whenShown';
    view.shown.fire(undefined);
    view.shown.fire(undefined);
    await until(() => fake.asked('app/update').length === 1);
    assert.deepEqual((fake.asked('app/update') as { app: string }[])[0]?.app, 'notes');
    assert.deepEqual(shown, [], 'that there is none is not told');
  });
});
