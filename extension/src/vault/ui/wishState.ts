import { refusalOf, type Grant } from '../core/grants.ts';
import type { Vault } from '../core/vaultContract.ts';
import type { WishAnswer, WishAnswers, WishOwner } from '../wishAnswers.ts';

/**
 * `given`: a grant is in force, or was given in a vault that is not open now. `ended`: it was given, and its limits, a
 * revocation or another version of the item ended it. `waiting`: nobody has answered.
 */
export type WishState = 'given' | 'ended' | 'none' | 'waiting';

/** What the vaults that are open hold for a wish, in force at `now`. */
export function grantsFor(
  { principal, scope }: WishOwner,
  vaults: readonly Vault[],
  now: number,
): { readonly vault: Vault; readonly grant: Grant }[] {
  return vaults.flatMap((vault) =>
    vault
      .grants()
      .filter((grant) => grant.principal === principal && grant.scope === scope)
      .filter((grant) => refusalOf(grant, vault.get(grant.item)?.version, now) === undefined)
      .map((grant) => ({ vault, grant })),
  );
}

/** `isComplete`: no vault is there that is not open. */
export function wishState(
  wish: WishOwner,
  answers: Pick<WishAnswers, 'of'>,
  vaults: { readonly open: readonly Vault[]; readonly isComplete: boolean },
  now: number,
): WishState {
  const answer: WishAnswer | undefined = answers.of(wish);
  if (answer !== 'given') return answer ?? 'waiting';
  return vaults.isComplete && grantsFor(wish, vaults.open, now).length === 0 ? 'ended' : 'given';
}
