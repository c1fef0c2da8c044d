import assert from 'node:assert/strict';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommandLine } from '../../../../language-server/src/cli/main.ts';
import { openProjects } from '../../../../language-server/src/project/nodeProjects.ts';
import { createEngineServices } from '../../../../language-server/src/services.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { writeApp } from '../../../support/appFolder.ts';

describe('command line: app', () => {
  const folder = useTemporaryFolder();
  let out: string[];
  let noted: string[];
  beforeEach(() => {
    out = [];
    noted = [];
  });
  const sallyport = async (...argv: string[]) => {
    out = [];
    noted = [];
    return runCommandLine(
      argv,
      {
        out: (line) => void out.push(line),
        note: (line) => void noted.push(line),
        isInteractive: false,
        hasColour: false,
        ask: async () => '',
      },
      {
        version: () => '1.2.3',
        interrupted: new AbortController().signal,
        openProjects: (path) => openProjects({ roots: [path] }),
        createServices: (projects, notify) =>
          createEngineServices({
            home: join(folder(), 'home'),
            trusted: true,
            projects,
            programs: '/nowhere',
            notify,
            onProblem: (problem) => void noted.push(problem),
          }),
      },
    );
  };
  const digestIn = (lines: readonly string[]) => /--accept ([0-9a-f]{64})/.exec(lines.join('\n'))?.[1] ?? '';

  it('[APPS-09] shows a review first, and installs what has exactly the digest of it', async () => {
    const app = writeApp(join(folder(), 'notes'));
    assert.equal(await sallyport('app', 'install', app), 3);
    assert.match(out.join('\n'), /notes {2}Notes {2}1\.0\.0/);
    const digest = digestIn(out);
    assert.equal(await sallyport('app', 'list'), 0);
    assert.deepEqual(out, ['No app is installed.']);

    assert.equal(await sallyport('app', 'install', app, '--accept', 'f'.repeat(64)), 3);
    assert.match(noted.join('\n'), /not what was reviewed/);
    writeFileSync(join(app, 'index.html'), '<p>other</p>');
    assert.equal(await sallyport('app', 'install', app, '--accept', digest), 3, 'changed since the review');

    assert.equal(await sallyport('app', 'install', app, '--accept', digestIn(out)), 0);
    assert.equal(await sallyport('app', 'list', '--json'), 0);
    assert.match(out[0] ?? '', /"appVersion":"1\.0\.0"/);
  });

  it('[APPS-09] reviews without keeping, updates, exports and deletes', async () => {
    const app = writeApp(join(folder(), 'notes'));
    assert.equal(await sallyport('app', 'review', app), 0);
    assert.match(out.at(-1) ?? '', /^Digest: [0-9a-f]{64}$/);
    await sallyport('app', 'install', app);
    await sallyport('app', 'install', app, '--accept', digestIn(out));
    assert.equal(await sallyport('app', 'update', 'notes'), 0);
    assert.deepEqual(out, ['It is up to date.']);

    writeApp(app, { appVersion: '1.1.0', permissions: { generate: ['text'] } });
    assert.equal(await sallyport('app', 'update', 'notes'), 3);
    assert.match(out.join('\n'), /Ask a connected model for text {2}\[new\]/);
    assert.equal(await sallyport('app', 'update', 'notes', '--accept', digestIn(out)), 0);

    const backup = join(folder(), 'notes.backup');
    assert.equal(await sallyport('app', 'export', 'notes', backup), 0);
    assert.equal(statSync(backup).mode & 0o777, 0o600);
    assert.equal(await sallyport('app', 'delete', 'notes'), 3);
    assert.equal(await sallyport('app', 'delete', 'notes', '--yes'), 0);
    assert.match(out.join('\n'), /can be brought back/);
  });

  it('says what is wrong with what was typed', async () => {
    mkdirSync(join(folder(), 'empty'));
    assert.equal(await sallyport('app', 'review', join(folder(), 'empty')), 2);
    assert.match(noted.join('\n'), /no app\.json/);
    assert.equal(await sallyport('app', 'review', join(folder(), 'missing')), 2);
    assert.match(noted.join('\n'), /no folder/);
    assert.equal(await sallyport('app', 'paint', 'x'), 2);
    assert.equal(await sallyport('app', 'export', 'notes', 'x'), 2);
    assert.equal(await sallyport('app', 'review', 'file:///etc'), 5);
  });
});
