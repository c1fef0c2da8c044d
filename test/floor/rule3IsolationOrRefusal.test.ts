import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readAttacks } from '../hostile/cards/attack.ts';
import { openRange, type RangeOptions } from '../hostile/cards/range.ts';

const bubblewrap = '/usr/bin/bwrap';

interface BrokenMachine {
  readonly title: string;
  readonly needsRoot: boolean;
  /** Makes the place in which the runner is started; `folder` is empty and removed afterwards. */
  readonly prepare: (folder: string) => RangeOptions;
}

/** A machine on which some other program lies where bubblewrap should. */
function withProgram(title: string, write: (file: string, real: string) => void): BrokenMachine {
  return {
    title,
    needsRoot: true,
    prepare: (folder) => {
      const file = path.join(folder, 'bwrap');
      const real = path.join(folder, 'real-bwrap');
      copyFileSync(bubblewrap, real);
      write(file, real);
      return { wrapper: [bubblewrap, '--dev-bind', '/', '/', '--ro-bind', file, bubblewrap, '--'] };
    },
  };
}

/** A bubblewrap that does all it is asked but for one thing, which it leaves out without a word. */
function leavingOut(title: string, program: string): BrokenMachine {
  return withProgram(`bubblewrap leaves out ${title}`, (file, real) =>
    writeScript(
      file,
      `#!/usr/bin/python3\nimport os, sys\nwords = sys.argv[1:]\n${program}\nos.execv(${JSON.stringify(real)}, ["bwrap"] + words)\n`,
    ),
  );
}

function writeScript(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o755 });
}

/** Runs what stands after `--`, and nothing around it. */
const unsealing =
  '#!/bin/sh\n[ "$1" = --version ] && { echo bubblewrap 0.11.0; exit; }\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n';

const without = (...options: string[]) => options.map((option) => `words.remove("${option}")`).join('\n');
const withoutPair = (option: string) => `at = words.index("${option}")\ndel words[at : at + 2]`;

const brokenMachines: readonly BrokenMachine[] = [
  withProgram('bubblewrap is missing', (file) => writeFileSync(file, '', { mode: 0o644 })),
  withProgram('bubblewrap does not start', (file) =>
    writeScript(file, '#!/bin/sh\necho broken >&2\nexit 1\n'),
  ),
  withProgram('bubblewrap hangs', (file) => writeScript(file, '#!/bin/sh\nread line\nexit 1\n')),
  withProgram('bubblewrap is set-user-ID', (file, real) => {
    copyFileSync(real, file);
    chmodSync(file, 0o4755);
  }),
  withProgram('bubblewrap can be changed by everybody', (file, real) => {
    copyFileSync(real, file);
    chmodSync(file, 0o777);
  }),
  withProgram('bubblewrap starts the program without any sandbox', (file) => writeScript(file, unsealing)),
  leavingOut('the network name space', without('--unshare-net')),
  leavingOut('the process name space', without('--unshare-pid')),
  leavingOut(
    'the ban on further user name spaces and the filter',
    `${without('--disable-userns')}\n${withoutPair('--seccomp')}`,
  ),
  leavingOut('the filter of system calls', withoutPair('--seccomp')),
  leavingOut(
    'the read-only root',
    `for at in range(len(words) - 1):\n    if words[at] == "--remount-ro" and words[at + 1] == "/":\n        del words[at : at + 2]\n        break`,
  ),
  leavingOut(
    'the empty root: all of the machine is seen',
    `words[words.index("--ro-bind") : words.index("--ro-bind")] = ["--bind", "/", "/"]`,
  ),
  leavingOut('the empty environment', `${without('--clearenv')}\nos.environ["LEFT"] = "over"`),
  {
    title: 'the kernel gives no user name spaces, as in a container that forbids them',
    needsRoot: false,
    prepare: () => ({
      wrapper: [bubblewrap, '--unshare-user', '--disable-userns', '--dev-bind', '/', '/', '--'],
    }),
  },
];

/** Reads what a card must not see: it says so where it ran. */
const card = readAttacks().find((attack) => attack.name === 'settings-in-card')!;

