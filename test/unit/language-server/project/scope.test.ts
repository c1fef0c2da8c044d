import assert from 'node:assert/strict';
import { cpSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectScope, type FolderIdentity } from '../../../../language-server/src/project/scope.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('projectScope [MAN-08]', () => {
  const temporary = useTemporaryFolder();
  const folder = (name: string) => join(temporary(), name);
  const base: FolderIdentity = { dev: 1n, ino: 2n, birthtimeNs: 3n, ctimeNs: 4n };
  const of = (change: Partial<FolderIdentity>, system = 'linux') =>
    projectScope('/x', () => ({ ...base, ...change }), system);

  it('stays with a folder that is renamed, written to or reached by a link', function () {
    mkdirSync(folder('a'));
    if (!keepsBirthTime(folder('a'))) {
      console.log('      skipped: the file system here keeps no birth time');
      this.skip();
    }
    const scope = projectScope(folder('a'));
    assert.ok(scope);
    assert.match(scope, /^[0-9a-f]{64}$/);
    writeFileSync(join(folder('a'), 'sallyport.json'), '{}');
    symlinkSync(folder('a'), folder('link'));
    assert.equal(projectScope(folder('link')), scope);
    renameSync(folder('a'), folder('b'));
    assert.equal(projectScope(folder('b')), scope);
  });

  it('is another for a copy and for a folder put in its place', function () {
    mkdirSync(folder('a'));
    if (!keepsBirthTime(folder('a'))) {
      console.log('      skipped: the file system here keeps no birth time');
      this.skip();
    }
    const scope = projectScope(folder('a'));
    assert.ok(scope);
    cpSync(folder('a'), folder('copy'), { recursive: true, preserveTimestamps: true });
    assert.notEqual(projectScope(folder('copy')), scope);
    rmSync(folder('a'), { recursive: true });
    mkdirSync(folder('a'));
    assert.notEqual(projectScope(folder('a')), scope);
  });

  it('depends on device, inode and birth time alone', () => {
    const scope = of({});
    assert.ok(scope);
    assert.equal(of({ ctimeNs: 99n }), scope);
    for (const change of [{ dev: 2n }, { ino: 3n }, { birthtimeNs: 4n }]) assert.notEqual(of(change), scope);
    assert.notEqual(of({ dev: 12n, ino: 3n }), of({ dev: 1n, ino: 23n }));
  });

  it('is none where the birth time is none', () => {
    assert.equal(of({ birthtimeNs: 0n }), null);
    assert.equal(of({ birthtimeNs: -1n }), null);
    assert.equal(of({ ino: 0n }), null);
    assert.equal(of({ birthtimeNs: 4n }, 'darwin'), null);
    assert.notEqual(of({ birthtimeNs: 4n }, 'linux'), null);
    assert.equal(projectScope(folder('nowhere')), null);
  });
});

/** Asked of the system itself, so that a scope which is none for another reason fails. */
function keepsBirthTime(path: string): boolean {
  writeFileSync(join(path, 'later'), '');
  const { birthtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return process.platform === 'linux' ? birthtimeNs > 0n : birthtimeNs !== ctimeNs;
}
