import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { limits } from '../../../../protocol/src/limits.ts';
import { isUnchanged, readManifest } from '../../../../language-server/src/project/readManifest.ts';
import { asOrdinaryUser, useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('readManifest [MAN-09]', () => {
  const temporary = useTemporaryFolder();
  const path = () => join(temporary(), '_card.json');
  const later = () => Date.now() + 60_000;
  const codeOf = (file: string) => {
    const found = readManifest(file);
    return found.kind === 'problem' ? found.problem.code : found.kind;
  };

  it('reads text, and without the byte order mark', () => {
    writeFileSync(path(), '\ufeff{}');
    const found = readManifest(path());
    assert.equal(found.kind === 'text' && found.text, '{}');
  });

  it('names what is no readable file', async () => {
    assert.equal(codeOf(path()), 'absent');
    assert.equal(codeOf(join(path(), 'below')), 'absent');
    mkdirSync(path());
    assert.equal(codeOf(path()), 'not-a-file');
    const link = join(temporary(), 'link');
    symlinkSync('/etc/hostname', link);
    assert.equal(codeOf(link), 'not-a-file');
    const circle = join(temporary(), 'circle');
    symlinkSync(circle, circle);
    assert.equal(codeOf(circle), 'not-a-file');
    const locked = join(temporary(), 'locked');
    writeFileSync(locked, '{}');
    chmodSync(locked, 0);
    await asOrdinaryUser(temporary(), async () => assert.equal(codeOf(locked), 'unreadable'));
  });

  it('does not wait on a pipe that nobody writes to', () => {
    execFileSync('mkfifo', [path()]);
    assert.equal(codeOf(path()), 'not-a-file');
  });

  it('refuses a file over the limit without reading it, also one that says it is empty', () => {
    writeFileSync(path(), 'x'.repeat(limits.manifestBytes));
    assert.equal(codeOf(path()), 'text');
    appendFileSync(path(), 'x');
    assert.equal(codeOf(path()), 'too-large');
    writeFileSync(path(), Buffer.alloc(10 * 1024 * 1024, 'x'));
    assert.equal(codeOf(path()), 'too-large');
    if (process.platform === 'linux') assert.ok(['text', 'not-utf8'].includes(codeOf('/proc/self/status')));
  });

  it('refuses bytes that are not UTF-8', () => {
    for (const bytes of [
      [0xff, 0xfe, 0x7b, 0],
      [0xc0, 0x80],
      [0xed, 0xa0, 0x80],
      [0x7b, 0xe2, 0x82],
    ]) {
      writeFileSync(path(), Uint8Array.from(bytes));
      assert.equal(codeOf(path()), 'not-utf8');
    }
  });

  it('trusts no signature of a file that was just written: the clock could hide a second change', () => {
    writeFileSync(path(), '{}');
    const fresh = readManifest(path(), () => Date.now());
    assert.ok(fresh.kind === 'text' && fresh.signature.key === undefined);
    assert.equal(isUnchanged(path(), fresh.signature), false);
    const settled = readManifest(path(), later);
    assert.ok(settled.kind === 'text');
    assert.equal(isUnchanged(path(), settled.signature), true);
    writeFileSync(path(), '[]');
    assert.equal(isUnchanged(path(), settled.signature), false);
  });
});
