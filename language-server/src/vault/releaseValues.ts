import { randomBytes } from 'node:crypto';
import { UserError } from '../../../protocol/src/errors.ts';
import { permissionSentence, widening, type Permission } from '../../../protocol/src/permissions.ts';
import type { ReleasedValue, VaultWish } from '../../../protocol/src/vault.ts';
import { vaultUseWords } from '../../../protocol/src/vaultUse.ts';
import type { PersonSide } from '../agent/providers/personSide.ts';
import type { JobVault } from '../runners/cardRunner.ts';
import type { PlaceInfo } from '../runners/places/placeRunner.ts';
import { valueWaitSeconds, type AwaitedRelease } from './awaitedRelease.ts';

/** A card about to run that wants values. */
export interface WishingCard {
  readonly id: string;
  readonly asked: readonly Permission[];
  readonly vault: readonly VaultWish[];
}

export interface ReleaseOptions {
  readonly person: PersonSide;
  readonly scopeOf: (root: string) => string | null;
  readonly isTrusted: () => boolean;
  /** What a card of a project may do now. */
  readonly accepted: (root: string, card: string) => readonly Permission[];
  /** A job has started and waits for a vault that a person has to unlock. */
  readonly onLocked: (card: string, why: string) => void;
}

/** Asks the vault for values. They come sealed and are carried as they are: nothing here can open them. */
export interface Releases {
  /**
   * The values of a job, sealed to the place where it goes; or, where no key is known before it has started, what is
   * needed to ask then. Rejects with `permission-needed` and what to do where there is no grant now.
   */
  forJob(
    card: WishingCard,
    root: string,
    jobId: string,
    place: Pick<PlaceInfo, 'vaultKey' | 'asksValues'>,
    signal: AbortSignal,
  ): Promise<JobVault>;
  /**
   * The values of a job that has started, sealed to its own key: under the grants, and with the permissions accepted,
   * as they are now. Waits where a vault has to be unlocked. Rejects with `permission-needed`.
   */
  forStarted(
    awaited: AwaitedRelease,
    jobId: string,
    recipient: string,
    signal: AbortSignal,
  ): Promise<readonly ReleasedValue[]>;
  /** Names, grants or locks changed. */
  changed(): void;
}

/** Asks the person's side for values; none is kept here, and each is sealed to its job before it comes. */
export function createReleases(options: ReleaseOptions): Releases {
  const { person, isTrusted, accepted, onLocked } = options;
  const waiting = new Set<() => void>();

  const release = async (
    root: string,
    card: string,
    wishes: VaultWish[],
    job: Sealing,
    signal: AbortSignal,
  ) => {
    const asked = { ...asker(options, root, card), ...job, wishes };
    const { values } = await person.ask('vault/release', asked, signal).catch(inVsCode);
    const isComplete =
      values.length === wishes.length &&
      values.every(({ wish }, at) => JSON.stringify(wish) === JSON.stringify(wishes[at]));
    if (!isComplete)
      throw new UserError('bad-message', 'The vault answered with other values than asked for');
    return values;
  };

  const assertGranted = async (card: WishingCard, root: string, signal: AbortSignal) => {
    const who = asker(options, root, card.id);
    const wishes = [...card.vault];
    const { covered } = await person.ask('vault/covered', { ...who, wishes }, signal).catch(inVsCode);
    const missing = wishes.filter((_wish, at) => covered[at] !== true);
    // A person finds them among what waits for an answer.
    for (const wish of missing)
      await person.ask('vault/ask', { ...who, wish, reason: '' }, signal).catch(inVsCode);
    const [first] = missing;
    if (!first) return;
    const { item, field, use } = first;
    throw needed(
      `there is no grant for ${field} of the vault item ${item} ${vaultUseWords(use)}`,
      'It waits in the Vault view for your answer.',
    );
  };

  const assertAccepted = ({ root, card, asked }: AwaitedRelease) => {
    if (!isTrusted()) throw needed('nothing runs in an untrusted workspace', 'Trust the workspace first.');
    const unanswered = widening(accepted(root, card), asked);
    if (unanswered.length === 0) return;
    throw needed(
      unanswered.map(permissionSentence).join('; '),
      'Review what it asks for (Sallyport: Review Permissions).',
    );
  };

  return {
    async forJob(card, root, jobId, { vaultKey, asksValues }, signal) {
      if (card.vault.length === 0) return {};
      if (vaultKey !== undefined)
        return {
          vault: await release(root, card.id, [...card.vault], { jobId, recipient: vaultKey }, signal),
        };
      if (asksValues !== true)
        throw needed('the place where it runs can take no vault values', 'Update Sallyport there.');
      await assertGranted(card, root, signal);
      const releaseLater = {
        ticket: randomBytes(32).toString('base64'),
        waitSeconds: valueWaitSeconds,
        root,
        card: card.id,
        asked: [...card.asked],
        wishes: [...card.vault],
      };
      return { releaseLater };
    },
    async forStarted(awaited, jobId, recipient, signal) {
      for (let isTold = false; ; isTold = true) {
        const change = nextChange(waiting, signal);
        try {
          assertAccepted(awaited);
          return await release(awaited.root, awaited.card, awaited.wishes, { jobId, recipient }, signal);
        } catch (error) {
          if (!isLocked(error)) throw error;
          if (!isTold) onLocked(awaited.card, error.message);
          await change.came;
        } finally {
          change.forget();
        }
      }
    },
    changed() {
      for (const wake of waiting) wake();
    },
  };
}

interface Sealing {
  readonly jobId: string;
  readonly recipient: string;
}

function asker({ scopeOf }: ReleaseOptions, root: string, card: string) {
  const scope = scopeOf(root);
  if (scope !== null) return { principal: `card:${card}`, scope };
  throw needed('its folder can’t be told from a copy, so no grant can be for it', 'Move the project.');
}

/** `came` settles at the next change and rejects with `cancelled` when the signal aborts; `forget` stops waiting for both. */
function nextChange(
  waiting: Set<() => void>,
  signal: AbortSignal,
): { came: Promise<void>; forget: () => void } {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const wake = () => resolve(undefined);
  const stop = () => reject(new UserError('cancelled', 'The job wants no values any more'));
  // Nobody may be waiting when it is aborted.
  promise.catch(() => undefined);
  waiting.add(wake);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  return {
    came: promise,
    forget: () => {
      waiting.delete(wake);
      signal.removeEventListener('abort', stop);
    },
  };
}

function isLocked(error: unknown): error is UserError {
  return error instanceof UserError && error.data['isLocked'] === true;
}

function inVsCode(error: unknown): never {
  throw error instanceof UserError && error.code === 'closed'
    ? needed('the vault can only be asked from VS Code', 'Run the card there.')
    : error;
}

function needed(detail: string, remedy: string): UserError {
  return new UserError('permission-needed', detail, { remedy });
}
