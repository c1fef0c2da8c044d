import Mocha from 'mocha';
import { resultMark } from './resultMark.ts';

/** Runs the tests that `define` declares inside the extension host, telling each result by one console line. */
export function runSuite(define: () => void): Promise<void> {
  const mocha = new Mocha({ ui: 'bdd', timeout: 60_000, reporter: TellingReporter });
  mocha.suite.emit('pre-require', globalThis, '', mocha);
  define();
  return new Promise((resolve, reject) => {
    mocha.run((failures) => (failures > 0 ? reject(new Error(`${failures} tests failed`)) : resolve()));
  });
}

class TellingReporter extends Mocha.reporters.Base {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const tell = (test: Mocha.Test, error: string | null) => {
      console.log(resultMark + JSON.stringify({ title: test.fullTitle(), error }));
    };
    runner.on('pass', (test) => tell(test, null));
    runner.on('fail', (test, error: unknown) => {
      tell(test, error instanceof Error ? (error.stack ?? error.message) : String(error));
    });
  }
}
