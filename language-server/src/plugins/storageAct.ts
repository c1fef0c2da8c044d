import type { Principal } from '../../../protocol/src/gate.ts';
import type { FrequentAct } from '../gate/frequentActs.ts';

/** One use of an app's own storage, by its page or a plugin. `limitBytes` is what a person let the app store. */
export function storageAct(principal: Principal, app: string, tool: string, limitBytes: number): FrequentAct {
  const measure = limitBytes > 0 ? String(limitBytes) : null;
  return {
    principal,
    tool,
    effect: 'store',
    targets: [{ kind: 'storage', name: app, measure, isProtected: false, isOutside: false }],
  };
}
