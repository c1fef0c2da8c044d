import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

/** Mocha's dots, and the counts as JSON into the file named by SALLYPORT_TEST_COUNTS. */
export default class CountReporter extends Mocha.reporters.Dot {
  constructor(runner, options) {
    super(runner, options);
    runner.once('end', () => {
      const { passes, failures, pending } = runner.stats;
      const file = process.env.SALLYPORT_TEST_COUNTS;
      if (file) writeFileSync(file, JSON.stringify({ passed: passes, failed: failures, skipped: pending }));
    });
  }
}
