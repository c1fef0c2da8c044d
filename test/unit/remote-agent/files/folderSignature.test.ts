import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { folderSignature } from '../../../../remote-agent/src/files/folderSignature.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('folderSignature', () => {
  const temporary = useTemporaryFolder();
  const at = (...parts: string[]): string => join(temporary(), 'card', ...parts);
  beforeEach(() => {
    mkdirSync(at('lib'), { recursive: true });
    writeFileSync(at('main.py'), 'print(1)');
    writeFileSync(at('lib/a.py'), 'A = 1');
  });

  it('stays the same while nothing changes', () => {
    assert.equal(folderSignature(at()), folderSignature(at()));
  });

  const changes: Record<string, () => void> = {
    'bytes of the same length': () => writeFileSync(at('main.py'), 'print(2)'),
    'bytes of the same length with the times put back': () => {
      const { atime, mtime } = statSync(at('lib/a.py'));
      writeFileSync(at('lib/a.py'), 'A = 2');
      utimesSync(at('lib/a.py'), atime, mtime);
    },
    'an added file': () => writeFileSync(at('lib/b.py'), ''),
    'an added folder': () => mkdirSync(at('lib/more')),
    'a removed file': () => rmSync(at('lib/a.py')),
    'a renamed file': () => renameSync(at('lib/a.py'), at('lib/b.py')),
    'a moved file': () => renameSync(at('lib/a.py'), at('a.py')),
    'a mode': () => chmodSync(at('main.py'), 0o755),
    'a file that became a link': () => {
      rmSync(at('main.py'));
      symlinkSync('lib/a.py', at('main.py'));
    },
    'a copy in the place of the folder': () => {
      cpSync(at('lib'), at('copy'), { recursive: true, preserveTimestamps: true });
      rmSync(at('lib'), { recursive: true });
      renameSync(at('copy'), at('lib'));
    },
  };
  for (const [title, change] of Object.entries(changes)) {
    it(`notices ${title}`, () => {
      const before = folderSignature(at());
      change();
      assert.notEqual(folderSignature(at()), before);
    });
  }

  it('looks into no link, and throws for a folder that is gone', () => {
    symlinkSync('/', at('root'));
    assert.ok(folderSignature(at()).length < 2000);
    assert.throws(() => folderSignature(at('gone')), { code: 'ENOENT' });
  });
});
