import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import fc from 'fast-check';
import {
  initScript,
  parseReport,
  readyScript,
  shellQuote,
  type Report,
} from '../../../../remote-agent/src/isolation/initScript.ts';

/** Lines that begin with each printable character of ASCII but the last, and go on beyond it. */
const beginnings = Array.from({ length: 93 }, (_, at) => `${String.fromCharCode(0x21 + at)}é`).join('\n');
const unlimited = { processes: undefined, dataBytes: undefined, fileBytes: undefined, openFiles: 64 };

describe('the script of a sandbox', () => {
  it('passes every word to the program as it is', () => {
    const word = fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => text.replaceAll('\0', ''));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (words) => {
        const script = `printf '%s\\0' ${words.map(shellQuote).join(' ')}`;
        const { stdout } = spawnSync('/bin/sh', ['-c', script], { encoding: 'utf8' });
        assert.equal(stdout, words.length === 0 ? '\0' : words.map((each) => `${each}\0`).join(''));
      }),
      { numRuns: 60 },
    );
  });

  it('gives texts from descriptors of their own, whatever is in them', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 60 }).map((each) => each.replaceAll('\0', '')),
      fc.constantFrom('END_OF_TEXT', 'a\nEND_OF_TEXT\nEND_OF_TEXT_\nb', '$(id) `id` ${HOME} \\', '\n\n'),
      // What a shell takes for the beginning of the end of a text.
      fc.constantFrom('!é', 'Eé', '!END_OF_TEXT', '!END_OF_TEXTé', '!ENDé\n"é\n#E\u0304\u0301', beginnings),
    );
    for (const shell of ['/bin/dash', '/bin/bash'].filter((each) => existsSync(each))) {
      fc.assert(
        fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), (texts) => {
          const descriptors = texts.map((value, index) => ({ name: `T${index}`, value }));
          const words = descriptors.map(({ name }) => `cat <&$${name}; printf '\\0'`).join('; ');
          const input = initScript({
            argv: ['/bin/sh', '-c', words],
            environment: {},
            limits: unlimited,
            descriptors,
          });
          const { output } = spawnSync(shell, ['-s'], {
            input,
            encoding: 'utf8',
            stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
            argv0: 'sh',
          });
          assert.equal(output[5], texts.map((each) => `${each}\n\0`).join(''));
        }),
        { numRuns: 25 },
      );
    }
    const five = Array.from({ length: 5 }, (_, index) => ({ name: `T${index}`, value: '' }));
    const command = { argv: ['/bin/true'] as const, environment: {}, limits: unlimited };
    assert.throws(() => initScript({ ...command, descriptors: five }), RangeError);
    assert.throws(() => initScript({ ...command, descriptors: [{ name: 'T', value: 'a\0' }] }), /NUL/);
  });

  it('refuses a word that no program can be given', () => {
    assert.throws(() => shellQuote('a\0b'), /NUL/);
  });

  it('gives the program its environment, no input, and a descriptor for its errors', () => {
    const script = initScript({
      argv: ['/bin/sh', '-c', 'echo "$A"; cat; echo oops >&2; exit 7'],
      environment: { A: "it's\ntwo lines" },
      limits: unlimited,
    });
    const { output } = spawnSync('/bin/sh', ['-s'], {
      input: script,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    const [, , report, , errors, out] = output.map((each) => each?.toString() ?? '');
    assert.deepEqual([out, report, errors], ["it's\ntwo lines\n", 'exit 7\n', 'oops\n']);
  });

  it('[JOB-06] sets the limits, and runs nothing where one can’t be set', () => {
    const limits = { processes: 50, dataBytes: 2 ** 27, fileBytes: 2 ** 20, openFiles: 32 };
    const run = (argv: [string, ...string[]], more: object) => {
      const script = initScript({ argv, environment: {}, limits: { ...limits, ...more } });
      return spawnSync('/bin/sh', ['-s'], {
        input: script,
        stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
        encoding: 'utf8',
      });
    };
    const words = 'ulimit -d; ulimit -f; ulimit -n; ulimit -c';
    assert.equal(run(['/bin/sh', '-c', words], {}).output[5], '131072\n2048\n32\n0\n');
    const refused = run(['/bin/echo', 'ran'], { openFiles: 2 ** 40 });
    assert.deepEqual([refused.output[5], refused.status], ['', 125]);
  });

  it('opens the way for a preparation first and says so only after it', () => {
    const bridge = { argv: ['/bin/sh', '-c', 'test "$X" = 1'] as const, environment: { X: '1' } };
    const run = (script: string) => spawnSync('/bin/sh', ['-s'], { input: script, encoding: 'utf8' });
    assert.equal(run(readyScript(bridge)).stderr, 'ready\n');
    const failed = run(readyScript({ ...bridge, environment: { X: '2' } }));
    assert.deepEqual([failed.stderr, failed.status], ['', 125]);
  });

  const reports: readonly (readonly [string, Report])[] = [
    ['', { kind: 'running' }],
    ['ready\n', { kind: 'ready' }],
    ['ready\nexit 0\n', { kind: 'exited', exitCode: 0, said: '' }],
    ['ready\nexit 0', { kind: 'running' }],
    ['ready\nexit 139\n', { kind: 'exited', exitCode: 139, said: '' }],
    ['ready\nSegmentation fault\nexit 139\n', { kind: 'signalled', number: 11, said: 'Segmentation fault' }],
    ['ready\nexit 141\n', { kind: 'signalled', number: 13, said: '' }],
    ['ready\nexit 200\n', { kind: 'exited', exitCode: 200, said: '' }],
    [
      'ready\nbash: line 3: 77 Killed (exec x)\nexit 137\n',
      { kind: 'signalled', number: 9, said: 'bash: line 3: 77 Killed (exec x)' },
    ],
  ];
  for (const [text, report] of reports) {
    it(`[JOB-04] reads ${JSON.stringify(text)} as ${report.kind}`, () =>
      assert.deepEqual(parseReport(text), report));
  }

  for (const shell of ['/bin/dash', '/bin/bash']) {
    it(`[JOB-04] tells a signal from an exit status with ${shell} as the shell`, function () {
      const ends = {
        'kill -SEGV $$': 'signalled',
        'kill -TERM $$': 'signalled',
        'exit 139': 'exited',
        'exit 143': 'exited',
      };
      for (const [words, kind] of Object.entries(ends)) {
        const input =
          readyScript() + initScript({ argv: ['/bin/sh', '-c', words], environment: {}, limits: unlimited });
        // bash in the mode that it takes when it is called sh.
        const options = {
          input,
          stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
          encoding: 'utf8',
          argv0: 'sh',
        } as const;
        const { stderr, error } = spawnSync(shell, ['-s'], { ...options, stdio: [...options.stdio] });
        if (error) {
          console.log(`      ${shell} is not installed`);
          this.skip();
        }
        assert.equal(parseReport(stderr).kind, kind, `${words}: ${stderr}`);
      }
    });
  }
});
