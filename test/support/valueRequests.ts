import type { ValueRequests } from '../../language-server/src/vault/valueRequests.ts';

/** A vault without a grant. */
export const noValueRequests: ValueRequests = {
  granted: () => Promise.resolve([]),
  send: () => Promise.reject(new Error('Nothing was granted')),
};
