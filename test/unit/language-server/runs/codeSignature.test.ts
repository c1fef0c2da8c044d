import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  isSettled,
  isUnchanged,
  signatureText,
  signCode,
} from '../../../../language-server/src/runs/codeSignature.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

describe('code signature', () => {
  const folder = useTemporaryFolder();
  const at = (path: string) => join(folder(), path);
  beforeEach(async () => {
    mkdirSync(at('lib/empty'), { recursive: true });
    mkdirSync(at('__pycache__'));
    for (const path of ['main.py', 'lib/one.py', '_card.json', '__pycache__/main.pyc'])
      writeFileSync(at(path), 'aaaa');
    // Past the tick of the kernel's clock in which all of it was made.
    const made = statSync(at('main.py')).ctimeMs;
    await until(() => Date.now() > made + 30);
  });

  /** What may be done to a card's code, each keeping as much as it can of what was. */
  const changes: readonly (readonly [string, () => void])[] = [
    ['a file is written over', () => writeFileSync(at('main.py'), 'bbbb')],
    [
      'a file is written over and its old time set again',
      () => {
        const { atime, mtime } = statSync(at('main.py'));
        writeFileSync(at('main.py'), 'bbbb');
        utimesSync(at('main.py'), atime, mtime);
      },
    ],
    ['a deep file is written over', () => writeFileSync(at('lib/one.py'), 'bbbb')],
    ['a file is added', () => writeFileSync(at('lib/two.py'), '')],
    ['a file is added in an empty folder', () => writeFileSync(at('lib/empty/two.py'), '')],
    ['a file is removed', () => rmSync(at('lib/one.py'))],
    ['a file is renamed', () => renameSync(at('main.py'), at('other.py'))],
    ['a file becomes executable', () => chmodSync(at('main.py'), 0o755)],
    [
      'a file is exchanged for a link',
      () => {
        rmSync(at('main.py'));
        symlinkSync('/etc/hostname', at('main.py'));
      },
    ],
    ['all is gone', () => rmSync(folder(), { recursive: true })],
  ];
  for (const [what, change] of changes) {
    it(`[FLOW-18] notices where ${what}`, () => {
      const before = signCode(folder());
      change();
      assert.equal(isUnchanged(before), false);
      assert.notEqual(signatureText(signCode(folder())), signatureText(before));
    });
  }

  it('[FLOW-18] is not disturbed by what is no code', () => {
    const before = signCode(folder());
    assert.equal(isUnchanged(before), true);
    writeFileSync(at('_card.json'), 'bbbb');
    writeFileSync(at('__pycache__/other.pyc'), 'bbbb');
    assert.equal(isUnchanged(before), true);
    assert.equal(signatureText(signCode(folder())), signatureText(before));
  });

  it('[FLOW-18] vouches for nothing that changed a moment ago', () => {
    writeFileSync(at('main.py'), 'cccc');
    const changed = statSync(at('main.py')).ctimeMs;
    assert.equal(isSettled(signCode(folder()), changed + 50), false);
    assert.equal(isSettled(signCode(folder()), changed + 1000), true);
  });
});
