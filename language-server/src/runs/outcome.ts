import type { CardState, Reason } from '../../../protocol/src/engine.ts';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import type { JobResult, OutputProblem } from '../../../protocol/src/runner.ts';
import type { Obstacle } from './judge.ts';
import type { FrozenCard } from './snapshot.ts';

/** How a card ended: its state and, unless all is well, why. */
export interface Ending {
  readonly state: CardState;
  readonly reason: Reason | null;
  readonly exitCode: number | null;
}

/** Log lines, one for each entry among the outputs that no port names: it was not taken, and is no fault either. */
export function leftBehind(problems: readonly OutputProblem[]): string[] {
  return problems
    .filter(isLeftBehind)
    .map(({ port, detail }) =>
      port === '…'
        ? `Not taken: ${detail}`
        : `Not taken: “${port}” is not one of the card’s outputs (${detail})`,
    );
}

function isLeftBehind({ kind }: OutputProblem): boolean {
  return kind === 'unexpected';
}

/** Says what a job's end means for its card. Only exit code 0 with every promised output taken is `done`. */
export function toEnding(result: JobResult, card: Pick<FrozenCard, 'outputs' | 'runtime'>): Ending {
  const { outcome } = result;
  switch (outcome.kind) {
    case 'exited': {
      const { exitCode } = outcome;
      if (exitCode !== 0) return exitEnding(exitCode);
      const problem = result.outputProblems.find((each) => !isLeftBehind(each));
      if (problem) return failed('output-problem', problemWords(problem), undefined, 0);
      const missing = card.outputs.find(
        ({ port, optional }) => !optional && !Object.hasOwn(result.outputs, port),
      );
      if (missing) return failed('output-problem', notWritten(missing.port), undefined, 0);
      return { state: 'done', reason: null, exitCode };
    }
    case 'signalled':
      return failed('signal', `it was ended by ${outcome.signal}`);
    case 'timeout':
      return failed(
        'timeout',
        outcome.detail ?? `it ran longer than ${outcome.seconds} s`,
        'Raise “limits.seconds” in _card.json if it needs more.',
      );
    case 'limit':
      return failed(
        outcome.limit === 'output' ? 'output-limit' : outcome.limit,
        `it reached its limit of ${outcome.limit}: ${outcome.detail}`,
        card.runtime === 'js' && outcome.limit !== 'processes'
          ? `Raise “limits.${limitKeys[outcome.limit]}” in _card.json, for a js card up to 64, or make it a python or node card.`
          : `Raise “limits.${limitKeys[outcome.limit]}” in _card.json if it needs more.`,
      );
    case 'cancelled':
      return {
        state: 'cancelled',
        reason: { kind: 'cancelled', detail: outcome.detail ?? 'it was cancelled' },
        exitCode: null,
      };
    case 'exception':
      return failed('exception', outcome.message);
    case 'refused':
      if (outcome.code === 'permission-needed')
        return { ...failed(outcome.code, outcome.detail, outcome.remedy), state: 'blocked' };
      return failed(refusalKinds[outcome.code], outcome.detail, outcome.remedy);
    case 'unknown':
      return unknownEnding(outcome.detail);
  }
}

/** The two codes of sh and of `exec` that say something by themselves are told in words. */
function exitEnding(exitCode: number): Ending {
  const [words, remedy] = exitWords.get(exitCode) ?? ['', 'Its log may say why.'];
  return failed('exit', `it ended with exit code ${exitCode}${words}`, remedy, exitCode);
}

const exitWords: ReadonlyMap<number, readonly [string, string]> = new Map([
  [
    126,
    [
      ': a program could not be started',
      'Is it a program, and marked as one (chmod +x)? Its log may say more.',
    ],
  ],
  [
    127,
    [
      ': a program was not found',
      'Only what is below /usr and in the card’s folder can be run. Its log may name it.',
    ],
  ],
]);

function problemWords({ port, kind, detail }: OutputProblem): string {
  if (kind === 'missing') return notWritten(port);
  const start = `${port}: `;
  return `output “${port}”: ${detail.startsWith(start) ? detail.slice(start.length) : detail}`;
}

function notWritten(port: string): string {
  return `output “${port}” was not written`;
}

/** The end of a card that nobody here saw. */
export function unknownEnding(detail: string): Ending {
  return {
    state: 'unknown',
    reason: { kind: 'interrupted', detail, remedy: 'Run it again.' },
    exitCode: null,
  };
}

/** The end of a card whose run was cancelled before or while it ran. */
export const cancelledEnding: Ending = {
  state: 'cancelled',
  reason: { kind: 'cancelled', detail: 'the run was cancelled' },
  exitCode: null,
};

/** The end of a card that may not run. */
export function stopped({ kind, reason }: NonNullable<Obstacle>): Ending {
  return { state: kind === 'blocked' ? 'blocked' : 'failed', reason, exitCode: null };
}

/** The end of a card whose runner could not be had, or was lost on the way. */
export function lostEnding(error: unknown): Ending {
  if (error instanceof UserError && error.code === 'isolation-missing') {
    return { state: 'failed', reason: { kind: 'isolation-missing', detail: error.message }, exitCode: null };
  }
  return unknownEnding(errorMessage(error));
}

/** The end of a card that its vault values were not given for: nothing of it ran. */
export function notStartedEnding(error: unknown): Ending {
  if (!(error instanceof UserError)) return failed('internal', errorMessage(error));
  const { remedy } = error.data;
  const told = typeof remedy === 'string' ? remedy : undefined;
  switch (error.code) {
    case 'cancelled':
      return cancelledEnding;
    case 'permission-needed':
      return { ...failed('permission-needed', error.message, told), state: 'blocked' };
    default:
      return failed('internal', error.message, told);
  }
}

const limitKeys = { memory: 'memoryMB', processes: 'processes', output: 'outputMB' } as const;
const refusalKinds = {
  'isolation-missing': 'isolation-missing',
  'interpreter-missing': 'interpreter-missing',
  'bad-input': 'bad-card',
  'unsafe-path': 'bad-card',
  'disk-full': 'disk-full',
  internal: 'internal',
} as const;

function failed(
  kind: Reason['kind'],
  detail: string,
  remedy?: string,
  exitCode: number | null = null,
): Ending {
  return { state: 'failed', reason: { kind, detail, ...(remedy === undefined ? {} : { remedy }) }, exitCode };
}
