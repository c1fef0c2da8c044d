import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TakeRepository } from '../../../../language-server/src/apps/sources/gitSource.ts';
import { TreeBuilder } from '../../../../language-server/src/apps/tree/frozenTree.ts';
import { createBlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { openApps, type AppsHarness } from '../../../support/appsHarness.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const never = new AbortController().signal;
const entry = {
  id: 'notes',
  name: 'No\u200btes',
  description: 'x',
  url: 'https://host.example/notes',
  ref: 'v1',
};

describe('the list of apps', () => {
  const folder = useTemporaryFolder();
  let index: unknown;
  let harness: AppsHarness;
  beforeEach(() => {
    index = { version: 1, apps: [entry] };
    const takeRepository: TakeRepository = async () => {
      const builder = new TreeBuilder(createBlobStore(join(folder(), 'home', 'apps', 'blobs')));
      if (index !== undefined)
        builder.add('index.json', Buffer.from(typeof index === 'string' ? index : JSON.stringify(index)));
      return { code: builder.finish(), commit: 'a'.repeat(40) };
    };
    harness = openApps(folder(), { takeRepository });
  });
  afterEach(() => harness.close());
  const list = async (confirm?: string) =>
    harness.apps.handlers['appStore/list'](
      { index: 'https://host.example/index', progressId: 'p', ...(confirm !== undefined && { confirm }) },
      never,
    );

  it('[APPS-01] is confirmed by a person once, by its digest, and keeps nothing of the index', async () => {
    let digest = '';
    await assert.rejects(list(), (error: { code?: string; data?: { digest?: string; apps?: number } }) => {
      assert.equal(error.code, 'permission-needed');
      assert.equal(error.data?.apps, 1);
      digest = error.data.digest ?? '';
      return true;
    });
    index = { version: 1, apps: [entry, { ...entry, id: 'other' }] };
    await assert.rejects(list(digest), { code: 'permission-needed' }, 'it is another list now');
    index = { version: 1, apps: [entry] };
    const [found] = await list(digest);
    assert.deepEqual([found?.name, found?.isInstalled], ['No\\u{200B}tes', false]);
    assert.equal((await list()).length, 1, 'known from then on');
    assert.deepEqual([...harness.blobs.list()], []);
  });

  const bad: readonly (readonly [string, unknown])[] = [
    ['no file', undefined],
    ['no JSON', '{'],
    ['another version', { version: 2, apps: [] }],
    ['an unknown key', { version: 1, apps: [], run: 'x' }],
    ['a local address', { version: 1, apps: [{ ...entry, url: 'file:///etc' }] }],
    ['a program', { version: 1, apps: [{ ...entry, url: 'ext::sh -c x' }] }],
    ['an option', { version: 1, apps: [{ ...entry, ref: '--upload-pack=x' }] }],
    ['a bad id', { version: 1, apps: [{ ...entry, id: '../x' }] }],
  ];
  for (const [name, value] of bad)
    it(`[APPS-08] refuses a list with ${name}`, async () => {
      index = value;
      await assert.rejects(list(), { code: 'bad-app' });
    });
});
