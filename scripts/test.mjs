// `npm test`: sets up what the tests need, then runs every suite. `npm test -- --only unit,hostile` runs some.
import { mkdtempSync, readFileSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv, exit, stdout } from 'node:process';
import { ensureDependencies, ensureSystemPackages, root, run, say, toolEnvironment } from './setup.mjs';

/** Suites in the order in which they say the most soonest. `mocha` ones report counts, the others pass or fail as one. */
const suites = [
  { name: 'build', command: ['node', 'scripts/build.mjs'] },
  { name: 'typecheck', command: ['tsc', '-b'] },
  { name: 'lint', command: ['eslint', '.', '--max-warnings', '0'] },
  { name: 'format', command: ['prettier', '--check', '.', '--log-level', 'warn'] },
  { name: 'unit', mocha: ['test/unit/**/*.test.ts'] },
  { name: 'floor', mocha: ['test/floor/**/*.test.ts'] },
  { name: 'hostile', mocha: ['test/hostile/**/*.test.ts'] },
  {
    name: 'integration',
    parts: ['host', 'tiny', 'sample', 'agent', 'workbench', 'apps', 'vault', 'places', 'restricted', 'vsix'],
  },
];

const only = argv.includes('--only') ? argv[argv.indexOf('--only') + 1]?.split(',') : undefined;
const unknown = only?.filter((name) => !suites.some((suite) => suite.name === name));
if (argv.includes('--only') && (!only || unknown.length > 0)) {
  say(
    `Unknown suite ${unknown?.join(', ') ?? ''}. There are: ${suites.map((suite) => suite.name).join(', ')}.`,
  );
  exit(2);
}

ensureDependencies();
ensureSystemPackages([
  'bubblewrap',
  'python3',
  'chromium',
  'git',
  'qemu-system-x86',
  'qemu-utils',
  'openssh-server',
  'openssh-client',
  'iproute2',
  'iptables',
  'slurm-wlm',
  'munge',
]);
// Where QEMU has brought it with it, there is no such package.
ensureSystemPackages(['virtiofsd']);

/** Of each suite its counts, its failures, and of each try that failed before another one its failure. */
const results = [];
/** What runs now, and the process that was started for it last. */
let suite;
let child;

/** A run that hangs ends in words, before whoever started it loses patience and nothing is known. */
const limitMinutes = 80;
const limit = setTimeout(() => {
  child?.kill('SIGKILL');
  report(`${suite.name} was not at its end after ${limitMinutes} minutes in all`);
}, limitMinutes * 60_000);

for (suite of suites.filter((each) => !only || only.includes(each.name))) {
  say(`\n== ${suite.name}`);
  const started = Date.now();
  const counts = await runSuite(suite);
  results.push({
    name: suite.name,
    failures: [],
    retried: [],
    ...counts,
    seconds: Math.round((Date.now() - started) / 1000),
  });
}
clearTimeout(limit);
report();

/** Says how everything ended, and ends. */
function report(hung) {
  if (hung) results.push({ name: suite.name, ...failure(hung) });
  for (const { name, retried } of results) {
    for (const each of retried) say(`\nTRIED AGAIN ${name}: ${each}`);
  }
  for (const { name, failures } of results) {
    for (const failure of failures) say(`\nFAILED ${name}: ${failure}`);
  }
  say('');
  for (const { name, passed, failed, skipped, seconds } of results) {
    const time = seconds === undefined ? '' : `, ${seconds} s`;
    const verdict = failed > 0 ? 'FAILED ' : 'ok     ';
    say(`${verdict}${name.padEnd(12)} ${passed} passed, ${failed} failed, ${skipped} skipped${time}`);
  }
  const total = (key) => results.reduce((sum, each) => sum + each[key], 0);
  stdout.write(`${total('passed')} passed, ${total('failed')} failed\n`);
  exit(total('failed') > 0 ? 1 : 0);
}

async function runSuite(suite) {
  if (suite.mocha) return runMocha(suite.mocha);
  if (suite.parts) return runParts(suite.parts);
  const code = await start(suite.command[0], suite.command.slice(1));
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 };
}

/**
 * The tests in real VS Code, a window at a time. They wait for a whole workbench on whatever machine this is, so a part
 * that fails is run once more, in a fresh window, and fails the run only if it fails again. Both are shown.
 */
async function runParts(parts) {
  rmSync(join(root, 'test', 'artifacts', 'vscode'), { recursive: true, force: true });
  const all = [];
  for (const part of parts) {
    let counts = await runPart(part);
    if (counts.failed > 0) {
      say(`\n${part} failed and is run once more: ${counts.failures.join('\n')}`);
      counts = again(counts, await runPart(part));
    }
    all.push(counts);
  }
  return sum(all);
}

async function runPart(part) {
  const { code, files } = await counted((env) => start('node', ['test/integration/main.ts', part], { env }));
  const counts = sum(Object.values(files));
  const isSilent = counts.passed + counts.failed === 0 || (code !== 0 && counts.failed === 0);
  return isSilent ? sum([counts, ended(part, code)]) : counts;
}

/**
 * The files of a suite in one process. They start real servers, browsers and sandboxes on whatever machine this is, so a
 * file in which something failed is run once more, alone, and fails the run only if it fails again. Both are shown.
 */
async function runMocha(globs) {
  const files = await mochaOnce(globs);
  for (const file of Object.keys(files).filter((name) => name !== '' && files[name].failed > 0)) {
    say(`\n${file} failed and is run once more: ${files[file].failures.join('\n')}\n`);
    const { [file]: counts = ended(file, 'no word when it was run once more'), ...others } = await mochaOnce([
      file,
    ]);
    Object.assign(files, others, { [file]: again(files[file], counts) });
  }
  return sum(Object.values(files));
}

/** The counts of a second run. What failed in the first tells as much, where it fails again too. */
function again(first, second) {
  return { ...second, retried: [...first.retried, ...first.failures, ...second.retried] };
}

/** What became of each file. An exit code that says failure counts under '' when no test did. */
async function mochaOnce(specs) {
  const { code, files } = await counted((env) =>
    start('mocha', ['--retries', '1', '--reporter', 'test/support/countReporter.mjs', ...specs], { env }),
  );
  const { passed, failed } = sum(Object.values(files));
  if (passed + failed === 0 || (code !== 0 && failed === 0)) files[''] = ended('mocha', code);
  return files;
}

/** Runs what counts into a file (test/support/countInto.ts): its exit code and what became of each file. */
async function counted(runCounting) {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-counts-'));
  const file = join(folder, 'counts.json');
  try {
    const code = await runCounting({ ...toolEnvironment(), SALLYPORT_TEST_COUNTS: file });
    return { code, files: existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {} };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `run`, and `child` is it. */
function start(program, args, options = {}) {
  return run(program, args, { ...options, onStart: (started) => (child = started) });
}

/** Counts as one failure: what ended without a failed test that would explain it. */
function ended(what, code) {
  return failure(`${what} ended with ${code}`);
}

function failure(text) {
  return { passed: 0, failed: 1, skipped: 0, failures: [text], retried: [] };
}

function sum(counts) {
  return {
    passed: counts.reduce((total, each) => total + each.passed, 0),
    failed: counts.reduce((total, each) => total + each.failed, 0),
    skipped: counts.reduce((total, each) => total + each.skipped, 0),
    failures: counts.flatMap((each) => each.failures),
    retried: counts.flatMap((each) => each.retried),
  };
}
