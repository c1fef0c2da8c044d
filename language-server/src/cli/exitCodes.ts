import type { CardStatus } from '../../../protocol/src/engine.ts';
import type { ErrorCode } from '../../../protocol/src/errors.ts';

/** What the command line exits with; part of its contract (docs/command-line.md). */
export const exitCodes = {
  done: 0,
  cardFailed: 1,
  badProject: 2,
  permissionNeeded: 3,
  isolationMissing: 4,
  cannotGoOn: 5,
  cancelled: 130,
} as const;

/**
 * What a run comes to. What a person has to mend first comes first: isolation, then a card that failed by itself, then
 * a permission that waits for an answer.
 */
export function runExitCode(
  statuses: readonly Pick<CardStatus, 'state' | 'reason'>[],
  wasCancelled: boolean,
): number {
  const has = (test: (status: Pick<CardStatus, 'state' | 'reason'>) => boolean) => statuses.some(test);
  if (wasCancelled) return exitCodes.cancelled;
  if (has(({ reason }) => reason?.kind === 'isolation-missing')) return exitCodes.isolationMissing;
  if (has(({ reason }) => reason?.kind === 'bad-card')) return exitCodes.badProject;
  if (has(({ state }) => state === 'failed' || state === 'unknown' || state === 'cancelled'))
    return exitCodes.cardFailed;
  if (has(({ state }) => state === 'blocked')) return exitCodes.permissionNeeded;
  return exitCodes.done;
}

/** What a command comes to that ended with an error of this code. */
export function errorExitCode(code: ErrorCode): number {
  switch (code) {
    case 'no-project':
    case 'bad-project':
    case 'bad-app':
    case 'not-found':
      return exitCodes.badProject;
    case 'permission-needed':
    case 'not-trusted':
      return exitCodes.permissionNeeded;
    case 'isolation-missing':
      return exitCodes.isolationMissing;
    case 'cancelled':
      return exitCodes.cancelled;
    default:
      return exitCodes.cannotGoOn;
  }
}
