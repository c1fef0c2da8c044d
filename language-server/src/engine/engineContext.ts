import type { ParamsOf } from '../../../protocol/src/contract.ts';
import type { engineHeard } from '../../../protocol/src/engineContract.ts';
import type { PersonSide } from '../agent/providers/personSide.ts';
import type { Projects } from '../project/model.ts';

type Events = typeof engineHeard;

/** Tells the person's side. */
export type Notify = <M extends keyof Events>(method: M, params: ParamsOf<Events[M]>) => void;

export interface EngineClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds, monotonic. */
  readonly monotonic: () => number;
  /** Runs `run` after `ms`; answers with what takes that back. */
  readonly setTimer: (run: () => void, ms: number) => () => void;
}

/** What holds for the whole engine. Each part names what it needs of this. */
export interface EngineContext {
  /** The folder of Sallyport's state, absolute; made on first need. */
  readonly home: string;
  /** The folder that holds the built programs: `remote-agent.cjs`, `sandbox-worker.mjs`, `quickjs.wasm`, … */
  readonly programs: string;
  readonly projects: Projects;
  readonly person: PersonSide;
  readonly notify: Notify;
  /** What goes wrong without failing anything that was asked for: kept for who looks for it. */
  readonly onProblem: (problem: string) => void;
  /** The same, told to the person as well. */
  readonly tellProblem: (error: unknown) => void;
  readonly isTrusted: () => boolean;
  /** The project's scope by its folder; null where the file system has no birth time. */
  readonly scopeOf: (root: string) => string | null;
  /** What history hangs on: the project's scope, or its path where it has none. */
  readonly projectKey: (root: string) => string;
  readonly clock: EngineClock;
}
