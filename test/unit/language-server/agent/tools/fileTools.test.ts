import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { FileToolHarness } from '../../../../support/fileToolHarness.ts';
import { useTemporaryFolder } from '../../../../support/temporaryFolder.ts';

const allow = () => 'allow-once' as const;

describe('file tools', () => {
  const folder = useTemporaryFolder();
  let tools: FileToolHarness;
  beforeEach(() => {
    tools = new FileToolHarness(folder());
    tools.give('read', 'write');
  });
  afterEach(() => tools.close());
  const text = (path: string) => readFileSync(tools.path(path), 'utf8');

  describe('edit', () => {
    it('replaces exact text that is there once', async () => {
      tools.write('a.txt', 'one\ntwo\nthree\n');
      const result = await tools.call('edit', { path: 'a.txt', edits: [{ old: 'two', new: '2' }] });
      assert.equal(result.state, 'done', result.text);
      assert.equal(text('a.txt'), 'one\n2\nthree\n');
      assert.deepEqual(
        result.changes?.map(({ path, kind, addedLines, removedLines }) => [
          path,
          kind,
          addedLines,
          removedLines,
        ]),
        [['a.txt', 'edit', 1, 1]],
      );
      await tools.turn('undo', { group: 'turn-1' });
      assert.equal(text('a.txt'), 'one\ntwo\nthree\n');
    });

    const refused: readonly [string, object, RegExp][] = [
      ['text that is not there', { edits: [{ old: 'four', new: '4' }] }, /is not in a\.txt/],
      [
        'text that is there twice',
        { edits: [{ old: 'o', new: '0' }] },
        /is in a\.txt 2 times \(lines 1, 2\)/,
      ],
      ['text that overlaps itself', { edits: [{ old: 'aa', new: 'b' }] }, /2 times/],
      ['nothing as the old text', { edits: [{ old: '', new: 'x' }] }, /old is empty/],
      ['no change', { edits: [{ old: 'two', new: 'two' }] }, /are the same/],
      [
        'a second edit that fails',
        {
          edits: [
            { old: 'one', new: '1' },
            { old: 'x', new: 'y' },
          ],
        },
        /Edit 2/,
      ],
      ['both forms', { edits: [{ old: 'one', new: '1' }], patch: 'x' }, /not both/],
      ['no form', {}, /path and edits, or patch/],
      ['something that is no argument', { edits: [{ old: 'one', new: '1' }], approved: true }, /do not fit/],
    ];
    for (const [what, args, message] of refused) {
      it(`refuses ${what}, and changes nothing`, async () => {
        tools.write('a.txt', 'one\ntwo\naaa\n');
        const result = await tools.call('edit', { path: 'a.txt', ...args });
        assert.equal(result.state, 'failed');
        assert.match(result.text, message);
        assert.equal(text('a.txt'), 'one\ntwo\naaa\n');
      });
    }

    it('keeps line breaks, byte order mark and permission bits', async () => {
      tools.write('a.sh', '\uFEFFone\r\ntwo\r\n');
      chmodSync(tools.path('a.sh'), 0o755);
      await tools.call('edit', { path: 'a.sh', edits: [{ old: 'one\ntwo', new: '1\n2\n3' }] });
      assert.equal(text('a.sh'), '\uFEFF1\r\n2\r\n3\r\n');
      assert.equal(statSync(tools.path('a.sh')).mode & 0o777, 0o755);
    });

    it('leaves mixed line breaks as they are', async () => {
      tools.write('a.txt', 'one\r\ntwo\nthree\n');
      await tools.call('edit', { path: 'a.txt', edits: [{ old: 'two', new: '2' }] });
      assert.equal(text('a.txt'), 'one\r\n2\nthree\n');
    });

    it('refuses what is no text', async () => {
      tools.write('a.bin', Buffer.from([0xff, 0xfe, 0, 1]));
      const result = await tools.call('edit', { path: 'a.bin', edits: [{ old: 'a', new: 'b' }] });
      assert.match(result.text, /not UTF-8 text/);
    });

    it('does not touch the other name of a hard link', async () => {
      writeFileSync(tools.outside('other'), 'one');
      linkSync(tools.outside('other'), tools.path('a.txt'));
      await tools.call('edit', { path: 'a.txt', edits: [{ old: 'one', new: 'evil' }] });
      assert.equal(text('a.txt'), 'evil');
      assert.equal(readFileSync(tools.outside('other'), 'utf8'), 'one');
    });

    it('refuses what changed between asking and doing', async () => {
      tools.write('.vscode/settings.json', '{"a": 1}');
      const args = { path: '.vscode/settings.json', edits: [{ old: '1', new: '2' }] };
      const result = await tools.call('edit', args, () => {
        tools.write('.vscode/settings.json', '{"a": 1, "b": 1}');
        return 'allow-once';
      });
      assert.equal(result.refusal, 'changed');
      assert.equal(text('.vscode/settings.json'), '{"a": 1, "b": 1}');
    });

    for (const [what, dirty] of [
      ['is open with unsaved changes', async (paths: readonly string[]) => paths],
      ['may be open with unsaved changes', () => Promise.reject(new Error('no editor answers'))],
    ] as const) {
      it(`refuses a file that ${what}`, async () => {
        tools.write('a.txt', 'one');
        tools.dirty = dirty;
        const result = await tools.call('edit', { path: 'a.txt', edits: [{ old: 'one', new: '1' }] });
        assert.equal(result.state, 'failed');
        assert.equal(text('a.txt'), 'one');
      });
    }

    const patches: readonly [string, string, Record<string, string | null>][] = [
      [
        'a unified diff over two files, one new and one gone',
        '--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n--- /dev/null\n+++ b/new/n.txt\n@@ -0,0 +1,2 @@\n+x\n+y\n--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n',
        { 'a.txt': 'one\n2\nthree\n', 'new/n.txt': 'x\ny\n', 'b.txt': null },
      ],
      [
        'a unified diff whose lines moved',
        '--- a.txt\n+++ a.txt\n@@ -7,1 +7,1 @@\n-two\n+2\n',
        { 'a.txt': 'one\n2\nthree\n' },
      ],
      [
        'a missing line break at the end',
        '--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+c\n\\ No newline at end of file\n',
        { 'b.txt': 'c' },
      ],
      [
        'the marked form with a move',
        '*** Begin Patch\n*** Update File: a.txt\n*** Move to: c/moved.txt\n@@ one\n-two\n+2\n*** Add File: n.txt\n+new\n*** Delete File: b.txt\n*** End Patch\n',
        { 'a.txt': null, 'c/moved.txt': 'one\n2\nthree\n', 'n.txt': 'new\n', 'b.txt': null },
      ],
      [
        'the marked form at the end of a file',
        '*** Begin Patch\n*** Update File: a.txt\n@@\n three\n+four\n*** End of File\n*** End Patch\n',
        { 'a.txt': 'one\ntwo\nthree\nfour\n' },
      ],
    ];
    for (const [what, patch, expected] of patches) {
      it(`does ${what}, and takes it back`, async () => {
        tools.write('a.txt', 'one\ntwo\nthree\n');
        tools.write('b.txt', 'b\n');
        const result = await tools.call('edit', { patch });
        assert.equal(result.state, 'done', result.text);
        for (const [path, content] of Object.entries(expected))
          assert.equal(existsSync(tools.path(path)) ? text(path) : null, content, path);
        await tools.turn('undo', { group: 'turn-1' });
        assert.equal(text('a.txt'), 'one\ntwo\nthree\n');
        assert.equal(text('b.txt'), 'b\n');
        assert.deepEqual(readdirSync(tools.root).sort(), ['a.txt', 'b.txt', 'sallyport.json']);
      });
    }

    const badPatches: readonly [string, string, RegExp][] = [
      ['neither form', 'change a to b', /neither a unified diff/],
      ['no end', '*** Begin Patch\n*** Delete File: a.txt\n', /without \*\*\* End Patch/],
      ['wrong counts', '--- a.txt\n+++ a.txt\n@@ -1,9 +1,9 @@\n one\n', /fewer lines/],
      ['lines that are not there', '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-x\n+y\n', /not there exactly/],
      ['an ambiguous place', '*** Begin Patch\n*** Update File: a.txt\n-same\n+x\n*** End Patch', /2 times/],
      [
        'a file twice',
        '--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+1\n--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n+2\n',
        /named twice/,
      ],
      ['a new file that is there', '--- /dev/null\n+++ a.txt\n@@ -0,0 +1 @@\n+x\n', /there already/],
      [
        'permission bits',
        'diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n',
        /neither a unified/,
      ],
    ];
    for (const [what, patch, message] of badPatches) {
      it(`refuses a patch with ${what}, and changes nothing`, async () => {
        tools.write('a.txt', 'one\nsame\nsame\n');
        const result = await tools.call('edit', { patch });
        assert.equal(result.state, 'failed');
        assert.match(result.text, message);
        assert.equal(text('a.txt'), 'one\nsame\nsame\n');
      });
    }
  });

  describe('create, rename, delete', () => {
    it('makes a file, executable where asked, and never replaces one', async () => {
      await tools.call('create', { path: 'x/run.sh', text: '#!/bin/sh\n', executable: true });
      assert.equal(statSync(tools.path('x/run.sh')).mode & 0o777, 0o755);
      const again = await tools.call('create', { path: 'x/run.sh', text: 'other' });
      assert.match(again.text, /is there already/);
      assert.equal(text('x/run.sh'), '#!/bin/sh\n');
    });

    it('moves a folder with all that is in it, and back', async () => {
      tools.write('from/a.txt', 'a');
      tools.write('from/deep/b.sh', 'b');
      chmodSync(tools.path('from/deep/b.sh'), 0o700);
      symlinkSync('a.txt', tools.path('from/link'));
      const result = await tools.call('rename', { from: 'from', to: 'to/here' });
      assert.equal(result.state, 'done', result.text);
      assert.equal(existsSync(tools.path('from')), false);
      assert.equal(text('to/here/link'), 'a');
      assert.equal(statSync(tools.path('to/here/deep/b.sh')).mode & 0o777, 0o700);
      const { changes } = await tools.list();
      const one = changes.find(({ path }) => path === 'to/here/a.txt');
      // One end of a rename brings the other with it.
      await tools.turn('undo', { changeIds: [one?.id ?? ''] });
      assert.equal(text('from/deep/b.sh'), 'b');
      assert.equal(existsSync(tools.path('to/here/a.txt')), false);
    });

    for (const [from, to, message] of [
      ['a.txt', 'b.txt', /is there already/],
      ['d', 'd/below', /into itself/],
      ['a.txt', 'a.txt', /the same/],
      ['missing', 'x', /not there/],
      ['.', 'x', /names no file/],
      ['a.txt', 'dangling', /is there already|leads nowhere/],
    ] as const) {
      it(`refuses to rename ${from} to ${to}`, async () => {
        tools.write('a.txt', 'a');
        tools.write('b.txt', 'b');
        mkdirSync(tools.path('d'));
        symlinkSync('/nowhere', tools.path('dangling'));
        const result = await tools.call('rename', { from, to });
        assert.notEqual(result.state, 'done');
        assert.match(result.text, message);
        assert.equal(text('b.txt'), 'b');
      });
    }

    it('deletes a link and not what it leads to', async () => {
      writeFileSync(tools.outside('kept'), 'kept');
      symlinkSync(tools.outside('kept'), tools.path('link'));
      const result = await tools.call('delete', { path: 'link' });
      assert.equal(result.state, 'done', result.text);
      assert.ok(existsSync(tools.outside('kept')));
      await tools.turn('undo', { group: 'turn-1' });
      assert.ok(lstatSync(tools.path('link')).isSymbolicLink());
    });

    it('deletes a folder with links to elsewhere and leaves elsewhere alone', async () => {
      mkdirSync(tools.outside('elsewhere'));
      writeFileSync(tools.outside('elsewhere/file'), 'kept');
      mkdirSync(tools.path('d'));
      symlinkSync(tools.outside('elsewhere'), tools.path('d/link'));
      assert.equal((await tools.call('delete', { path: 'd' })).state, 'done');
      assert.ok(existsSync(tools.outside('elsewhere/file')));
    });
  });

  describe('list, read, search, symbols, diagnostics', () => {
    beforeEach(() => {
      tools.write('.gitignore', '*.log\nbuild/\n!keep.log\n/top.txt\n');
      tools.write('a.log', 'needle');
      tools.write('keep.log', 'needle');
      tools.write('build/x.txt', 'needle');
      tools.write('src/top.txt', 'Needle in capitals');
      tools.write('src/deep/code.ts', 'export class Thing {}\nfunction helper() {}\n');
      tools.write('top.txt', 'needle');
      tools.write('src/.gitignore', 'deep/*.tmp\n');
      tools.write('src/deep/x.tmp', 'needle');
      writeFileSync(tools.outside('secret'), 'needle');
      symlinkSync(tools.outside('secret'), tools.path('src/out'));
    });

    it('lists what .gitignore files leave', async () => {
      const { text: shown } = await tools.call('list', { depth: 5 });
      const names = shown.split('\n').map((line) => line.split('  ')[0]);
      assert.deepEqual(names, [
        '.gitignore',
        'keep.log',
        'sallyport.json',
        'src/',
        'src/.gitignore',
        'src/deep/',
        'src/deep/code.ts',
        'src/out',
        'src/top.txt',
      ]);
      assert.match(shown, /src\/out {2}\(symlink\)/);
      const all = await tools.call('list', { depth: 5, ignored: true });
      assert.match(all.text, /build\/x\.txt/);
    });

    for (const [engine, program] of [
      ['our own search', null],
      ['ripgrep', '/usr/bin/rg'],
    ] as const) {
      it(`finds text with ${engine}, in nothing that is ignored or linked`, async function () {
        if (program !== null && !existsSync(program)) {
          console.log('      no ripgrep here');
          this.skip();
        }
        const own = new FileToolHarness(folder(), { ripgrep: program });
        own.give('read');
        const result = await own.call('search', { pattern: 'needle' });
        assert.deepEqual(result.text.split('\n').slice(1), ['keep.log:1: needle'], result.text);
        const loose = await own.call('search', {
          pattern: 'n[e]+dle',
          regexp: true,
          ignore_case: true,
          path: 'src',
        });
        assert.deepEqual(loose.text.split('\n').slice(1), ['src/top.txt:1: Needle in capitals'], loose.text);
        const option = await own.call('search', { pattern: '--pre=/bin/sh' });
        assert.match(option.text, /^0 lines found/);
        own.close();
      });
    }

    it('ends a regular expression that takes exponential time', async () => {
      tools.write('long.txt', `${'a'.repeat(40)}!\n`);
      const result = await tools.call('search', { pattern: '(a+)+$', regexp: true });
      assert.match(result.text, /takes too long/);
    });

    it('reads ranges, long files in part, and says what it can’t show', async () => {
      tools.write('n.txt', Array.from({ length: 9000 }, (_, index) => `line ${index + 1}\n`).join(''));
      const part = await tools.call('read', { path: 'n.txt', from_line: 3, to_line: 4 });
      assert.equal(part.text.split('\n').slice(1).join('|'), '3\tline 3|4\tline 4');
      const whole = await tools.call('read', { path: 'n.txt' });
      assert.match(whole.text, /1\tline 1\n/);
      assert.match(whole.text, /lines left out/);
      assert.match(whole.text, /9000\tline 9000$/);
      tools.write('p.png', Buffer.from('\x89PNG\r\n\x1A\n\0\0\0\0', 'latin1'));
      assert.match((await tools.call('read', { path: 'p.png' })).text, /an image \(image\/png, 12 bytes\)/);
      assert.match((await tools.call('read', { path: 'src' })).text, /a folder/);
    });

    it('asks before it reads outside, links included, and shows where it leads', async () => {
      const result = await tools.call('read', { path: 'src/out' });
      assert.equal(result.refusal, 'declined');
      assert.equal(result.asked?.rule.id, 'read-outside');
      assert.ok(result.asked.lines[0]?.startsWith(tools.outside('secret')));
      const allowed = await tools.call('read', { path: 'src/out' }, allow);
      assert.match(allowed.text, /1\tneedle/);
    });

    it('outlines a file and says how', async () => {
      const result = await tools.call('symbols', { path: 'src/deep/code.ts' });
      assert.match(result.text, /by patterns/);
      assert.match(result.text, /1\tclass Thing\n2\tfunction helper/);
    });

    it('lists the problems of manifests', async () => {
      tools.write('cards/bad/_card.json', '{"version": 1}');
      const result = await tools.call('diagnostics', {});
      assert.match(result.text, /cards\/bad\/_card\.json:1 error/);
    });
  });

  describe('what an agent may not write', () => {
    const attacks: readonly [string, () => readonly [string, object]][] = [
      [
        'through a link to a file',
        () => ['edit', { path: 'notes.md', edits: [{ old: 'mine', new: 'evil' }] }],
      ],
      ['a new file below a linked folder', () => ['create', { path: 'linked/new.json', text: 'x' }]],
      ['with ..', () => ['create', { path: '../new.json', text: 'x' }]],
      ['by an absolute path', () => ['create', { path: tools.outside('new.json'), text: 'x' }]],
      ['by a patch', () => ['edit', { patch: '--- /dev/null\n+++ ../new.json\n@@ -0,0 +1 @@\n+x\n' }]],
      [
        'by a patch that moves',
        () => [
          'edit',
          { patch: '*** Begin Patch\n*** Update File: in.txt\n*** Move to: ../new.json\n*** End Patch' },
        ],
      ],
      ['by a rename', () => ['rename', { from: 'in.txt', to: 'linked/new.json' }]],
      ['a file below a linked folder, away', () => ['delete', { path: 'linked/kept' }]],
    ];
    for (const [what, call] of attacks) {
      it(`[UNDO-04] refuses to write outside: ${what}`, async () => {
        mkdirSync(tools.outside('elsewhere'));
        writeFileSync(tools.outside('elsewhere/kept'), 'mine');
        symlinkSync(tools.outside('elsewhere/kept'), tools.path('notes.md'));
        symlinkSync(tools.outside('elsewhere'), tools.path('linked'));
        tools.write('in.txt', 'x');
        const [name, args] = call();
        const result = await tools.call(name, args, allow);
        assert.notEqual(result.state, 'done', result.text);
        assert.equal(result.asked, undefined);
        assert.deepEqual(readdirSync(tools.outside('elsewhere')), ['kept']);
        assert.equal(readFileSync(tools.outside('elsewhere/kept'), 'utf8'), 'mine');
        assert.equal(existsSync(tools.outside('new.json')), false);
      });
    }

    const spellings = [
      'a\\b',
      'C:\\x',
      'c:x',
      'file.txt:stream',
      'CON',
      'aux.txt',
      'dir/nul',
      'PROGRA~1',
      'x.',
      'x ',
      'a /b',
      'a\0b',
      'a\nb',
      '~/x',
      'file:///etc/x',
      '',
      'com1.log',
      '\\\\?\\C:\\x',
      '//server/share:x',
    ];
    for (const path of spellings) {
      it(`refuses the spelling ${JSON.stringify(path)} in every tool that writes`, async () => {
        tools.write('in.txt', 'x');
        const calls: [string, object][] = [
          ['create', { path, text: 'x' }],
          ['edit', { path, edits: [{ old: 'a', new: 'b' }] }],
          ['rename', { from: 'in.txt', to: path }],
          ['rename', { from: path, to: 'y' }],
          ['delete', { path }],
        ];
        for (const [name, args] of calls) {
          const result = await tools.call(name, args, allow);
          assert.equal(result.state, 'failed', `${name}: ${result.text}`);
        }
        assert.deepEqual(readdirSync(tools.root).sort(), ['in.txt', 'sallyport.json']);
      });
    }

    const protectedCalls: readonly [string, string, object][] = [
      ['create', 'create', { path: '.cursor/mcp.json', text: '{}' }],
      ['create in other casing', 'create', { path: '.VSCode/Tasks.json', text: '{}' }],
      ['create below a folder of that name', 'create', { path: 'sub/.git/hooks/pre-commit', text: 'x' }],
      ['edit', 'edit', { path: '.vscode/settings.json', edits: [{ old: '{}', new: '{"x":1}' }] }],
      ['edit through a link', 'edit', { path: 'harmless.txt', edits: [{ old: '{}', new: '{"x":1}' }] }],
      [
        'edit through a linked folder',
        'edit',
        { path: 'dots/settings.json', edits: [{ old: '{}', new: '1' }] },
      ],
      ['create below a linked folder', 'create', { path: 'dots/tasks.json', text: '{}' }],
      ['patch that adds', 'edit', { patch: '*** Begin Patch\n*** Add File: AGENTS.md\n+x\n*** End Patch' }],
      [
        'patch that moves onto',
        'edit',
        { patch: '*** Begin Patch\n*** Update File: in.txt\n*** Move to: CLAUDE.md\n*** End Patch' },
      ],
      ['rename onto', 'rename', { from: 'in.txt', to: 'x.code-workspace' }],
      ['rename of a folder onto', 'rename', { from: 'plain', to: '.github' }],
      ['rename away', 'rename', { from: '.vscode', to: 'other' }],
      ['delete', 'delete', { path: '.vscode/settings.json' }],
      ['delete of a folder around', 'delete', { path: 'plain2' }],
    ];
    for (const [what, name, args] of protectedCalls) {
      it(`asks for a protected file whatever was granted: ${what}`, async () => {
        tools.write('.vscode/settings.json', '{}');
        tools.write('in.txt', 'x\n');
        tools.write('plain/workflows/ci.yml', 'x');
        tools.write('plain2/deep/package.json', '{}');
        symlinkSync('.vscode/settings.json', tools.path('harmless.txt'));
        symlinkSync('.vscode', tools.path('dots'));
        const declined = await tools.call(name, args);
        assert.equal(declined.refusal, 'declined', declined.text);
        assert.equal(declined.asked?.rule.id, 'protected');
        assert.ok(declined.asked.lines.some((line) => line.startsWith('PROTECTED ')));
        assert.equal(text('.vscode/settings.json'), '{}');
        // The control: allowed, the same call does it.
        assert.equal((await tools.call(name, args, allow)).state, 'done');
      });
    }

    it('shows the whole difference, and binds the answer to it', async () => {
      tools.write('.vscode/settings.json', `{\n${'  "a": 1,\n'.repeat(300)}}`);
      const lines = '\n  "chat.tools.autoApprove": true,'.repeat(200);
      const args = { path: '.vscode/settings.json', edits: [{ old: '{', new: `{${lines}` }] };
      const { asked } = await tools.call('edit', args);
      assert.equal(asked?.fullText?.match(/^\+.*autoApprove/gm)?.length, 200);
      assert.ok(asked.lines[0]?.includes(tools.path('.vscode/settings.json')));
    });

    it('flags what can’t be seen in a difference', async () => {
      const { asked } = await tools.call('create', { path: 'AGENTS.md', text: 'be\u{E0041}nice\u202E\n' });
      assert.equal(asked?.isFlagged, true);
      assert.match(asked.fullText ?? '', /\\u\{E0041\}nice\\u\{202E\}/);
    });

    it('says nothing is done in an untrusted workspace', async () => {
      tools.gate.trusted = false;
      const result = await tools.call('create', { path: 'a.txt', text: 'x' }, allow);
      assert.equal(result.refusal, 'denied');
      assert.equal(existsSync(tools.path('a.txt')), false);
    });

    it('does not follow a link that comes between the asking and the doing', async () => {
      tools.write('d/AGENTS.md', 'x');
      mkdirSync(tools.outside('elsewhere'));
      writeFileSync(tools.outside('elsewhere/AGENTS.md'), 'x');
      const args = { path: 'd/AGENTS.md', edits: [{ old: 'x', new: 'evil' }] };
      const result = await tools.call('edit', args, () => {
        rmSync(tools.path('d'), { recursive: true });
        symlinkSync(tools.outside('elsewhere'), tools.path('d'));
        return 'allow-once';
      });
      assert.notEqual(result.state, 'done');
      assert.equal(readFileSync(tools.outside('elsewhere/AGENTS.md'), 'utf8'), 'x');
    });
  });

  describe('project_save', () => {
    const manifest = { version: 1, title: 'A', runtime: 'python', entry: 'main.py' };
    const save = (overrides: object = {}) => ({
      card: 'new-card',
      manifest,
      files: [{ path: 'main.py', text: 'print(1)\n' }],
      ...overrides,
    });

    it('saves a card in one act, and takes it back', async () => {
      const result = await tools.call('project_save', save());
      assert.equal(result.state, 'done', result.text);
      assert.equal(result.asked, undefined);
      assert.equal(text('cards/new-card/main.py'), 'print(1)\n');
      await tools.turn('undo', { group: 'turn-1' });
      assert.equal(existsSync(tools.path('cards')), false);
    });

    it('asks for each permission that widens, whatever was granted, and records exactly those', async () => {
      const asking = save({
        manifest: { ...manifest, permissions: { network: ['example.org', 'example.com'] } },
      });
      const declined = await tools.call('project_save', asking);
      assert.equal(declined.refusal, 'declined');
      assert.equal(declined.asked?.rule.id, 'widening');
      assert.deepEqual(
        declined.asked.permissions.map(({ key }) => key),
        ['network:example.com', 'network:example.org'],
      );
      assert.equal(existsSync(tools.path('cards/new-card')), false);
      assert.deepEqual([...tools.consents.accepted(tools.root)], []);
      const allowed = await tools.call('project_save', asking, allow);
      assert.match(allowed.text, /Allowed by a person: Reach example\.com/);
      assert.equal(tools.consents.accepted(tools.root).get('new-card')?.length, 2);
      // Nothing new is asked for: nothing is asked.
      assert.equal((await tools.call('project_save', { ...asking, files: [] })).asked, undefined);
      const more = save({ manifest: { ...manifest, permissions: { network: true } } });
      assert.deepEqual(
        (await tools.call('project_save', more)).asked?.permissions.map(({ key }) => key),
        ['network:*'],
      );
    });

    it('counts the permissions of nested cards', async () => {
      const inner = { ...manifest, permissions: { sandbox: false } };
      const nested = save({ files: [{ path: 'inner/_card.json', text: JSON.stringify(inner) }] });
      const result = await tools.call('project_save', nested);
      assert.deepEqual(
        result.asked?.permissions.map(({ key }) => key),
        ['unsandboxed'],
      );
    });

    const refused: readonly [string, object, RegExp][] = [
      ['a manifest with faults', { manifest: { version: 1 } }, /has faults/],
      ['a field that no card has', { manifest: { ...manifest, safe: true } }, /has faults/],
      [
        'a second manifest in other casing',
        { files: [{ path: '_CARD.json', text: '{}' }] },
        /name of a manifest|Give _card/,
      ],
      ['the manifest as a file', { files: [{ path: '_card.json', text: '{}' }] }, /as manifest/],
      ['a file out of the folder', { files: [{ path: '../other/x', text: '' }] }, /not in the card’s folder/],
      ['a protected file', { files: [{ path: '.vscode/settings.json', text: '{}' }] }, /protected file/],
      ['a rules file', { files: [{ path: 'AGENTS.md', text: '{}' }] }, /protected file/],
      [
        'a manifest in a protected folder',
        { files: [{ path: '.git/x/_card.json', text: JSON.stringify(manifest) }] },
        /protected file/,
      ],
      ['a folder where no card is found', { folder: 'elsewhere/new-card' }, /looks for cards in/],
      ['a folder of another name', { folder: 'cards/other' }, /must have that name/],
      ['an id that is a path', { card: '../x' }, /do not fit/],
    ];
    for (const [what, overrides, message] of refused) {
      it(`refuses ${what}, and writes nothing`, async () => {
        const result = await tools.call('project_save', save(overrides), allow);
        assert.equal(result.state, 'failed');
        assert.match(result.text, message);
        assert.equal(existsSync(tools.path('cards')), false);
      });
    }

    it('refuses a card whose folder is a link to elsewhere', async () => {
      mkdirSync(tools.outside('elsewhere/new-card'), { recursive: true });
      mkdirSync(tools.path('cards'));
      symlinkSync(tools.outside('elsewhere/new-card'), tools.path('cards/new-card'));
      const result = await tools.call('project_save', save(), allow);
      assert.equal(result.state, 'failed');
      assert.deepEqual(readdirSync(tools.outside('elsewhere/new-card')), []);
    });
  });
});
