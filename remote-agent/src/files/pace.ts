import { setImmediate as nextTurn } from 'node:timers/promises';
import { UserError } from '../../../protocol/src/errors.ts';

/** Longest stretch of synchronous work before the event loop gets its turn, in milliseconds. */
const sliceMs = 8;

/**
 * Lets a long loop of synchronous system calls (three times faster than awaited ones) share its thread and be
 * cancelled. Use: `if (pace.isDue()) await pace.rest();` in each round.
 */
export interface Pace {
  /** True where the slice is used up. Throws `UserError('cancelled')` once the signal is aborted. */
  isDue(): boolean;
  /** Gives the event loop one turn. Throws as `isDue` does. */
  rest(): Promise<void>;
}

export function createPace(signal?: AbortSignal): Pace {
  let sliceStart = performance.now();
  const check = (): void => {
    if (signal?.aborted) throw new UserError('cancelled', 'Cancelled while copying files');
  };
  return {
    isDue() {
      check();
      return performance.now() - sliceStart > sliceMs;
    },
    async rest() {
      await nextTurn();
      sliceStart = performance.now();
      check();
    },
  };
}
