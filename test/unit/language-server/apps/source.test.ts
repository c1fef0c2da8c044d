import assert from 'node:assert/strict';
import { isOfficialSource, sourceKey } from '../../../../language-server/src/apps/sources/source.ts';
import { topFolder } from '../../../../language-server/src/apps/sources/topFolder.ts';
import type { AppSource } from '../../../../protocol/src/apps.ts';

const git = (url: string, ref?: string): AppSource => ({
  kind: 'git',
  url,
  ...(ref !== undefined && { ref }),
});

describe('sources of apps', () => {
  const same: readonly (readonly [string, string])[] = [
    ['https://host.example/a', 'https://host.example/a.git'],
    ['https://host.example/a/', 'https://HOST.example/a'],
    ['https://host.example:443/a', 'https://host.example/a'],
  ];
  for (const [a, b] of same)
    it(`[APPS-05] ${b} is the same place as ${a}`, () => assert.equal(sourceKey(git(a)), sourceKey(git(b))));

  it('[APPS-05] another host, path, scheme, user, branch or kind is another source', () => {
    const keys = [
      git('https://host.example/a'),
      git('https://host.example/A'),
      git('https://other.example/a'),
      git('https://host.example:8443/a'),
      git('ssh://host.example/a'),
      git('ssh://git@host.example/a'),
      git('https://host.example/a', 'main'),
      { kind: 'folder', path: '/a' },
      { kind: 'zip', path: '/a' },
      { kind: 'backup', path: '/a' },
    ].map((source) => sourceKey(source as AppSource));
    assert.equal(new Set(keys).size, keys.length);
  });

  it('[APPS-05] official is a repository of the record alone, never a copy of it', () => {
    const record = ['https://host.example/notes'];
    assert.equal(isOfficialSource(git('https://host.example/notes.git'), record), true);
    for (const source of [
      git('https://host.example/notes2'),
      git('https://host.example.evil.example/notes'),
      git('https://host.example@evil.example/notes'),
      git('ssh://host.example/notes'),
      { kind: 'folder', path: 'https://host.example/notes' },
      { kind: 'backup', path: 'https://host.example/notes' },
    ])
      assert.equal(isOfficialSource(source as AppSource, record), false, JSON.stringify(source));
    assert.equal(isOfficialSource(git('https://host.example/notes'), []), false);
  });

  it('finds the one folder that everything lies in', () => {
    assert.equal(topFolder(['app.json', 'x/app.json']), '');
    assert.equal(topFolder(['x/app.json', 'x/y/z']), 'x/');
    assert.equal(topFolder(['x/app.json', 'y/z']), '');
    assert.equal(topFolder(['x/y']), '');
    assert.equal(topFolder([]), '');
  });
});
