import { createContext, Script } from 'node:vm';
import { UserError } from '../../../../protocol/src/errors.ts';

/** What is looked for. */
export interface Wanted {
  readonly pattern: string;
  readonly isRegexp: boolean;
  readonly ignoreCase: boolean;
}

/** Finds lines of a text; the answer is line numbers from 1, at most `most`. */
export type FindInText = (lines: readonly string[], most: number) => number[];

/** One file may keep a regular expression busy for this long. */
const timeoutMs = 250;
const longestLine = 20_000;
const find = new Script(
  'found = []; for (let at = 0; at < lines.length && found.length < most; at++) if (expression.test(lines[at])) found.push(at + 1);',
);

/**
 * Makes the search of one pattern. A regular expression of a model may take exponential time, so it runs in a context
 * of its own that V8 ends after a time: `timeout` is thrown then. Throws `bad-message` for one that does not parse.
 */
export function createFindInText({ pattern, isRegexp, ignoreCase }: Wanted): FindInText {
  if (!isRegexp) {
    const wanted = ignoreCase ? pattern.toLowerCase() : pattern;
    return (lines, most) => {
      const found: number[] = [];
      for (const [at, line] of lines.entries()) {
        if (found.length >= most) break;
        if ((ignoreCase ? line.toLowerCase() : line).includes(wanted)) found.push(at + 1);
      }
      return found;
    };
  }
  let expression: RegExp;
  try {
    expression = new RegExp(pattern, ignoreCase ? 'i' : '');
  } catch (cause) {
    throw new UserError('bad-message', `Not a regular expression: ${pattern}`, {}, { cause });
  }
  return (lines, most) => {
    const globals = {
      lines: lines.map((line) => line.slice(0, longestLine)),
      most,
      expression,
      found: [] as number[],
    };
    try {
      find.runInContext(createContext(globals), { timeout: timeoutMs });
    } catch (cause) {
      throw new UserError('timeout', 'The regular expression takes too long; make it simpler', {}, { cause });
    }
    return [...globals.found];
  };
}
