import type { JournalEntry } from '../../../../protocol/src/servedRunner.ts';
import { atMost } from './atMost.ts';
import type { LeftJob, RemoteJob, RemoteJobs } from './remoteJobs.ts';
import type { RemoteLink } from './remoteLink.ts';

export interface ReconcileOptions {
  readonly link: Pick<RemoteLink, 'channel'>;
  readonly place: string;
  readonly jobs: RemoteJobs;
  /** True for a job that this engine looks after already. */
  readonly isOwn: (jobId: string) => boolean;
  /** False as soon as the link is another one: the next one begins anew. */
  readonly isCurrent: () => boolean;
  /** Looks after a job to its end, as long as that takes; what is stored of it is then forgotten over there. */
  readonly follow: (job: RemoteJob, left: LeftJob) => Promise<void>;
  /** Before what failed is tried again, and how long one that has ended may hold up the next. */
  readonly patienceMs: number;
  readonly wait: (ms: number) => Promise<void>;
  readonly setTimer: (run: () => void, ms: number) => () => void;
  /** Told once of each job that failed, and of the journal (no job) where that could not be had. */
  readonly onFailed: (jobId: string | undefined, error: unknown) => void;
}

/**
 * Settles what is left over from engines that were killed, and from connections that were lost at the wrong moment:
 * results that nobody fetched are fetched and stored once, what goes on over there is followed from here, jobs that
 * were cancelled meanwhile are ended, and what is stored here is forgotten over there. A job that fails holds up no
 * other; it is tried twice more, and again at the next connection. Never rejects.
 */
export async function reconcile(options: ReconcileOptions): Promise<void> {
  const { isCurrent, onFailed, wait, patienceMs } = options;
  const told = new Set<string | undefined>();
  let isWanted: (jobId: string) => boolean = () => true;
  for (let round = 1; ; round += 1) {
    const failed = new Set<string | undefined>();
    const onError = (jobId: string | undefined, error: unknown) => {
      // What fails with its link is the next one's.
      if (!isCurrent()) return;
      failed.add(jobId);
      if (!told.has(jobId)) onFailed(jobId, error);
      told.add(jobId);
    };
    await new Round(options, isWanted, onError).run();
    if (failed.size === 0 || round === mostRounds) return;
    if (!failed.has(undefined)) isWanted = (jobId) => failed.has(jobId);
    await wait(patienceMs);
    if (!isCurrent()) return;
  }
}

const mostRounds = 3;

/** One look at all that is wanted. */
class Round {
  readonly #options: ReconcileOptions;
  readonly #isWanted: (jobId: string) => boolean;
  readonly #onError: (jobId: string | undefined, error: unknown) => void;

  constructor(
    options: ReconcileOptions,
    isWanted: (jobId: string) => boolean,
    onError: (jobId: string | undefined, error: unknown) => void,
  ) {
    this.#options = options;
    this.#isWanted = isWanted;
    this.#onError = onError;
  }

  async run(): Promise<void> {
    try {
      if (this.#left().length === 0) return;
      const states = await this.#states();
      const left = this.#left();
      const missing = left.filter(({ jobId, state }) => state === 'sent' && !states.has(jobId));
      const barred = await this.#bar(missing);
      const later = missing.length === 0 ? states : await this.#states();
      for (const job of left) {
        const state = later.get(job.jobId);
        if (state === undefined && job.state === 'sent' && !barred.has(job.jobId)) continue;
        await this.#each(job, () => this.#settle(job, state));
      }
    } catch (error) {
      this.#onError(undefined, error);
    }
  }

  #left(): RemoteJob[] {
    const { jobs, place, isOwn } = this.#options;
    return jobs.left(place).filter(({ jobId }) => this.#isWanted(jobId) && !isOwn(jobId));
  }

  async #states(): Promise<Map<string, JournalEntry['state']>> {
    const entries = await this.#options.link.channel.call('journal/list', {});
    return new Map(entries.map(({ jobId, state }) => [jobId, state]));
  }

  /**
   * The jobs of these that can't come there any more. A connection that was given up may bring one late; after it was
   * cancelled there it is not accepted, and one that came before is in the journal.
   */
  async #bar(missing: readonly RemoteJob[]): Promise<Set<string>> {
    const { channel } = this.#options.link;
    const barred = new Set<string>();
    const bar = async ({ jobId }: RemoteJob) => {
      await channel.call('job/cancel', { jobId });
      barred.add(jobId);
    };
    await Promise.all(missing.map((job) => this.#each(job, () => bar(job))));
    return barred;
  }

  /** Does something about one job; the next one does not depend on it. */
  async #each({ jobId }: RemoteJob, work: () => Promise<void>): Promise<void> {
    if (!this.#options.isCurrent()) return;
    try {
      await work();
    } catch (error) {
      this.#onError(jobId, error);
    }
  }

  async #settle(job: RemoteJob, state: JournalEntry['state'] | undefined): Promise<void> {
    const { link, jobs, isOwn, follow, patienceMs, setTimer } = this.#options;
    const { jobId } = job;
    if (isOwn(jobId)) return;
    if (job.state === 'sent' && state === undefined) jobs.neverAccepted(jobId);
    if (job.state === 'sent' && state !== undefined) {
      if (job.cancelled) await link.channel.call('job/cancel', { jobId });
      const left = jobs.takeUp(jobId);
      if (left === 'another') return;
      if (left !== 'nobody') {
        const followed = follow(job, left);
        // Those that have ended come one after the other: each brings its outputs. One that does not come is passed by.
        if (state === 'ended') await atMost(followed, patienceMs, setTimer);
        return;
      }
      // Nobody waits for it, but it is not for this place to end it.
      if (state !== 'ended') return;
    }
    if (state !== undefined) await link.channel.call('job/forget', { jobId });
    jobs.remove(jobId);
  }
}
