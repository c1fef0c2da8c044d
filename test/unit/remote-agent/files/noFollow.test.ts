import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  asFolder,
  openEntry,
  openFolder,
  readNames,
  type ChildrenBy,
  type OpenedFolder,
} from '../../../../remote-agent/src/files/noFollow.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const ways: readonly ChildrenBy[] = process.platform === 'linux' ? ['descriptor', 'path'] : ['path'];

for (const way of ways) {
  describe(`noFollow by ${way}`, () => {
    const temporary = useTemporaryFolder();
    const at = (...parts: string[]): string => join(temporary(), 'top', ...parts);
    let top: OpenedFolder;
    beforeEach(() => {
      mkdirSync(at('folder'), { recursive: true });
      writeFileSync(at('file'), 'own');
      writeFileSync(at('folder/inner'), 'inner');
      top = openFolder(at(), way);
    });
    afterEach(() => closeSync(top.descriptor));

    const read = (folder: OpenedFolder, name: string): string => {
      const entry = openEntry(folder, name);
      if (entry.kind !== 'file' && entry.kind !== 'directory') return entry.kind;
      try {
        return entry.kind === 'file' ? readFileSync(entry.descriptor, 'utf8') : entry.kind;
      } finally {
        closeSync(entry.descriptor);
      }
    };

    it('opens files and folders, and says what else there is', () => {
      symlinkSync('file', at('link'));
      symlinkSync('folder', at('folder-link'));
      execFileSync('mkfifo', [at('pipe')]);
      assert.deepEqual(
        ['file', 'folder', 'link', 'folder-link', 'pipe', 'gone'].map((name) => read(top, name)),
        ['own', 'directory', 'symlink', 'symlink', 'fifo', 'missing'],
      );
    });

    it('goes down into what it opened', () => {
      const entry = openEntry(top, 'folder');
      assert.ok(entry.kind === 'directory');
      const folder = asFolder(top, 'folder', entry);
      assert.deepEqual([...readNames(folder)].map(String), ['inner']);
      assert.equal(read(folder, 'inner'), 'inner');
      closeSync(entry.descriptor);
    });

    it('[FILES-03] reads nothing from what took the place of an open folder', () => {
      mkdirSync(join(temporary(), 'outside'));
      writeFileSync(join(temporary(), 'outside/file'), 'secret');
      renameSync(at(), join(temporary(), 'moved'));
      symlinkSync(join(temporary(), 'outside'), at());
      assert.equal(readFileSync(at('file'), 'utf8'), 'secret', 'the control');
      assert.equal(read(top, 'file'), way === 'descriptor' ? 'own' : 'other');
    });

    it('gives names as bytes, and closes the listing when the caller stops', () => {
      writeFileSync(Buffer.concat([Buffer.from(at('x')), Buffer.from([0xff])]), '');
      const names = [...readNames(top)].map((name) => name.toString('latin1'));
      assert.deepEqual(names.sort(), ['file', 'folder', 'x\xff']);
      for (let count = 0; count < 5000; count += 1) {
        for (const name of readNames(top)) {
          assert.ok(name.length > 0);
          break;
        }
      }
    });

    it('does not open a folder through a link', () => {
      symlinkSync(at(), join(temporary(), 'link'));
      assert.throws(() => openFolder(join(temporary(), 'link'), way));
    });
  });
}
