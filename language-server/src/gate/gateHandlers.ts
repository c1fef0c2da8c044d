import type { RequestHandlers } from '../../../protocol/src/contract.ts';
import type { gateRequests } from '../../../protocol/src/gate.ts';
import type { Gate } from './gate.ts';

export interface GateHandlersOptions {
  readonly gate: Gate;
  /** The scope of an open project. Throws `bad-project` where it has none. */
  readonly scopeOf: (root: string) => string;
}

export type GateHandlers = Omit<RequestHandlers<typeof gateRequests>, 'gate/tryOut'>;

/** Shows a person what waits for them and what they have granted, and takes their answers. */
export function createGateHandlers({ gate, scopeOf }: GateHandlersOptions): GateHandlers {
  return {
    'approval/list': () => gate.waiting(),
    'approval/answer': ({ id, reviewDigest, answer }) => {
      gate.answer(id, reviewDigest, answer);
      return { taken: true };
    },
    'approval/declineAll': () => ({ declined: gate.declineAll() }),
    'grant/list': ({ root }) => gate.grants(scopeOf(root)),
    'grant/give': ({ root, ...grant }) => gate.give({ ...grant, scope: scopeOf(root) }),
    'grant/revoke': ({ id }) => ({ revoked: gate.revoke(id) }),
  };
}
