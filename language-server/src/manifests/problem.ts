import { problemTexts, warningCodes, type ProblemCode, type ProblemTexts } from '../messages.ts';
import type { Problem } from '../project/model.ts';

/** A stretch of text, by offsets in UTF-16 units, end exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Takes the problems of one file, in the order found. */
export type Report = (problem: Problem) => void;

/** A text change that mends a problem. */
export interface Fix extends Span {
  readonly title: string;
  readonly text: string;
}

/** Makes a problem whose sentence and severity follow from its code. */
export function problem<C extends ProblemCode>(
  code: C,
  at: Span,
  args: Parameters<ProblemTexts[C]>,
  fix?: Fix,
): Problem {
  const sentence = problemTexts[code] as (...values: Parameters<ProblemTexts[C]>) => string;
  return {
    code,
    severity: warningCodes.has(code) ? 'warning' : 'error',
    message: sentence(...args),
    start: at.start,
    end: at.end,
    ...(fix ? { fix } : {}),
  };
}

export const startOfFile: Span = { start: 0, end: 0 };

/** Problems of one file that are kept. */
export const mostProblems = 100;

class Enough extends Error {}

/**
 * The problems that `check` reports, at most `mostProblems`. Then `check` is ended from within `report`, so that a
 * hostile file costs no more than a bad one, and a last problem says that there are more.
 */
export function collectProblems(check: (report: Report) => void): Problem[] {
  const found: Problem[] = [];
  try {
    check((each) => {
      if (found.length >= mostProblems) throw new Enough();
      found.push(each);
    });
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
    found.push(problem('too-many-problems', startOfFile, [mostProblems]));
  }
  return found;
}
