import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Runnable, Runner } from 'mocha';

/** What became of the tests of one file. */
interface FileCounts {
  passed: number;
  failed: number;
  skipped: number;
  /** Of each failed test its title, its error, where it was thrown, and what a hook has left in its `evidence`. */
  readonly failures: string[];
  /** The same of each try that failed before another one. */
  readonly retried: string[];
}

/**
 * Writes what became of each file as JSON, `{ [file]: FileCounts }`, into the file named by SALLYPORT_TEST_COUNTS. A
 * hook that belongs to no file (the check for processes left behind) is counted under ''.
 */
export function countInto(runner: Runner): void {
  const files: Record<string, FileCounts> = {};
  const failed: { test: Runnable; error: unknown }[] = [];
  const of = (test: Runnable): FileCounts => {
    const file = test.file ?? test.parent?.file;
    return (files[file ? relative(process.cwd(), file) : ''] ??= {
      passed: 0,
      failed: 0,
      skipped: 0,
      failures: [],
      retried: [],
    });
  };
  runner.on('pass', (test) => (of(test).passed += 1));
  runner.on('pending', (test) => (of(test).skipped += 1));
  runner.on('fail', (test, error) => {
    of(test).failed += 1;
    failed.push({ test, error });
  });
  runner.on('retry', (test: Runnable, error: unknown) => of(test).retried.push(toText(test, error)));
  runner.once('end', () => {
    // The hooks behind a test have left their evidence by now.
    for (const { test, error } of failed) of(test).failures.push(toText(test, error));
    const file = process.env['SALLYPORT_TEST_COUNTS'];
    if (file) writeFileSync(file, JSON.stringify(files));
  });
}

/** Short: the end of a log may be all that is kept of it. */
function toText(test: Runnable & { evidence?: readonly string[] }, error: unknown): string {
  const { message, stack = '' } = error instanceof Error ? error : new Error(String(error));
  const said = message.split('\n').filter((line) => line.trim() !== '');
  const thrown = stack.split('\n').filter((line) => /^\s+at .*\/test\//.test(line));
  return [
    `${test.fullTitle()}: ${said[0] ?? ''}`,
    ...said.slice(1, 6),
    ...thrown.slice(-2).map((line) => line.trim().replace(`${process.cwd()}/`, '')),
    ...(test.evidence ?? []),
  ]
    .map((line) => line.slice(0, 1000))
    .join('\n    ');
}
