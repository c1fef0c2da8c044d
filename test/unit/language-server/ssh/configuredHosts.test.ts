import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { configuredHosts } from '../../../../language-server/src/runners/ssh/configuredHosts.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const cases: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[]])[] = [
  ['nothing without a file', {}, []],
  ['names, and no patterns', { config: 'Host lab *.lab !gone lab? big\n  User me\n' }, ['lab', 'big']],
  ['each once, in order', { config: 'Host b\nHost a b\n' }, ['b', 'a']],
  ['any case, quotes and =', { config: 'hOST="one" two\n\tHost = three\r\n' }, ['one', 'two', 'three']],
  ['nothing of Match, comments and other words', { config: '# Host no\nMatch host x\nHostName y\n' }, []],
  ['no option and no command', { config: 'Host -oProxyCommand=x a;b $(c) `d` ok\n' }, ['ok']],
  [
    'what is included, by name and pattern, hidden files left out',
    {
      config: 'Include more\nInclude parts/*.conf\nHost last\n',
      more: 'Host first\n',
      'parts/b.conf': 'Host b\n',
      'parts/a.conf': 'Host a\n',
      'parts/.c.conf': 'Host c\n',
      'parts/d.txt': 'Host d\n',
    },
    ['first', 'a', 'b', 'last'],
  ],
  ['a circle once', { config: 'Include other\nHost a\n', other: 'Include config\nHost b\n' }, ['b', 'a']],
];

describe('hosts of the SSH configuration', () => {
  const folder = useTemporaryFolder();
  const writeAll = (files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder(), '.ssh', name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
  };
  for (const [what, files, expected] of cases) {
    it(`[PLACEUI-02] lists ${what}`, () => {
      writeAll(files);
      assert.deepEqual(configuredHosts(folder()), expected);
    });
  }

  it('[PLACEUI-02] waits for nothing that is no file, and reads none that is huge', () => {
    writeAll({ config: 'Include pipe huge\nHost a\n', huge: `Host b\n${'#'.repeat(1024 * 1024)}` });
    execFileSync('mkfifo', [join(folder(), '.ssh/pipe')]);
    assert.deepEqual(configuredHosts(folder()), ['a']);
  });
});
