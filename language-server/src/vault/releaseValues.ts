import { UserError } from '../../../protocol/src/errors.ts';
import type { ReleasedValue, VaultWish } from '../../../protocol/src/vault.ts';
import type { PersonSide } from '../agent/providers/personSide.ts';

/** A card about to run that wants values. */
export interface WishingCard {
  readonly id: string;
  readonly vault: readonly VaultWish[];
}

/** The values of one job, sealed to the runner that will run it. Rejects with `permission-needed` and what to do. */
export type ReleaseValues = (
  card: WishingCard,
  root: string,
  jobId: string,
  vaultKey: string | undefined,
  signal: AbortSignal,
) => Promise<readonly ReleasedValue[]>;

export interface ReleaseOptions {
  readonly person: PersonSide;
  readonly scopeOf: (root: string) => string | null;
}

/**
 * Asks the vault for the values of a job. They come sealed to the runner and are carried as they are: nothing here can
 * open them. Exactly what was asked for must come back, no less.
 */
export function createRelease({ person, scopeOf }: ReleaseOptions): ReleaseValues {
  return async (card, root, jobId, vaultKey, signal) => {
    if (card.vault.length === 0) return [];
    const scope = scopeOf(root);
    if (scope === null) {
      throw needed('its folder can’t be told from a copy, so no grant can be for it', 'Move the project.');
    }
    if (vaultKey === undefined) {
      throw needed('the place where it runs can take no vault values', 'Update Sallyport there.');
    }
    const principal = `card:${card.id}`;
    const wishes = [...card.vault];
    const { values } = await person
      .ask('vault/release', { principal, scope, jobId, recipient: vaultKey, wishes }, signal)
      .catch((error: unknown) => {
        throw error instanceof UserError && error.code === 'closed'
          ? needed('the vault can only be asked from VS Code', 'Run the card there.')
          : error;
      });
    const isComplete =
      values.length === wishes.length &&
      values.every(({ wish }, at) => JSON.stringify(wish) === JSON.stringify(wishes[at]));
    if (!isComplete)
      throw new UserError('bad-message', 'The vault answered with other values than asked for');
    return values;
  };
}

function needed(detail: string, remedy: string): UserError {
  return new UserError('permission-needed', detail, { remedy });
}
