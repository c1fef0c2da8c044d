import assert from 'node:assert/strict';
import { isHiddenFromShells } from '../../../../../language-server/src/agent/shell/controlFolders.ts';

describe('isHiddenFromShells', () => {
  it('[SHELL-03] knows a name by what a file system may take for it', () => {
    // The last two: a long s, and a joiner that HFS+ passes over.
    for (const name of ['.git', '.GIT', '.Ssh', '.npmrc', '.\u017fsh', '.g\u200Cit'])
      assert.equal(isHiddenFromShells(name), true, JSON.stringify(name));
    for (const name of ['git', '.gitignore', '.github', 'main.ts', ''])
      assert.equal(isHiddenFromShells(name), false, JSON.stringify(name));
  });
});
