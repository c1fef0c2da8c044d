import assert from 'node:assert/strict';
import { join } from 'node:path';
import { UserError } from '../../../../protocol/src/errors.ts';
import { writeApp } from '../../../support/appFolder.ts';
import { useApps } from '../../../support/appsHarness.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('hosts of plugin.json', () => {
  const folder = useTemporaryFolder();
  const apps = useApps(folder);
  const stage = (host: string): Promise<unknown> => {
    const plugin = {
      version: 1,
      id: 'search',
      entry: 'index.js',
      permissions: { network: [host] },
      functions: {},
    };
    const files = {
      'plugins/search/plugin.json': JSON.stringify(plugin),
      'plugins/search/index.js': '',
    };
    const path = writeApp(join(folder(), 'source'), { plugins: ['search'] }, files);
    return apps().stage({ kind: 'folder', path });
  };

  for (const host of [
    'api.example.org',
    '*.example.org',
    'api.example.org:8443',
    '127.0.0.1:8080',
    'localhost:3000',
  ])
    it(`[PLUG-13] takes ${host}`, async () => {
      await stage(host);
    });

  for (const host of [
    '*',
    '*.com',
    '*.co.uk',
    '*.github.io',
    'example.org:0',
    'example.org:99999',
    '0x7f.1',
    '2130706433',
    '10.0.0.0/8',
    'https://example.org',
    'Example.org',
  ])
    it(`[PLUG-13] refuses ${host}, which nobody could review`, async () => {
      await assert.rejects(stage(host), (error) => error instanceof UserError && error.code === 'bad-app');
    });
});
