import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { appInstallations, appTables } from '../../../../language-server/src/apps/tables.ts';
import { migrate } from '../../../../language-server/src/store/schema.ts';
import { Database, text } from '../../../../language-server/src/store/database.ts';
import { createFindPlugin } from '../../../../language-server/src/apps/installedPlugins.ts';
import { pluginFiles, writeApp } from '../../../support/appFolder.ts';
import { openApps, useApps } from '../../../support/appsHarness.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const never = new AbortController().signal;

/** What grants of the vault are bound to. */
describe('an installation of an app', () => {
  const folder = useTemporaryFolder();
  const apps = useApps(folder);
  const at = (name: string) => ({ kind: 'folder' as const, path: join(folder(), name) });
  const write = (name: string, appVersion = '1.0.0') =>
    writeApp(
      join(folder(), name),
      { appVersion, plugins: ['search'] },
      pluginFiles('search', { network: ['api.example.org'] }),
    );

  it('[VAULTUSE-19] is the same one after an update from its source, and what its plugin asks as', async () => {
    write('app');
    const first = await apps().add(at('app'));
    write('app', '1.1.0');
    const updated = await apps().update('notes');
    assert.equal(updated.kind, 'applied');
    const [view] = await apps().apps.handlers['app/list']({}, never);
    assert.equal(view?.appVersion, '1.1.0');
    assert.equal(view.installation, first.installation);
    assert.match(first.installation, /^[0-9a-f]{24}$/);
    const plugin = await createFindPlugin(apps().apps.library)('notes', 'search');
    assert.equal(plugin?.installation, first.installation);
  });

  it('[VAULTUSE-19] is another one from another source, after a deletion, and when it is brought back', async () => {
    write('app');
    const first = await apps().add(at('app'));
    write('other', '2.0.0');
    const second = await apps().add(at('other'));
    await apps().apps.handlers['app/delete']({ app: 'notes' }, never);
    const third = await apps().apps.handlers['app/restore']({ app: 'notes' }, never);
    await apps().apps.handlers['app/delete']({ app: 'notes' }, never);
    const fourth = await apps().add(at('other'));
    const all = [first, second, third, fourth].map(({ installation }) => installation);
    assert.equal(new Set(all).size, 4, all.join(' '));
  });

  it('[VAULTUSE-19] is in no backup, and an import is another one', async () => {
    write('app');
    const { installation } = await apps().add(at('app'));
    const path = join(folder(), 'notes.sallyport-app');
    await apps().apps.handlers['app/export']({ app: 'notes', path, progressId: 'p' }, never);
    assert.ok(!readFileSync(path, 'latin1').includes(installation));
    const elsewhere = openApps(join(folder(), 'elsewhere'));
    const imported = await elsewhere.add({ kind: 'backup', path });
    assert.notEqual(imported.installation, installation);
    await elsewhere.close();
    assert.ok(readdirSync(folder()).includes('notes.sallyport-app'));
  });

  it('is given to apps that were installed before there was one', () => {
    const database = new Database(':memory:');
    migrate(database, [appTables]);
    for (const id of ['a', 'b'])
      database.run(
        `insert into apps (id, name, app_version, source_json, code_json, page_digest, page_bytes, is_official, installed_at)
         values (?, 'A', '1.0.0', '{}', '{}', '', 0, 0, 1)`,
        id,
      );
    migrate(database, [appTables, appInstallations]);
    const given = database.all('select installation from apps').map((row) => text(row, 'installation'));
    assert.equal(new Set(given).size, 2);
    for (const each of given) assert.match(each, /^[0-9a-f]{24}$/);
    database.close();
  });
});
