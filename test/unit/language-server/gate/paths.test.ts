import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../../../../protocol/src/errors.ts';
import { hostPathSystem, resolvePath } from '../../../../language-server/src/gate/paths.ts';
import { isProtectedPath } from '../../../../language-server/src/gate/protectedPaths.ts';

describe('resolvePath', () => {
  let top: string;
  let root: string;

  beforeEach(() => {
    top = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-paths-')));
    root = join(top, 'project');
    mkdirSync(join(root, 'src', 'deep'), { recursive: true });
    mkdirSync(join(top, 'elsewhere'));
    writeFileSync(join(root, 'src', 'main.ts'), '');
    writeFileSync(join(top, 'elsewhere', 'keys'), '');
    symlinkSync(join(top, 'elsewhere'), join(root, 'linked'));
    symlinkSync('main.ts', join(root, 'src', 'alias.ts'));
    symlinkSync(join(top, 'elsewhere', 'keys'), join(root, 'notes.md'));
    symlinkSync(join(top, 'nowhere'), join(root, 'dangling'));
    symlinkSync(root, join(top, 'door'));
  });

  afterEach(() => rmSync(top, { recursive: true, force: true }));

  it('[GATE-01] gives one answer for twenty spellings of one path', () => {
    const spellings = [
      'src/main.ts',
      './src/main.ts',
      'src//main.ts',
      'src/./main.ts',
      'src/deep/../main.ts',
      'src/deep/./../main.ts',
      '././src/main.ts',
      'src/../src/main.ts',
      'src/alias.ts',
      'src/deep/../alias.ts',
      './/src///alias.ts',
      '../project/src/main.ts',
      'src/deep/../../src/main.ts',
      'linked/../src/main.ts',
      `${root}/src/main.ts`,
      `${root}//src/main.ts`,
      `${root}/./src/alias.ts`,
      `${top}/door/src/main.ts`,
      `${top}/door/src/deep/../alias.ts`,
      `${top}/elsewhere/../project/src/main.ts`,
    ];
    assert.equal(new Set(spellings).size, 20);
    for (const spelling of spellings) {
      const { real, relative, exists, isOutside } = resolvePath(root, spelling);
      assert.deepEqual(
        { real, relative, exists, isOutside },
        { real: join(root, 'src', 'main.ts'), relative: 'src/main.ts', exists: true, isOutside: false },
        spelling,
      );
    }
  });

  it('[GATE-02] sees through links, also above a file that is yet to be made', () => {
    for (const asked of [
      'notes.md',
      'linked/keys',
      'linked/new.json',
      'linked/a/b/new',
      '../elsewhere/keys',
    ]) {
      assert.equal(resolvePath(root, asked).isOutside, true, asked);
    }
    assert.equal(resolvePath(root, 'notes.md').real, join(top, 'elsewhere', 'keys'));
    assert.equal(resolvePath(root, 'linked/new.json').real, join(top, 'elsewhere', 'new.json'));
  });

  it('[GATE-02] works on a project that is itself opened through a link', () => {
    const resolved = resolvePath(join(top, 'door'), 'src/new.ts');
    assert.deepEqual([resolved.real, resolved.isOutside], [join(root, 'src', 'new.ts'), false]);
  });

  it('[GATE-03] refuses spellings that mean different things in different places', () => {
    const bad = [
      '',
      'a\0b',
      'a\nb',
      'a\u001bb',
      'src\\main.ts',
      '..\\..\\etc',
      'C:/x',
      'file:///etc/passwd',
      'vscode-remote://host/x',
      'main.ts:stream',
      'main.ts::$DATA',
      'main.ts.',
      'main.ts ',
      'dir./x',
      'CON',
      'nul.txt',
      'sub/COM1',
      'lpt9.log',
      'PROGRA~1/x',
      '.vscod~1/settings.json',
      '~/.ssh/id',
      '\ud800',
      'dangling',
      'dangling/x',
    ];
    for (const asked of bad) {
      assert.throws(
        () => resolvePath(root, asked),
        (error) => error instanceof UserError && error.code === 'unsafe-path',
        JSON.stringify(asked),
      );
    }
  });

  it('[GATE-04] judges the real name: what a link hides is protected all the same', () => {
    mkdirSync(join(root, '.git'));
    symlinkSync('.git', join(root, 'data'));
    assert.equal(resolvePath(root, 'data/hooks/pre-commit').isProtected, true);
    assert.equal(resolvePath(root, 'src/main.ts').isProtected, false);
  });

  it('[GATE-04] takes the casing of a file system that folds it', () => {
    const folding = {
      ...hostPathSystem,
      lstat: (path: string) => hostPathSystem.lstat(path.replace('.VSCODE', '.vscode')),
      realpath: (path: string) => hostPathSystem.realpath(path.replace('.VSCODE', '.vscode')),
    };
    mkdirSync(join(root, '.vscode'));
    const resolved = resolvePath(root, '.VSCODE/settings.json', folding);
    assert.deepEqual([resolved.relative, resolved.isProtected], ['.vscode/settings.json', true]);
  });
});

describe('isProtectedPath', () => {
  it('[GATE-04] knows what decides over a machine or an agent, wherever it lies and however it is cased', () => {
    for (const path of [
      '.git/config',
      '.git',
      'vendor/sub/.git/hooks/pre-commit',
      '.vscode/settings.json',
      'nested/.VSCode/tasks.json',
      'x.code-workspace',
      '.devcontainer/devcontainer.json',
      '.github/workflows/ci.yml',
      'AGENTS.md',
      'docs/agents.md',
      'CLAUDE.md',
      '.claude/settings.local.json',
      '.cursor/mcp.json',
      '.roo/mcp.json',
      '.clinerules/x.md',
      '.mcp.json',
      '.husky/pre-commit',
      '.bashrc',
      '.npmrc',
      'package.json',
      'cards/load/_card.json',
      'apps/notes/app.json',
      'apps/notes/plugins/search/plugin.json',
      'sallyport.json',
      'SALLYPORT.JSON',
    ]) {
      assert.equal(isProtectedPath(path), true, path);
    }
    for (const path of [
      'src/main.ts',
      'git/config',
      'notes.md',
      'cards/load/main.py',
      '.github/README.md',
      'vscode/x',
    ]) {
      assert.equal(isProtectedPath(path), false, path);
    }
  });

  it('[GATE-04] knows a name by what a file system may take it for', () => {
    for (const path of [
      '.v\u017fcode/settings.json', // a long s
      'ma\u212Aefile', // the Kelvin sign
      'make\uFB01le', // a ligature of f and i
      '.g\u200Cit/config', // a joiner, which HFS+ passes over
      '.gi\uFEFFt/hooks/pre-commit',
      'x.code-work\u00ADspace',
      '.github/work\u2060flows/ci.yml',
    ]) {
      assert.equal(isProtectedPath(path), true, JSON.stringify(path));
    }
    assert.equal(isProtectedPath('stra\u00DFe/\u017Feite.md'), false);
  });

  it('[GATE-04] protects what it can’t judge', () => {
    assert.equal(isProtectedPath(undefined as unknown as string), true);
  });
});