describe('floor rule 3: isolation or refusal', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sallyport-broken-'));
    // Sandboxes are started as a user of their own, who has to be able to start what lies there.
    chmodSync(folder, 0o755);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const wholeMachines: readonly BrokenMachine[] = [
    withProgram('bubblewrap is a copy', (file, real) => copyFileSync(real, file)),
    leavingOut('nothing', ''),
  ];
  for (const machine of wholeMachines) {
    it(`runs the card sealed where ${machine.title} (control)`, async function () {
      onlyRoot(this);
      const range = await openRange(machine.prepare(folder));
      try {
        const { outcome, evidence, report } = await range.sealed(card);
        assert.equal(range.client.hello.isolation.kind, 'bubblewrap');
        assert.deepEqual(outcome, { kind: 'exited', exitCode: 0 });
        assert.equal(report?.result.isolation, 'bubblewrap');
        assert.deepEqual(evidence, []);
      } finally {
        await range.close();
      }
    });
  }

  for (const machine of brokenMachines) {
    it(`refuses every card where ${machine.title} [FLOOR-03]`, async function () {
      if (machine.needsRoot) onlyRoot(this);
      const range = await openRange(machine.prepare(folder));
      try {
        const { isolation } = range.client.hello;
        const failed = isolation.checks.filter((check) => !check.ok);
        assert.equal(isolation.kind, 'none', `It says ${JSON.stringify(isolation)}`);
        assert.ok(failed.length > 0, 'No check says what is wrong');
        assert.deepEqual(
          failed.filter((check) => !check.remedy),
          [],
          'A failed check has no remedy',
        );
        const { outcome, evidence, log, report } = await range.sealed(card);
        assert.ok(outcome.kind === 'refused', JSON.stringify(outcome));
        assert.equal(outcome.code, 'isolation-missing');
        assert.ok(outcome.remedy, 'The refusal has no remedy');
        assert.equal(report?.started, false);
        assert.equal(report.result.isolation, 'none');
        assert.equal(log.trim(), '');
        assert.deepEqual(evidence, []);
      } finally {
        await range.close();
      }
    });
  }

  it('seals or refuses each card after bubblewrap was replaced beneath a running runner [FLOOR-03]', async function () {
    onlyRoot(this);
    const program = path.join(folder, 'bwrap');
    const machine = withProgram('', (file, real) => writeScript(file, `#!/bin/sh\nexec ${real} "$@"\n`));
    const range = await openRange(machine.prepare(folder));
    try {
      assert.equal(range.client.hello.isolation.kind, 'bubblewrap');
      writeFileSync(program, unsealing);
      const kinds = new Set<string>();
      for (let turn = 0; turn < 4; turn++) {
        const { outcome, evidence } = await range.sealed(card);
        assert.deepEqual(evidence, []);
        kinds.add(outcome.kind === 'refused' ? outcome.code : `${outcome.kind} sealed`);
      }
      // Sandboxes that stood by were made by the program that was probed.
      assert.ok(kinds.has('isolation-missing'), [...kinds].join(', '));
      kinds.delete('isolation-missing');
      kinds.delete('exited sealed');
      assert.deepEqual([...kinds], []);
    } finally {
      await range.close();
    }
  });

  it('a program of the same name that comes first on the PATH is never used [FLOOR-03]', async () => {
    const marker = path.join(folder, 'was-used');
    for (const name of ['bwrap', 'python3', 'node', 'sh', 'unshare', 'prlimit', 'nsenter', 'systemd-run']) {
      writeScript(
        path.join(folder, name),
        `#!/bin/sh\necho ${name} >> ${marker}\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n`,
      );
    }
    const range = await openRange({ environment: { PATH: `${folder}:${process.env['PATH'] ?? ''}` } });
    try {
      assert.equal(range.client.hello.isolation.kind, 'bubblewrap');
      const { outcome, evidence } = await range.sealed(card);
      assert.deepEqual(outcome, { kind: 'exited', exitCode: 0 });
      assert.deepEqual(evidence, []);
      assert.ok(!readdirSync(folder).includes('was-used'), `These were used: ${readMarker(marker)}`);
      assert.equal(
        execFileSync(path.join(folder, 'bwrap'), ['--', 'echo', 'would run']).toString(),
        'would run\n',
      );
    } finally {
      await range.close();
    }
  });
});

/** To anybody else, files in a mount name space of their own seem to be nobody's: refused too, but for that reason. */
function onlyRoot(test: Mocha.Context): void {
  if (process.getuid?.() === 0) return;
  console.log('      (left out: only root can put another program in the place of bubblewrap)');
  test.skip();
}

function readMarker(marker: string): string {
  try {
    return readFileSync(marker, 'utf8');
  } catch {
    return '(none)';
  }
}
