import type { RequestHandlers } from '../../../protocol/src/contract.ts';
import type { engineSide } from '../../../protocol/src/engine.ts';
import type { Consents } from './consents.ts';

export interface PermissionHandlersOptions {
  readonly consents: Pick<Consents, 'review' | 'accept' | 'revoke'>;
  /** What the cards of a project may do is another than before. */
  readonly onChanged: (root: string) => void;
}

export type PermissionHandlers = Pick<
  RequestHandlers<(typeof engineSide)['requests']>,
  'permissions/review' | 'permissions/accept' | 'permissions/revoke'
>;

/** Takes a person's answers to what cards ask for. */
export function createPermissionHandlers(options: PermissionHandlersOptions): PermissionHandlers {
  const { consents, onChanged } = options;
  return {
    'permissions/review': ({ root }) => consents.review(root),
    'permissions/accept': ({ root, digest, accepted }) => {
      const count = consents.accept(root, digest, accepted);
      onChanged(root);
      return { accepted: count };
    },
    'permissions/revoke': ({ root, card, key }) => {
      const revoked = consents.revoke(root, card, key);
      onChanged(root);
      return { revoked };
    },
  };
}
