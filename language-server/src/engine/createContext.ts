import { UserError } from '../../../protocol/src/errors.ts';
import type { PersonSide } from '../agent/providers/personSide.ts';
import { projectScope } from '../project/scope.ts';
import { markDamaged } from '../store/openDatabase.ts';
import { isDamage } from '../store/sqliteErrors.ts';
import type { EngineClock, EngineContext } from './engineContext.ts';
import { tellError } from './engineEvents.ts';

export interface ContextOptions
  extends
    Pick<EngineContext, 'home' | 'programs' | 'projects' | 'notify' | 'onProblem'>,
    Partial<Pick<EngineContext, 'person' | 'scopeOf'>>,
    Partial<Pick<EngineClock, 'now' | 'setTimer'>> {}

/** What changes while the engine lives. */
export interface ContextState {
  readonly isTrusted: () => boolean;
  /** The path of the database, once it is open. */
  readonly database: () => string | undefined;
}

/** The context of an engine, with the system's own clock, scopes and nobody to ask where none are given. */
export function createContext(options: ContextOptions, state: ContextState): EngineContext {
  const { home, programs, projects, notify, onProblem } = options;
  const { person = nobody, scopeOf = projectScope, now = Date.now, setTimer = startTimer } = options;
  return {
    ...{ home, programs, projects, person, notify, onProblem, scopeOf },
    isTrusted: state.isTrusted,
    projectKey: (root) => scopeOf(root) ?? `path:${root}`,
    clock: { now, monotonic: () => performance.now(), setTimer },
    tellProblem: (error) => {
      onProblem(error instanceof Error ? (error.stack ?? error.message) : String(error));
      const database = state.database();
      if (isDamage(error) && database !== undefined) markDamaged(database);
      tellError(notify, error);
    },
  };
}

const nobody: PersonSide = {
  ask: () => Promise.reject(new UserError('closed', 'Nobody is there to ask: this needs the extension')),
};

function startTimer(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
