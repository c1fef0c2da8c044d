import type { VaultUse } from '../../../../protocol/src/vault.ts';

/** `pending` waits for a person. Only `accepted` releases, and only while its limits hold. */
export type GrantState = 'pending' | 'accepted' | 'declined' | 'revoked';

/** How often and how long. Null is without end. `until` is milliseconds since the epoch. */
export interface GrantLimits {
  readonly count: number | null;
  readonly until: number | null;
}

/** What is asked for, or given: one field of one version of an item, to one principal of one project, for one use. */
export interface GrantDraft {
  readonly item: string;
  readonly field: string;
  readonly principal: string;
  /** The project's scope; empty for what belongs to no project, such as a command. */
  readonly scope: string;
  readonly use: VaultUse;
  readonly limits: GrantLimits;
  /** The asker's words: data, shown escaped, decides nothing. */
  readonly reason: string;
}

export interface Grant extends GrantDraft {
  readonly id: string;
  /** The version that the person saw: another one needs another yes. */
  readonly itemVersion: number;
  readonly state: GrantState;
  readonly askedAt: number;
  readonly answeredAt: number | null;
  /** Uses so far. */
  readonly used: number;
}

/** One line of the log: who used what, where and when; never the value. */
export interface UseLine {
  readonly grant: string;
  readonly principal: string;
  readonly item: string;
  readonly field: string;
  /** Empty where the use has no host. */
  readonly host: string;
  readonly at: number;
}

export type GrantRefusal =
  'unknown' | 'pending' | 'declined' | 'revoked' | 'expired' | 'used-up' | 'item-removed' | 'item-changed';

/**
 * Whether a grant releases now; undefined is yes. `currentVersion` is the item's, undefined where it was removed. A clock
 * that was turned back releases nothing: a time before the answer counts as expired.
 */
export function refusalOf(
  grant: Grant | undefined,
  currentVersion: number | undefined,
  now: number,
): GrantRefusal | undefined {
  if (!grant) return 'unknown';
  if (grant.state !== 'accepted') return grant.state;
  if (currentVersion === undefined) return 'item-removed';
  if (currentVersion !== grant.itemVersion) return 'item-changed';
  const { count, until } = grant.limits;
  if (until !== null && (now >= until || now < (grant.answeredAt ?? Infinity))) return 'expired';
  if (count !== null && grant.used >= count) return 'used-up';
  return undefined;
}
