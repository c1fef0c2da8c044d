import { UserError } from '../../../../protocol/src/errors.ts';
import type { ReleasedValue } from '../../../../protocol/src/vault.ts';
import type { AwaitedRelease } from '../../vault/awaitedRelease.ts';
import { isProved } from '../../vault/keyProof.ts';

/** Asks the vault for the values of a job that has started. */
export type ReleaseStarted = (
  awaited: AwaitedRelease,
  jobId: string,
  recipient: string,
  signal: AbortSignal,
) => Promise<readonly ReleasedValue[]>;

interface Asked {
  readonly jobId: string;
  readonly publicKey: string;
  readonly proof: string;
}

/**
 * Answers jobs that have started and ask for their vault values. What was released for a key once is told again for the
 * same key, so that a connection that is lost in between costs no second use of a grant.
 */
export class ValueRelease {
  readonly #awaitedOf: (jobId: string) => AwaitedRelease | undefined;
  readonly #release: ReleaseStarted;
  readonly #released = new Map<string, { publicKey: string; values: Promise<readonly ReleasedValue[]> }>();

  /** `awaitedOf` knows the jobs that this engine looks after. */
  constructor(awaitedOf: (jobId: string) => AwaitedRelease | undefined, release: ReleaseStarted) {
    this.#awaitedOf = awaitedOf;
    this.#release = release;
  }

  /** Rejects with `not-found` where the job is another's, `bad-message` for a key that is not the job's own. */
  async answer({ jobId, publicKey, proof }: Asked, signal: AbortSignal): Promise<readonly ReleasedValue[]> {
    const awaited = this.#awaitedOf(jobId);
    if (!awaited) throw new UserError('not-found', `No values are given to the job ${jobId} from here`);
    if (!isProved(awaited.ticket, jobId, publicKey, proof))
      throw new UserError('bad-message', 'A key came that is not the job’s own, so it gets no vault values');
    const known = this.#released.get(jobId);
    if (known?.publicKey === publicKey) return known.values;
    const values = this.#release(awaited, jobId, publicKey, signal);
    this.#released.set(jobId, { publicKey, values });
    values.catch(() => this.#released.delete(jobId));
    return values;
  }

  /** The job has ended. */
  forget(jobId: string): void {
    this.#released.delete(jobId);
  }
}
