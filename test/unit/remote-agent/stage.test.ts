import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ArtifactRef } from '../../../protocol/src/artifacts.ts';
import { createBlobStore, type BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { captureFolder } from '../../../remote-agent/src/files/captureTree.ts';
import { makeStageFolders, stageJob } from '../../../remote-agent/src/stage.ts';
import { jobWith } from '../../support/jobs.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

describe('stage', () => {
  const temporary = useTemporaryFolder();
  let store: BlobStore;
  let code: ArtifactRef;
  let folder: string;
  beforeEach(async () => {
    store = createBlobStore(join(temporary(), 'blobs'));
    folder = join(temporary(), 'job');
    mkdirSync(join(temporary(), 'card/lib'), { recursive: true });
    writeFileSync(join(temporary(), 'card/main.sh'), 'true', { mode: 0o755 });
    writeFileSync(join(temporary(), 'card/lib/a'), 'a');
    code = await captureFolder(join(temporary(), 'card'), store);
  });
  const table = (): ArtifactRef => ({ kind: 'file', ...store.putBytes(Buffer.from('a,b\n')), files: 1 });

  it('copies code and inputs into folders that only this user may enter', async () => {
    const staged = await stageJob(
      store,
      jobWith({
        code,
        inputs: [
          { port: 'table', type: 'table', artifact: table() },
          { port: 'folder', type: 'directory', artifact: code },
        ],
      }),
      folder,
    );
    assert.equal(readFileSync(join(staged.codeFolder, 'lib/a'), 'utf8'), 'a');
    assert.equal(statSync(join(staged.codeFolder, 'main.sh')).mode & 0o777, 0o555);
    assert.deepEqual(readdirSync(staged.inputsFolder).sort(), ['folder', 'table']);
    assert.equal(readFileSync(join(staged.inputsFolder, 'table'), 'utf8'), 'a,b\n');
    assert.equal(readFileSync(join(staged.inputsFolder, 'folder/main.sh'), 'utf8'), 'true');
    assert.deepEqual(readdirSync(staged.outputsFolder), []);
    assert.equal(statSync(folder).mode & 0o777, 0o700);
  });

  it('[FILES-06] gives two ports of one artifact two copies', async () => {
    const artifact = table();
    const inputs = ['one', 'two'].map((port) => ({ port, type: 'table' as const, artifact }));
    const { inputsFolder } = await stageJob(store, jobWith({ code, inputs }), folder);
    const [one, two] = ['one', 'two'].map((port) => statSync(join(inputsFolder, port)));
    assert.notEqual(one!.ino, two!.ino);
    assert.deepEqual([one!.nlink, two!.nlink], [1, 1]);
    assert.notEqual(one!.ino, statSync(store.pathOf(artifact.digest)).ino);
  });

  it('fills folders that a standby sandbox holds already', async () => {
    const made = makeStageFolders(folder);
    const inode = statSync(made.codeFolder).ino;
    const staged = await stageJob(store, jobWith({ code }), folder, { prepared: true });
    assert.deepEqual(staged, made);
    assert.equal(statSync(staged.codeFolder).ino, inode);
    assert.equal(readFileSync(join(staged.codeFolder, 'main.sh'), 'utf8'), 'true');
  });

  it('never stages two jobs into one folder', async () => {
    await stageJob(store, jobWith({ code }), folder);
    await assert.rejects(stageJob(store, jobWith({ code }), folder), { code: 'unreadable' });
    await assert.rejects(stageJob(store, jobWith({ code }), folder, { prepared: true }), {
      code: 'conflict',
    });
  });

  it('[FILES-05] takes no port for a path', async () => {
    for (const port of ['../x', '/etc/x', '.', '..', '', 'a/b', 'A', 'x'.repeat(65)]) {
      const inputs = [{ port, type: 'table' as const, artifact: table() }];
      const outputs = [{ port, type: 'table' as const, optional: false }];
      await assert.rejects(stageJob(store, jobWith({ code, inputs }), folder), { code: 'bad-message' }, port);
      await assert.rejects(
        stageJob(store, jobWith({ code, outputs }), folder),
        { code: 'bad-message' },
        port,
      );
    }
    const twice = ['a', 'a'].map((port) => ({ port, type: 'table' as const, artifact: table() }));
    await assert.rejects(stageJob(store, jobWith({ code, inputs: twice }), folder), { code: 'bad-message' });
    assert.deepEqual(readdirSync(temporary()).sort(), ['blobs', 'card']);
  });

  it('gives everything to the user of the sandbox', async function () {
    if (process.getuid?.() !== 0) {
      console.log('      skipped: only root gives files away');
      this.skip();
    }
    const inputs = [{ port: 'table', type: 'table' as const, artifact: table() }];
    const staged = await stageJob(store, jobWith({ code, inputs }), folder, {
      owner: { uid: 4321, gid: 4322 },
    });
    const paths = ['', 'code', 'code/lib', 'code/lib/a', 'inputs', 'inputs/table', 'outputs'];
    for (const path of paths) assert.equal(statSync(join(staged.folder, path)).uid, 4321, path);
  });

  it('is cancelled', async () => {
    const staging = stageJob(store, jobWith({ code }), folder, { signal: AbortSignal.abort() });
    await assert.rejects(staging, { code: 'cancelled' });
  });
});
