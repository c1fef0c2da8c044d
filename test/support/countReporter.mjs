import Mocha from 'mocha';
import { countInto } from './countInto.ts';

/** Mocha's dots, and the counts of `countInto`. */
export default class CountReporter extends Mocha.reporters.Dot {
  constructor(runner, options) {
    super(runner, options);
    countInto(runner);
  }
}
