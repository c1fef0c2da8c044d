import type { JobOutcome, JobResult } from '../../../protocol/src/runner.ts';

/** The result of a job of which nothing but its end is known. */
export function emptyResult(outcome: JobOutcome): JobResult {
  return {
    outcome,
    outputs: {},
    outputProblems: [],
    logBytes: 0,
    logCutBytes: 0,
    waitMs: 0,
    runMs: 0,
    stageMs: 0,
    collectMs: 0,
    isolation: 'none',
  };
}
