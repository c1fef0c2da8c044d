import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import process from 'node:process';
import Mocha from 'mocha';

/**
 * Mocha's dots, and what became of each file as JSON into the file named by SALLYPORT_TEST_COUNTS:
 * `{ [file]: { passed, failed, skipped, failures: string[] } }`, where `failures` names each test with the first line
 * of its error. A hook that belongs to no file (the check for processes left behind) is counted under ''.
 */
export default class CountReporter extends Mocha.reporters.Dot {
  constructor(runner, options) {
    super(runner, options);
    const files = {};
    const of = (test) => {
      const file = test.file ?? test.parent?.file;
      return (files[file ? relative(process.cwd(), file) : ''] ??= emptyCounts());
    };
    runner.on('pass', (test) => (of(test).passed += 1));
    runner.on('pending', (test) => (of(test).skipped += 1));
    runner.on('fail', (test, error) => {
      const counts = of(test);
      counts.failed += 1;
      counts.failures.push(`${test.fullTitle()}: ${String(error?.message ?? error).split('\n')[0]}`);
    });
    runner.once('end', () => {
      const file = process.env.SALLYPORT_TEST_COUNTS;
      if (file) writeFileSync(file, JSON.stringify(files));
    });
  }
}

function emptyCounts() {
  return { passed: 0, failed: 0, skipped: 0, failures: [] };
}
