import { parseVaultUse } from '../../../../protocol/src/vaultUse.ts';
import type { Notifier } from '../../notifier.ts';
import type { GrantDraft } from '../core/grants.ts';
import { coversWanted } from '../grants.ts';
import type { Vault } from '../core/vaultContract.ts';
import { grantWords } from './grantWords.ts';
import type { RequestReviewer } from './reviewRequests.ts';
import { vaultNotices } from './vaultNotices.ts';

const forever = { count: null, until: null } as const;

/** A permission `vaultItem:ITEM:FIELD:USE` of a card as what its grant says; undefined for any other permission. */
export function grantOfPermission(
  key: string,
  card: string,
  scope: string,
): Omit<GrantDraft, 'limits' | 'reason'> | undefined {
  const [, item, field, text] = /^vaultItem:([^:]+):([^:]+):([^]*)$/.exec(key) ?? [];
  const use = text === undefined ? undefined : parseVaultUse(text);
  if (item === undefined || field === undefined || !use) return undefined;
  return { item, field, principal: `card:${card}`, scope, use };
}

/**
 * Gives a card the vault's grants for the permissions that a person accepted just now. An item of the personal vault
 * needs presence beside; an item that no open vault has is said.
 */
export async function grantAccepted(
  accepted: readonly { readonly card: string; readonly keys: readonly string[] }[],
  scope: string,
  parts: {
    readonly vaults: () => Promise<readonly Vault[]>;
    readonly reviewer: RequestReviewer;
    readonly notifier: Notifier;
    readonly now: () => number;
  },
): Promise<void> {
  const asked = accepted.flatMap(({ card, keys }) =>
    keys.flatMap((key) => grantOfPermission(key, card, scope) ?? []),
  );
  if (asked.length === 0) return;
  const vaults = await parts.vaults();
  for (const each of asked) {
    const vault = vaults.find((one) => one.get(each.item)?.fields.some(({ name }) => name === each.field));
    if (!vault) {
      parts.notifier.show(vaultNotices.failed(grantWords.notInVault(each.item)));
      continue;
    }
    const wanted = { ...each, wish: { item: each.item, field: each.field, use: each.use } };
    const version = vault.get(each.item)?.version;
    const isGranted = vault
      .grants()
      .some((grant) => grant.itemVersion === version && coversWanted(grant, wanted, parts.now()));
    if (isGranted) continue;
    const grant = await vault.ask({ ...each, limits: forever, reason: '' });
    if (grant.state === 'pending') await parts.reviewer.allow({ vault, grant }, forever);
  }
}
