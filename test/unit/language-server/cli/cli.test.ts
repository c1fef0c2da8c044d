import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArguments, UsageError } from '../../../../language-server/src/cli/arguments.ts';
import { runExitCode } from '../../../../language-server/src/cli/exitCodes.ts';
import { runCommandLine } from '../../../../language-server/src/cli/main.ts';
import {
  duration,
  paint,
  printable,
  size,
  table,
  type Terminal,
} from '../../../../language-server/src/cli/terminal.ts';
import { stateHome, wantsColour } from '../../../../language-server/src/environment.ts';
import { openProjects } from '../../../../language-server/src/project/nodeProjects.ts';
import { createEngineServices } from '../../../../language-server/src/services.ts';
import type { Reason } from '../../../../protocol/src/engine.ts';
import { createBlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { endedWith, FakeRunner, gatedBehaviour, noIsolation } from '../../../support/fakeRunner.ts';
import { inputsFrom, writeCard, writeProject } from '../../../support/projectFolder.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

/** A terminal of a test: what was written, and what a person will type. */
class TestTerminal implements Terminal {
  readonly written: string[] = [];
  readonly noted: string[] = [];
  readonly asked: string[] = [];
  isInteractive = false;
  hasColour = false;
  answers: string[] = [];

  out(line: string): void {
    this.written.push(line);
  }
  note(line: string): void {
    this.noted.push(line);
  }
  ask(question: string): Promise<string> {
    this.asked.push(question);
    return Promise.resolve(this.answers.shift() ?? '');
  }
}

describe('command line', () => {
  const folder = useTemporaryFolder();
  let root: string;
  let runner: FakeRunner;
  let terminal: TestTerminal;
  let interrupt: AbortController;
  beforeEach(() => {
    root = writeProject(join(folder(), 'project'), { a: {}, b: { inputs: inputsFrom('a') } });
    runner = new FakeRunner(createBlobStore(join(folder(), 'home', 'blobs')));
    terminal = new TestTerminal();
    interrupt = new AbortController();
  });
  const sallyport = (...argv: string[]) =>
    runCommandLine(argv, terminal, {
      version: () => '1.2.3',
      interrupted: interrupt.signal,
      openProjects: (path) => openProjects({ roots: [path] }),
      createServices: (projects, notify) =>
        createEngineServices({
          home: join(folder(), 'home'),
          trusted: true,
          projects,
          programs: '/nowhere',
          notify,
          onProblem: (problem) => terminal.note(problem),
          createRunner: () => runner,
          createJsRunner: () => runner,
          parallel: 2,
        }),
    });
  const answer = () => {
    assert.equal(terminal.written.length, 1, terminal.written.join('\n'));
    return JSON.parse(terminal.written[0] ?? '') as Record<string, unknown> & {
      cards: { id: string; state: string; reason: Reason | null }[];
    };
  };

  it('shows the end of the log of a card that failed, and what that means below', async () => {
    runner.behave('a', (_job, events) => {
      events.log('stderr', Array.from({ length: 9 }, (_, index) => `line ${index}\n`).join(''));
      events.log('stdout', 'the \u001b[31mend\n');
      return endedWith({ kind: 'exited', exitCode: 3 });
    });
    assert.equal(await sallyport('run', root), 1);
    const all = terminal.written.join('\n');
    assert.match(all, /a .*it ended with exit code 3\. Its log may say why\./);
    assert.match(all, /b .*it needs “a”, which failed/);
    assert.deepEqual(terminal.noted, [
      'Log of a:',
      ...['line 5', 'line 6', 'line 7', 'line 8', 'the \\u{1b}[31mend'].map((line) => `  ${line}`),
    ]);
  });

  it('[CLI-01] run --json ends with one object with the promised members', async () => {
    assert.equal(await sallyport('run', root, '--json'), 0);
    const report = answer();
    assert.deepEqual(Object.keys(report), ['run', 'cards']);
    assert.match(String(report['run']), /^r[0-9a-f]{16}$/);
    assert.deepEqual(Object.keys(report.cards[0] ?? {}), [
      'id',
      'state',
      'cached',
      'isolation',
      'reason',
      'exitCode',
      'runMs',
      'waitMs',
    ]);
    assert.ok(terminal.noted.some((line) => line.includes('a  ') && line.includes('done')));
  });

  /** What is wrong, and the exit code that tells of it. */
  const endings: readonly (readonly [string, () => unknown, number])[] = [
    ['all is well', () => undefined, 0],
    ['a card fails', () => runner.behave('b', () => endedWith({ kind: 'exited', exitCode: 3 })), 1],
    ['a card is lost', () => runner.behave('b', () => Promise.reject(new Error('gone'))), 1],
    ['a manifest is broken', () => writeFileSync(join(root, 'cards/b/_card.json'), '{'), 2],
    ['there is no project', () => (root = folder()), 2],
    ['a permission is needed', () => writeCard(root, 'b', { permissions: { network: true } }), 3],
    [
      'a card fails and another needs a permission',
      () => {
        runner.behave('a', () => endedWith({ kind: 'timeout', seconds: 1 }));
        writeCard(root, 'b', { permissions: { network: true } });
      },
      1,
    ],
    ['the isolation is missing', () => (runner.info = { ...runner.info, isolation: noIsolation }), 4],
    ['the home can’t be made', () => writeFileSync(join(folder(), 'home', 'engines'), ''), 5],
  ];
  for (const [what, prepare, code] of endings) {
    it(`[CLI-02] run ends with ${code} where ${what}`, async () => {
      prepare();
      assert.equal(await sallyport('run', root, '--json'), code);
      const report = answer();
      assert.ok(Array.isArray(report.cards));
      if (code !== 0) assert.ok(terminal.noted.length > 0);
    });
  }

  it('lists the permissions that are needed', async () => {
    writeCard(root, 'b', { permissions: { network: ['example.org'] } });
    await sallyport('run', root);
    assert.ok(terminal.noted.includes('Permission needed: b: Reach example.org over the network'));
  });

  it('[CLI-05] an interrupt cancels and waits for the cards', async () => {
    const gate = gatedBehaviour(runner);
    runner.behave('a', gate.behaviour);
    const code = sallyport('run', root, '--json');
    await gate.entered;
    interrupt.abort();
    assert.equal(await code, 130);
    assert.deepEqual(
      answer().cards.map(({ state }) => state),
      ['cancelled', 'cancelled'],
    );
  });

  describe('permissions', () => {
    beforeEach(() => writeCard(root, 'b', { permissions: { network: ['example.org'] } }));
    const stateAfter = async () => {
      terminal = new TestTerminal();
      return sallyport('run', root);
    };

    it('[CLI-03] accepts nothing without a terminal, whatever is piped in', async () => {
      terminal.answers = ['b', 'yes'];
      assert.equal(await sallyport('permissions', root, '--review'), 3);
      assert.deepEqual(terminal.asked, []);
      assert.equal(await stateAfter(), 3);
    });

    it('[CLI-03] has no option that accepts', async () => {
      for (const option of ['--yes', '--accept', '--force', '--json=yes']) {
        assert.notEqual(await sallyport('permissions', root, '--review', option), 0);
      }
      assert.notEqual(await sallyport('run', root, '--yes'), 0);
      assert.equal(await stateAfter(), 3);
    });

    for (const typed of ['', 'y', 'yes', 'B', 'a']) {
      it(`[CLI-03] takes “${typed}” for no`, async () => {
        terminal.isInteractive = true;
        terminal.answers = [typed];
        assert.equal(await sallyport('permissions', root, '--review'), 3);
        assert.equal(await stateAfter(), 3);
      });
    }

    it('accepts what a person confirmed by typing the card’s name, with each permission shown', async () => {
      terminal.isInteractive = true;
      terminal.answers = ['b'];
      assert.equal(await sallyport('permissions', root, '--review'), 0);
      assert.ok(terminal.written.some((line) => line.includes('Reach example.org over the network')));
      assert.equal(await stateAfter(), 0);
    });

    it('[CLI-03] accepts nothing where the card widened while the person read', async () => {
      terminal.isInteractive = true;
      terminal.ask = () => {
        writeCard(root, 'b', { permissions: { network: true } });
        return Promise.resolve('b');
      };
      assert.equal(await sallyport('permissions', root, '--review'), 5);
      assert.equal(await stateAfter(), 3);
    });
  });

  it('check names the file, the line and the remedy', async () => {
    writeFileSync(join(root, 'cards/b/_card.json'), '{ "version": 1,\n  "tittle": "B" }');
    assert.equal(await sallyport('check', root), 2);
    assert.ok(
      terminal.written.some((line) => /^cards\/b\/_card\.json:2:\d+ {2}error {2}/.test(line)),
      terminal.written.join('\n'),
    );
  });

  it('dry-run, history, why, doctor and clean answer in words and as JSON', async () => {
    await sallyport('run', root);
    const run = JSON.parse(await json('history', root)) as { runs: { runId: string }[] };
    const commands = [
      ['dry-run', root],
      ['history', root],
      ['history', root, run.runs[0]?.runId ?? ''],
      ['why', root, 'a'],
      ['permissions', root],
      ['doctor'],
      ['clean'],
    ];
    for (const command of commands) {
      terminal = new TestTerminal();
      assert.equal(await sallyport(...command), 0, command.join(' '));
      assert.ok(terminal.written.length > 0, command.join(' '));
      JSON.parse(await json(...command));
    }
    assert.match(await json('why', root, 'a'), /first-run/);
  });
  it('[PLACEUI-06] doctor connects to no place that nobody accepted', async () => {
    writeCard(root, 'b', { permissions: { executionService: 'ssh:-nowhere' } });
    writeCard(root, 'a', { permissions: { executionService: 'ssh:nowhere.invalid' } });
    assert.equal(await sallyport('doctor', root), 0);
    assert.deepEqual(
      terminal.written.filter((line) => line.includes('ssh:')),
      [
        '✗ ssh:nowhere.invalid  closed: no person accepted that a card runs there, so it was not connected to',
      ],
    );
  });

  const json = async (...command: string[]) => {
    terminal = new TestTerminal();
    assert.equal(await sallyport(...command, '--json'), 0, terminal.noted.join('\n'));
    assert.equal(terminal.written.length, 1);
    return terminal.written[0] ?? '';
  };

  it('[CLN-01] clean shows sizes, and removes only what was agreed to', async () => {
    await sallyport('run', root);
    terminal = new TestTerminal();
    assert.equal(await sallyport('clean', '--older-than-days', '0'), 0);
    assert.ok(terminal.noted.some((line) => line.includes('--yes')));
    assert.match(await json('history', root), /runId/);
    assert.match(await json('clean', '--older-than-days', '0', '--yes'), /"removedRuns":1/);
    assert.equal(await json('history', root), '{"runs":[]}');
  });

  it('says how it is used', async () => {
    assert.equal(await sallyport('--help'), 0);
    assert.match(terminal.written[0] ?? '', /Exit codes/);
    terminal = new TestTerminal();
    assert.equal(await sallyport('--version'), 0);
    assert.deepEqual(terminal.written, ['1.2.3']);
  });

  it('refuses what it does not know', () => {
    const bad = [
      ['fly'],
      ['run'],
      ['run', 'a', 'b'],
      ['run', '.', '--nope'],
      ['check', '.', '--review'],
      ['clean', '--older-than-days', '-1'],
      ['why', '.'],
    ];
    for (const argv of bad) assert.throws(() => parseArguments(argv), UsageError, argv.join(' '));
    assert.equal(parseArguments([]).command, 'help');
  });

  it('[CLI-04] shows control, invisible and reordering characters escaped', () => {
    const table_: readonly (readonly [string, string])[] = [
      ['plain ünï', 'plain ünï'],
      ['\u001b[2J\u001b]0;title\u0007', '\\u{1b}[2J\\u{1b}]0;title\\u{7}'],
      ['a\r\nb', 'a\\u{d} b'],
      ['\u202Eabc\u200b', '\\u{202e}abc\\u{200b}'],
      ['\u009b31m', '\\u{9b}31m'],
    ];
    for (const [text, shown] of table_) assert.equal(printable(text), shown);
  });

  it('[CLI-04] prints no control character of a manifest or a card', async () => {
    const evil = '\u001b[2J\u001b[31mok\u202e';
    writeCard(root, 'b', { title: evil, permissions: { hostFolders: [{ path: `/x${evil}`, name: 'x' }] } });
    runner.behave('a', () => endedWith({ kind: 'exception', message: evil }));
    for (const command of [
      ['run', root],
      ['check', root],
      ['permissions', root],
      ['dry-run', root],
      ['history', root],
    ]) {
      await sallyport(...command);
    }
    for (const line of [...terminal.written, ...terminal.noted])
      assert.doesNotMatch(line, /[\u0000-\u001f\u202e]/);
  });

  it('tells exit codes apart by what a person has to mend first', () => {
    const is = (state: 'done' | 'failed' | 'blocked' | 'skipped', kind?: Reason['kind']) => ({
      state,
      reason: kind ? { kind, detail: '' } : null,
    });
    assert.equal(runExitCode([], false), 0);
    assert.equal(runExitCode([is('failed', 'exit'), is('failed', 'isolation-missing')], false), 4);
    assert.equal(runExitCode([is('failed', 'exit'), is('failed', 'bad-card')], false), 2);
    assert.equal(runExitCode([is('blocked', 'permission-needed'), is('skipped', 'upstream')], false), 3);
    assert.equal(runExitCode([is('done')], true), 130);
  });

  it('lays out columns, sizes and times, and paints only where colour is wanted', () => {
    assert.deepEqual(
      table([
        ['a', 'bb', 'c'],
        ['ääa', 'b', ''],
      ]),
      ['a    bb  c', 'ääa  b'],
    );
    assert.deepEqual([0, 999, 1500, 2_000_000].map(size), ['0 B', '999 B', '1.5 kB', '2.0 MB']);
    assert.deepEqual([null, 310, 125_000].map(duration), ['', '0.31 s', '2 min 5 s']);
    assert.equal(paint({ hasColour: false }, 'red', 'x'), 'x');
    assert.equal(paint({ hasColour: true }, 'red', 'x'), '\u001b[31mx\u001b[0m');
    assert.equal(wantsColour(true, {}), true);
    for (const variables of [{ NO_COLOR: '1' }, { TERM: 'dumb' }])
      assert.equal(wantsColour(true, variables), false);
    assert.equal(wantsColour(false, {}), false);
  });

  it('finds its home', () => {
    const at = (variables: Record<string, string>, system: NodeJS.Platform = 'linux') =>
      stateHome(variables, system, '/u');
    assert.equal(at({ SALLYPORT_HOME: '/h' }), '/h');
    assert.equal(at({ XDG_STATE_HOME: '/s' }), '/s/sallyport');
    assert.equal(at({ XDG_STATE_HOME: 'relative' }), '/u/.local/state/sallyport');
    assert.equal(at({}, 'darwin'), '/u/Library/Application Support/Sallyport');
  });
});
