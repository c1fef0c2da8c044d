import type { ParamsOf, ResultOf } from '../../../../protocol/src/contract.ts';
import type { providerRequests } from '../../../../protocol/src/agent.ts';

type Requests = typeof providerRequests;

/**
 * The extension host, which makes every request to a provider itself: keys and addresses stay there. Answers have
 * passed their schema. Rejects with `UserError`; an aborted signal cancels the request on the other side.
 */
export interface PersonSide {
  ask<M extends keyof Requests>(
    method: M,
    params: ParamsOf<Requests[M]>,
    signal?: AbortSignal,
  ): Promise<ResultOf<Requests[M]>>;
}
