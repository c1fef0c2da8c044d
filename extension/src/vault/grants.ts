import type { VaultUse, VaultWish } from '../../../protocol/src/vault.ts';
import { vaultUseText } from '../../../protocol/src/vaultUse.ts';
import { refusalOf, type Grant } from './core/grants.ts';
import type { Vault } from './core/vaultContract.ts';

/** Who wants a value, where, and how. */
export interface Wanted {
  readonly principal: string;
  readonly scope: string;
  readonly wish: VaultWish;
}

/**
 * True where the grant is for this wish and in force at `now`: the same item, field and way of use, and no host that it
 * does not name. Whether the item is still the version that was granted is for whoever has the vault to say.
 */
function coversWish(grant: Grant, wish: VaultWish, now: number): boolean {
  return (
    grant.item === wish.item &&
    grant.field === wish.field &&
    coversUse(grant.use, wish.use) &&
    refusalOf(grant, grant.itemVersion, now) === undefined
  );
}

/** As `coversWish`, for exactly this principal of this project. */
export function coversWanted(grant: Grant, wanted: Wanted, now: number): boolean {
  return (
    grant.principal === wanted.principal &&
    grant.scope === wanted.scope &&
    coversWish(grant, wanted.wish, now)
  );
}

/** The grant in one of these vaults that covers what is wanted at `now`, for the item as it is. */
export function coveringGrant(
  vaults: readonly Vault[],
  wanted: Wanted,
  now: number,
): { readonly vault: Vault; readonly grant: Grant } | undefined {
  for (const vault of vaults) {
    const version = vault.get(wanted.wish.item)?.version;
    const grant = vault
      .grants()
      .find((each) => each.itemVersion === version && coversWanted(each, wanted, now));
    if (grant) return { vault, grant };
  }
  return undefined;
}

/** The first host of a use that an item was not saved for; undefined where all are, or the item names none. */
export function strayHost(use: VaultUse, itemHosts: readonly string[]): string | undefined {
  if (!('hosts' in use) || itemHosts.length === 0) return undefined;
  const saved = new Set(itemHosts.map(canonicalHost));
  return use.hosts.find((host) => !saved.has(canonicalHost(host)));
}

function coversUse(given: VaultUse, wanted: VaultUse): boolean {
  if (!('hosts' in given) || !('hosts' in wanted)) return vaultUseText(given) === vaultUseText(wanted);
  const hosts = new Set(given.hosts.map(canonicalHost));
  const isWithin = wanted.hosts.length > 0 && wanted.hosts.every((host) => hosts.has(canonicalHost(host)));
  return isWithin && vaultUseText({ ...given, hosts: [] }) === vaultUseText({ ...wanted, hosts: [] });
}

/** A host without a port stands for its TLS port. */
export function canonicalHost(host: string): string {
  const lower = host.toLowerCase();
  return lower.endsWith(':443') && !/:[0-9]+:443$/.test(lower.replace(/^\[[^\]]*\]/, ''))
    ? lower.slice(0, -4)
    : lower;
}
