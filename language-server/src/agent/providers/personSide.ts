import type { ParamsOf, ResultOf } from '../../../../protocol/src/contract.ts';
import type { personRequests } from '../../../../protocol/src/engineContract.ts';

type Requests = typeof personRequests;

/**
 * The extension host, which makes every request to a provider itself and holds the vault: keys, addresses and values
 * stay there. Answers have
 * passed their schema. Rejects with `UserError`; an aborted signal cancels the request on the other side.
 */
export interface PersonSide {
  ask<M extends keyof Requests>(
    method: M,
    params: ParamsOf<Requests[M]>,
    signal?: AbortSignal,
  ): Promise<ResultOf<Requests[M]>>;
}
