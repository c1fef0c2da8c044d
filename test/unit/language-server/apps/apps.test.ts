import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PermissionSet } from '../../../../language-server/src/apps/permissionSet.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { appFiles, pluginFiles, writeApp, writeFiles } from '../../../support/appFolder.ts';
import { openApps, useApps } from '../../../support/appsHarness.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const never = new AbortController().signal;
const dayMs = 24 * 60 * 60 * 1000;

describe('apps', () => {
  const folder = useTemporaryFolder();
  const apps = useApps(folder);
  const source = () => ({ kind: 'folder' as const, path: join(folder(), 'app') });
  const write = (manifest = {}, more = {}) => writeApp(join(folder(), 'app'), manifest, more);

  describe('review', () => {
    it('[APPS-01] shows what an app is made of, before anything of it runs', async () => {
      write(
        { permissions: { generate: ['text'], storageMB: 4 }, plugins: ['search'] },
        pluginFiles('search', { network: ['api.example.org', 'localhost:3000'], storage: true }),
      );
      const review = await apps().stage(source());
      assert.deepEqual(
        review.permissions.map(({ key }) => key),
        ['generate:text', 'storage:4'],
      );
      assert.deepEqual(
        review.plugins[0]?.permissions.map(({ key, isLocal, isNew }) => [key, isLocal, isNew]),
        [
          ['network:api.example.org', false, false],
          ['network:localhost:3000', true, false],
          ['storage:4', false, false],
        ],
      );
      assert.deepEqual(
        review.reasons.map(({ kind }) => kind),
        ['install'],
      );
      assert.equal(review.files, 4);
      assert.equal(review.installed, null);
      assert.equal(apps().records.find('notes'), undefined, 'nothing is installed by looking');
    });

    it('[APPS-01] escapes what came from the app', async () => {
      write(
        { name: 'No\u200btes', plugins: ['a'] },
        {
          'plugins/a/plugin.json': JSON.stringify({
            version: 1,
            id: 'a',
            entry: 'index.js',
            functions: { f: { description: 'x\u00a0y', input: {}, output: {} } },
          }),
          'plugins/a/index.js': '',
        },
      );
      const { name, plugins } = await apps().stage(source());
      assert.equal(name, 'No\\u{200B}tes');
      assert.equal(plugins[0]?.functions[0]?.description, 'x\\u{A0}y');
    });

    const broken: readonly (readonly [string, Record<string, string>, RegExp])[] = [
      ['no manifest', { 'app.json': '' }, /app\.json: line 1/],
      ['no JSON', { 'app.json': '{"version": 1,' }, /app\.json: line/],
      ['a key twice', { 'app.json': '{"version":1,"version":1}' }, /app\.json: line 1/],
      ['a key that JavaScript means otherwise', { 'app.json': '{"__proto__":{},"version":1}' }, /app\.json/],
      ['a wrong type', appFiles({ permissions: { storageMB: '1' } }), /app\.json.*storageMB/s],
      ['an unknown key', appFiles({ permissions: { root: true } }), /app\.json.*root/s],
      ['a page outside', appFiles({ entry: '../index.html' }), /app\.json.*entry/s],
      ['a page that is not there', appFiles({ entry: 'other.html' }), /other\.html, which is not there/],
      ['a plugin that is not there', appFiles({ plugins: ['a'] }), /there is no plugins\/a\/plugin\.json/],
      ['a plugin twice', { ...appFiles({ plugins: ['a', 'a'] }), ...pluginFiles('a') }, /twice/],
      [
        'a plugin of another name',
        {
          ...appFiles({ plugins: ['b'] }),
          'plugins/b/plugin.json': pluginFiles('a')['plugins/a/plugin.json'] ?? '',
        },
        /says that it is a/,
      ],
      [
        'dependencies without a lock',
        appFiles({}, { 'package.json': '{"dependencies":{"x":"1"}}' }),
        /package-lock\.json/,
      ],
    ];
    for (const [name, files, why] of broken)
      it(`[APPS-08] says what is wrong with ${name}, and keeps nothing`, async () => {
        writeFiles(join(folder(), 'app'), { 'index.html': '', ...files });
        await assert.rejects(apps().stage(source()), { code: 'bad-app', message: why });
        assert.deepEqual([...apps().blobs.list()], []);
        assert.deepEqual(apps().records.stages(), []);
      });

    it('[APPS-08] says that a folder holds no app, and that it was cancelled', async () => {
      writeFiles(join(folder(), 'app'), { 'readme.md': 'x' });
      await assert.rejects(apps().stage(source()), { code: 'bad-app', message: /no app of Sallyport/ });
      write();
      await assert.rejects(apps().stage(source(), AbortSignal.abort()));
      assert.deepEqual(apps().records.stages(), []);
    });
  });

  describe('install', () => {
    it('[APPS-03] installs exactly what was reviewed, whatever the source has become', async () => {
      write({}, { 'index.html': 'reviewed' });
      const review = await apps().stage(source());
      writeFileSync(join(folder(), 'app', 'index.html'), 'swapped');
      await apps().install(review);
      assert.equal(apps().apps.library.open('notes').tree.read('index.html').toString(), 'reviewed');
    });

    it('[APPS-03] refuses another digest, a second use, and a review that is over', async () => {
      write();
      const review = await apps().stage(source());
      await assert.rejects(apps().install({ ...review, digest: 'f'.repeat(64) }), { code: 'conflict' });
      assert.deepEqual(apps().records.list(), []);
      await apps().install(review);
      await assert.rejects(apps().install(review), { code: 'not-found' });
      const discarded = await apps().stage(source());
      await apps().apps.handlers['app/discard']({ stageId: discarded.stageId }, never);
      await assert.rejects(apps().install(discarded), { code: 'not-found' });
    });

    it('[APPS-03] refuses where a staged file was changed or removed since', async () => {
      for (const attack of [(path: string) => writeFileSync(path, 'evil'), (path: string) => rmSync(path)]) {
        write({}, { 'index.html': `page ${Math.random()}` });
        const review = await apps().stage(source());
        const page = [...apps().blobs.list()].find(({ digest }) =>
          readFileSync(apps().blobs.pathOf(digest), 'utf8').startsWith('page '),
        );
        assert.ok(page);
        attack(apps().blobs.pathOf(page.digest));
        await assert.rejects(apps().install(review), { code: 'conflict' });
        assert.deepEqual(apps().records.list(), []);
      }
    });

    it('[APPS-03] a review is another one after anything that it shows has changed', async () => {
      write();
      await apps().add(source());
      write({ appVersion: '1.1.0', permissions: { generate: ['text'] } });
      const first = await apps().stage(source());
      write({ appVersion: '1.2.0' });
      await apps().add(source());
      await assert.rejects(
        apps().install(first),
        { code: 'conflict' },
        'the installed version is another one',
      );
      const again = apps().apps.handlers['app/review']({ stageId: first.stageId }, never);
      assert.notEqual((await again).digest, first.digest);
    });

    it('[APPS-03] the same content has the same digest, in whatever stage', async () => {
      write();
      const [first, second] = [await apps().stage(source()), await apps().stage(source())];
      assert.equal(first.digest, second.digest);
      assert.notEqual(first.stageId, second.stageId);
    });

    it('[APPS-03] shows a page only where it is what was built, and builds it again where it is not', async () => {
      write({}, { 'index.html': 'page' });
      await apps().add(source());
      const page = async () => apps().apps.handlers['app/page']({ app: 'notes' }, never);
      const { documentPath } = await page();
      for (const attack of [() => writeFileSync(documentPath, 'evil'), () => rmSync(documentPath)]) {
        attack();
        assert.equal(readFileSync((await page()).documentPath, 'utf8'), 'built: page');
      }
    });

    it('[APPS-10] a page that can’t be built leaves the version that was there', async () => {
      write();
      await apps().add(source());
      await apps().close();
      const failing = openApps(folder(), {
        buildPage: () => Promise.reject(new UserError('bad-app', 'The app can’t be built: x')),
      });
      try {
        write({ appVersion: '1.1.0' });
        await assert.rejects(failing.update('notes'), { code: 'bad-app' });
        assert.equal(failing.records.find('notes')?.appVersion, '1.0.0');
      } finally {
        await failing.close();
      }
    });
  });

  describe('rights', () => {
    it('[APPS-06] are what was accepted of what the frozen manifest asks for', async () => {
      write({ permissions: { generate: ['text'], storageMB: 1 } });
      await apps().add(source());
      writeApp(join(folder(), 'app'), { permissions: { generate: ['text', 'image'] } });
      assert.deepEqual(
        apps().apps.library.open('notes').rights.app.length,
        2,
        'the live manifest is not read',
      );

      const { records, store } = apps();
      const app = records.find('notes');
      assert.ok(app);
      const accepted = records.consent('notes', app.source, app.code.digest);
      assert.ok(accepted);
      const wider: PermissionSet = { ...accepted, app: [...accepted.app, { name: 'results' }] };
      records.accept('notes', app.source, app.code.digest, wider, 0);
      assert.equal(apps().apps.library.open('notes').rights.app.length, 2, 'not asked for');
      for (const [name, statement] of [
        ['no consent', 'delete from app_consents'],
        ['the consent of another tree', "update app_consents set tree = 'x'"],
        ['the consent of another source', "update app_consents set source = 'x'"],
        ['a consent that can’t be read', "update app_consents set accepted_json = '{}'"],
      ] as const) {
        records.accept('notes', app.source, app.code.digest, accepted, 0);
        store.database.exec(statement);
        assert.deepEqual(apps().apps.library.open('notes').rights.app, [], name);
      }
    });

    it('[APPS-06] a copied database of the workspace gives none: consent lies outside of it', async () => {
      write({ permissions: { generate: ['text'] } });
      await apps().add(source());
      assert.deepEqual(readdirSync(join(folder(), 'app')).sort(), ['app.json', 'index.html']);
    });
  });

  describe('updates', () => {
    it('[APPS-05] applies one that asks for nothing more, records one line, and shrinks consent', async () => {
      write({ permissions: { generate: ['text', 'image'] } });
      await apps().add(source());
      assert.deepEqual(await apps().update('notes'), { kind: 'none' });
      write({ appVersion: '1.1.0', permissions: { generate: ['text'] } });
      const found = await apps().update('notes');
      assert.equal(found.kind, 'applied');
      const lines = await apps().apps.handlers['app/log']({ app: 'notes' }, never);
      assert.match(lines.at(-1)?.text ?? '', /1\.0\.0 became 1\.1\.0/);
      write({ appVersion: '1.2.0', permissions: { generate: ['text', 'image'] } });
      assert.equal((await apps().update('notes')).kind, 'waits', 'what was given up is asked for again');
    });

    it('[APPS-05] a wider one waits and shows only the difference; the old one goes on', async () => {
      write({ plugins: ['a'] }, pluginFiles('a', { network: ['a.example.org'] }));
      await apps().add(source());
      write(
        { appVersion: '2.0.0', plugins: ['a'] },
        pluginFiles('a', { network: ['a.example.org', 'b.example.org'] }),
      );
      const found = await apps().update('notes');
      assert.ok(found.kind === 'waits');
      assert.deepEqual(
        found.review.plugins[0]?.permissions.filter(({ isNew }) => isNew).map(({ key }) => key),
        ['network:b.example.org'],
      );
      const { library } = apps().apps;
      assert.deepEqual(library.open('notes').rights.plugins['a'], [
        { name: 'network', host: 'a.example.org' },
      ]);
      const view = library.view(library.get('notes'));
      assert.equal(view.waiting?.appVersion, '2.0.0');
      assert.equal(view.appVersion, '1.0.0');

      await apps().update('notes');
      assert.equal(apps().records.stages().length, 1, 'one update waits at a time');
      const [stage] = apps().records.stages();
      const review = apps().apps.handlers['app/review']({ stageId: stage?.id ?? '' }, never);
      await apps().install(await review);
      assert.equal(library.open('notes').rights.plugins['a']?.length, 2);
      assert.equal(library.view(library.get('notes')).waiting, null);
    });

    it('[APPS-05] refuses a source that now holds another app', async () => {
      write();
      await apps().add(source());
      write({ id: 'other' });
      await assert.rejects(apps().update('notes'), { code: 'conflict', message: /another app, other/ });
      assert.deepEqual(apps().records.stages(), []);
    });

    it('[APPS-05] official is what came from the record of maintainers, never by what an app says', async () => {
      write({ name: 'Official' });
      const view = await apps().add(source());
      assert.equal(view.isOfficial, false);
    });
  });

  describe('management', () => {
    it('[APPS-07] deletes with the data, brings both back for thirty days, then forgets them', async () => {
      write();
      await apps().add(source());
      apps().storage.put('notes', 'a.txt', Buffer.from('kept'), 1000);
      const { handlers } = apps().apps;
      const { until } = await handlers['app/delete']({ app: 'notes' }, never);
      assert.equal(until, apps().clock.now + 30 * dayMs);
      assert.deepEqual(await handlers['app/list']({}, never), []);
      assert.throws(() => apps().apps.library.open('notes'), { code: 'not-found' });
      assert.equal((await handlers['app/list']({ withDeleted: true }, never))[0]?.deletedUntil, until);
      await handlers['app/restore']({ app: 'notes' }, never);
      assert.equal(apps().storage.get('notes', 'a.txt')?.sizeBytes, 4);

      await handlers['app/delete']({ app: 'notes' }, never);
      await apps().close();
      const later = openApps(folder());
      later.clock.now += 31 * dayMs;
      await later.close();
      const after = openApps(folder(), { now: () => later.clock.now });
      try {
        assert.deepEqual(after.records.list(), []);
        assert.equal(after.storage.get('notes', 'a.txt'), undefined);
      } finally {
        await after.close();
      }
    });

    it('[APPS-07] the data of a deleted app goes to no other app of its name', async () => {
      write();
      await apps().add(source());
      apps().storage.put('notes', 'secret', Buffer.from('x'), 1000);
      await apps().apps.handlers['app/delete']({ app: 'notes' }, never);
      writeApp(join(folder(), 'other'));
      await apps().add({ kind: 'folder', path: join(folder(), 'other') });
      assert.equal(apps().storage.get('notes', 'secret'), undefined);
    });

    it('[APPS-07] switches plugins off and on; a removed one stays away until it is installed again', async () => {
      write({ plugins: ['a'] }, pluginFiles('a'));
      await apps().add(source());
      const { handlers } = apps().apps;
      const set = async (state: 'on' | 'off' | 'removed') =>
        (await handlers['app/setPlugin']({ app: 'notes', plugin: 'a', state }, never)).plugins[0]?.state;
      assert.equal(await set('off'), 'off');
      assert.equal(await set('on'), 'on');
      assert.equal(await set('removed'), 'removed');
      await assert.rejects(set('on'), { code: 'conflict' });
      assert.throws(() => handlers['app/setPlugin']({ app: 'notes', plugin: 'b', state: 'off' }, never), {
        code: 'not-found',
      });
    });
  });

  describe('backups', () => {
    const backup = () => join(folder(), 'notes.backup');
    const exportApp = async () =>
      apps().apps.handlers['app/export']({ app: 'notes', path: backup(), progressId: 'p' }, never);
    const from = () => ({ kind: 'backup' as const, path: backup() });

    it('[APPS-11] holds the app and its data in one file that only its owner reads', async () => {
      write();
      await apps().add(source());
      apps().storage.put('notes', 'a/b.txt', Buffer.from('data'), 1000);
      const { sizeBytes } = await exportApp();
      assert.equal(statSync(backup()).mode & 0o777, 0o600);
      assert.equal(statSync(backup()).size, sizeBytes);
      await assert.rejects(exportApp(), { code: 'conflict' }, 'never over a file that is there');
      assert.deepEqual(
        readdirSync(folder()).filter((name) => name.includes('part')),
        [],
      );
    });

    it('[APPS-11] is restored through a review, data included, and is never official', async () => {
      write({ permissions: { generate: ['text'], storageMB: 1 } });
      await apps().add(source());
      apps().storage.put('notes', 'a/b.txt', Buffer.from('data'), 1000);
      await exportApp();
      apps().storage.put('notes', 'a/b.txt', Buffer.from('newer'), 1000);
      const review = await apps().stage(from());
      assert.deepEqual(
        review.reasons.map(({ kind }) => kind),
        ['restore', 'source-changed'],
      );
      assert.equal(review.dataBytes, 4);
      assert.equal(apps().storage.get('notes', 'a/b.txt')?.sizeBytes, 5, 'looking changes nothing');
      const view = await apps().install(review);
      assert.equal(view.isOfficial, false);
      assert.equal(Buffer.from(apps().storage.get('notes', 'a/b.txt')?.bytes ?? []).toString(), 'data');
      assert.deepEqual(await apps().update('notes'), { kind: 'none' }, 'a backup has no newer version');
    });

    it('[APPS-11] a failed import leaves what was there', async () => {
      write({ permissions: { storageMB: 1 } });
      await apps().add(source());
      apps().storage.put('notes', 'old', Buffer.from('old'), 1000);
      await exportApp();
      await apps().close();
      const failing = openApps(folder(), { buildPage: () => Promise.reject(new UserError('bad-app', 'x')) });
      try {
        await assert.rejects(failing.add(from()), { code: 'bad-app' });
        assert.equal(failing.storage.get('notes', 'old')?.sizeBytes, 3);
        assert.equal(failing.records.find('notes')?.source.kind, 'folder');
        const data = readdirSync(join(folder(), 'home', 'apps', 'data'));
        assert.deepEqual(
          data.filter((name) => !name.startsWith('notes.sqlite')),
          [],
        );
      } finally {
        await failing.close();
      }
    });
  });
});
