import type { ParamsOf, RequestHandlers, ResultOf } from '../../protocol/src/contract.ts';
import type { engineHeard, engineRequests, personRequests } from '../../protocol/src/engineContract.ts';
import type { Disposable } from './disposable.ts';

type Requests = typeof engineRequests;
type Events = typeof engineHeard;

/** The extension's view of the engine. Answers and events have passed their schema. */
export interface Engine {
  /** Starts the engine on first use. Rejects with `UserError`. */
  call<M extends keyof Requests>(
    method: M,
    params: ParamsOf<Requests[M]>,
    signal?: AbortSignal,
  ): Promise<ResultOf<Requests[M]>>;
  /** Hears an event. Listening does not start the engine. */
  on<M extends keyof Events>(method: M, listener: (params: ParamsOf<Events[M]>) => void): Disposable;
}

export type PersonHandlers = RequestHandlers<typeof personRequests>;
