import { idPattern } from './items.ts';
import { refusalOf, type Grant, type GrantDraft, type UseLine } from './grants.ts';
import type { VaultIndex } from './vaultIndex.ts';
import { VaultError } from './vaultState.ts';

/** What becomes of grants: each function gives the grant as it is to be written, and changes nothing itself. */

const mostPending = 100;
const limits = { reason: 2000, principal: 200, scope: 200 } as const;

/** A waiting grant, and whether it is a fresh one. Throws `no-such-item`, `no-such-field` or `too-many-asks`. */
export function asked(
  index: VaultIndex,
  draft: GrantDraft,
  id: string,
  now: number,
): { readonly grant: Grant; readonly isFresh: boolean } {
  const item = index.current(draft.item);
  if (!item) throw new VaultError('no-such-item', { item: named(draft.item) });
  if (!item.fields.some(({ name }) => name === draft.field))
    throw new VaultError('no-such-field', { item: item.id, field: named(draft.field) });
  if (!isSmall(draft)) throw new VaultError('bad-item', { problem: 'grant', name: '' });
  const pending = index.grants().filter(({ state }) => state === 'pending');
  const same = pending.find((grant) => grant.itemVersion === item.version && isSameWish(grant, draft));
  if (same) return { grant: same, isFresh: false };
  if (pending.length >= mostPending) throw new VaultError('too-many-asks');
  const { field, principal, scope, use, reason } = draft;
  return {
    grant: {
      id,
      item: item.id,
      field,
      principal,
      scope,
      use,
      limits: draft.limits,
      reason,
      itemVersion: item.version,
      state: 'pending',
      askedAt: now,
      answeredAt: null,
      used: 0,
    },
    isFresh: true,
  };
}

/** Throws `no-such-grant`, `already-answered`, or `changed-elsewhere` where the item is not what was asked about. */
export function answered(
  index: VaultIndex,
  id: string,
  answer: 'accepted' | 'declined',
  limits: Grant['limits'] | undefined,
  now: number,
): Grant {
  const grant = index.grant(id);
  if (!grant) throw new VaultError('no-such-grant');
  if (grant.state !== 'pending') throw new VaultError('already-answered', { state: grant.state });
  if (answer === 'accepted' && index.current(grant.item)?.version !== grant.itemVersion)
    throw new VaultError('changed-elsewhere', { item: grant.item });
  return { ...grant, state: answer, answeredAt: now, limits: limits ?? grant.limits };
}

/** Undefined where nothing is to be done. Throws `no-such-grant`. */
export function revoked(index: VaultIndex, id: string): Grant | undefined {
  const grant = index.grant(id);
  if (!grant) throw new VaultError('no-such-grant');
  return grant.state === 'revoked' || grant.state === 'declined' ? undefined : { ...grant, state: 'revoked' };
}

/** Accepted grants of an item that go on with its next version, for the fields that are still there. */
export function carried(
  index: VaultIndex,
  item: string,
  version: number,
  fields: readonly string[],
): readonly Grant[] {
  return index
    .grants()
    .filter(
      (grant) =>
        grant.item === item &&
        grant.state === 'accepted' &&
        grant.itemVersion === version &&
        fields.includes(grant.field),
    )
    .map((grant) => ({ ...grant, itemVersion: version + 1 }));
}

/** The line of one use. Throws `not-granted` with the reason. */
export function consumed(index: VaultIndex, id: string, host: string, now: number): UseLine {
  const grant = index.grant(id);
  const refusal = refusalOf(grant, grant && index.current(grant.item)?.version, now);
  if (!grant || refusal) throw new VaultError('not-granted', { reason: refusal ?? 'unknown' });
  return { grant: id, principal: grant.principal, item: grant.item, field: grant.field, host, at: now };
}

function isSameWish(a: GrantDraft, b: GrantDraft): boolean {
  return (
    a.item === b.item &&
    a.field === b.field &&
    a.principal === b.principal &&
    a.scope === b.scope &&
    JSON.stringify(a.use) === JSON.stringify(b.use)
  );
}

function isSmall({ reason, principal, scope, use, limits: { count, until } }: GrantDraft): boolean {
  return (
    reason.length <= limits.reason &&
    principal.length <= limits.principal &&
    scope.length <= limits.scope &&
    JSON.stringify(use).length <= 16_384 &&
    (count === null || (Number.isSafeInteger(count) && count > 0)) &&
    (until === null || Number.isSafeInteger(until))
  );
}

/** What a model wrote goes into no error but as an id. */
function named(text: string): string {
  return idPattern.test(text) ? text : '';
}
