import type { ParamsOf, ResultOf } from '../../protocol/src/contract.ts';
import type { engineEvents, engineSide } from '../../protocol/src/engine.ts';
import type { Disposable } from './disposable.ts';

type EngineRequests = (typeof engineSide)['requests'];
type EngineNotifications = (typeof engineEvents)['notifications'];

/** The extension's view of the engine. Answers and events have passed their schema. */
export interface Engine {
  /** Starts the engine on first use. Rejects with `UserError`. */
  call<M extends keyof EngineRequests>(
    method: M,
    params: ParamsOf<EngineRequests[M]>,
    signal?: AbortSignal,
  ): Promise<ResultOf<EngineRequests[M]>>;
  /** Hears an event. Listening does not start the engine. */
  on<M extends keyof EngineNotifications>(
    method: M,
    listener: (params: ParamsOf<EngineNotifications[M]>) => void,
  ): Disposable;
}
