import { UserError } from '../../../protocol/src/errors.ts';
import type { OpenEngine } from './openEngine.ts';

/** The engine's store, runners and runs: opened when they are first needed, and once. */
export interface EngineOpening {
  /** Throws `closed` once the engine ends. */
  readonly open: () => OpenEngine;
  /** Undefined before the first need. */
  readonly opened: () => OpenEngine | undefined;
  /** From here on nothing is opened. Closes nothing itself. */
  readonly end: () => void;
  readonly isEnding: boolean;
}

/** `start` is called at the first need; where it throws, the next one who needs the engine calls it again. */
export function createOpening(start: () => OpenEngine): EngineOpening {
  let engine: OpenEngine | undefined;
  let isEnding = false;
  return {
    open: () => {
      if (isEnding) throw new UserError('closed', 'The engine is ending');
      return (engine ??= start());
    },
    opened: () => engine,
    end: () => {
      isEnding = true;
    },
    get isEnding() {
      return isEnding;
    },
  };
}
