import { basename, dirname, resolve } from 'node:path';
import type { ParamsOf, ResultOf } from '../../../protocol/src/contract.ts';
import type { engineHeard, engineRequests } from '../../../protocol/src/engineContract.ts';
import type { Notify } from '../engine/engineContext.ts';
import type { LoadedProject, Projects } from '../project/model.ts';
import type { EngineServices } from '../services.ts';
import type { Arguments } from './arguments.ts';
import type { Terminal } from './terminal.ts';

type Requests = typeof engineRequests;
type Events = typeof engineHeard;

/** The engine in this process, for one command. */
export interface Session {
  readonly args: Arguments;
  readonly terminal: Terminal;
  /** The project's folder; the current one where the command names none. */
  readonly root: string;
  /** The project, read from disk. Throws `no-project`. */
  project(): LoadedProject;
  call<M extends keyof Requests>(method: M, params: ParamsOf<Requests[M]>): Promise<ResultOf<Requests[M]>>;
  on<M extends keyof Events>(method: M, listener: (params: ParamsOf<Events[M]>) => void): void;
  /** Starts the runner while the project is still being read. */
  warmUp(): void;
  whenFinished(runId: string): Promise<void>;
  /** Aborted when the person presses Ctrl-C. */
  readonly interrupted: AbortSignal;
  dispose(): Promise<void>;
}

export interface SessionParts {
  readonly openProjects: (root: string) => Projects;
  readonly createServices: (projects: Projects, notify: Notify) => EngineServices;
  readonly interrupted: AbortSignal;
}

/** Opens the engine for the command of `args`; its parts start when they are first needed. The caller disposes of it. */
export function openSession(args: Arguments, terminal: Terminal, parts: SessionParts): Session {
  const [first, second] = args.operands;
  const named =
    args.command === 'vm'
      ? first === 'terminal'
        ? second
        : undefined
      : ofNoProject.has(args.command)
        ? undefined
        : first;
  const root = projectFolder(named ?? '.');
  const projects = parts.openProjects(root);
  const listeners = new Map<string, (params: never) => void>();
  const services = parts.createServices(projects, (method, params) => {
    (listeners.get(method) as ((value: typeof params) => void) | undefined)?.(params);
  });
  return {
    args,
    terminal,
    root,
    project: () => projects.get(root),
    call: async (method, params) => services.handlers[method](params, parts.interrupted),
    on: (method, listener) => void listeners.set(method, listener),
    warmUp: () => services.warmUp(),
    whenFinished: (runId) => services.whenFinished(runId),
    interrupted: parts.interrupted,
    dispose: () => services.dispose(),
  };
}

/** What follows these is one of their own words. */
const ofNoProject: ReadonlySet<string> = new Set(['app', 'worker']);

/** The folder of a project that is named by its folder or by its `sallyport.json`. */
function projectFolder(named: string): string {
  const path = resolve(named);
  return basename(path) === 'sallyport.json' ? dirname(path) : path;
}
