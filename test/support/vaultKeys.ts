import { UserError } from '../../protocol/src/errors.ts';
import type { VaultKeys } from '../../extension/src/vault/vaultKeys.ts';

/** A vault that gives no connection its key. */
export const noVaultKeys: Pick<VaultKeys, 'authorize'> = {
  authorize: () => Promise.reject(new UserError('unreadable', 'There is no vault here')),
};
