import type { LeftJob, RemoteJob, RemoteJobs } from './remoteJobs.ts';
import type { RemoteLink } from './remoteLink.ts';

export interface ReconcileOptions {
  readonly link: RemoteLink;
  readonly place: string;
  readonly jobs: RemoteJobs;
  /** True for a job that this engine looks after already. */
  readonly isOwn: (jobId: string) => boolean;
  /** False as soon as the link is another one: the next one begins anew. */
  readonly isCurrent: () => boolean;
  /** Looks after a job to its end, as long as that takes; what is stored of it is then forgotten over there. */
  readonly follow: (job: RemoteJob, left: LeftJob) => Promise<void>;
}

/**
 * Settles what is left over from engines that were killed, and from connections that were lost at the wrong moment:
 * results that nobody fetched are fetched and stored once, what goes on over there is followed from here, jobs that
 * were cancelled meanwhile are ended, and what is stored here is forgotten over there.
 */
export async function reconcile(options: ReconcileOptions): Promise<void> {
  const { link, place, jobs, isOwn, isCurrent, follow } = options;
  if (jobs.left(place).length === 0) return;
  const entries = await link.channel.call('journal/list', {});
  const states = new Map(entries.map(({ jobId, state }) => [jobId, state]));
  for (const job of jobs.left(place)) {
    const { jobId } = job;
    if (!isCurrent()) return;
    if (isOwn(jobId)) continue;
    const state = states.get(jobId);
    if (job.state === 'sent' && state === undefined) jobs.neverAccepted(jobId);
    if (job.state === 'sent' && state !== undefined) {
      if (job.cancelled) await link.channel.call('job/cancel', { jobId });
      const left = jobs.takeUp(jobId);
      if (left === 'another') continue;
      if (left !== 'nobody') {
        const followed = follow(job, left);
        // Those that have ended come one after the other: each brings its outputs.
        if (state === 'ended') await followed;
        continue;
      }
      // Nobody waits for it, but it is not for this place to end it.
      if (state !== 'ended') continue;
    }
    if (state !== undefined) await link.channel.call('job/forget', { jobId });
    jobs.remove(jobId);
  }
}
