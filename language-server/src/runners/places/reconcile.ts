import { UserError } from '../../../../protocol/src/errors.ts';
import type { JobResult } from '../../../../protocol/src/runner.ts';
import type { RemoteJob, RemoteJobs } from './remoteJobs.ts';
import type { RemoteLink } from './remoteLink.ts';

/**
 * Settles what is left over from engines that were killed, and from connections that were lost at the wrong moment:
 * results that nobody fetched are fetched and stored once, jobs that were cancelled meanwhile are ended, and what is
 * stored here is forgotten over there. Jobs that run go on and are asked about at the next connection.
 */
export async function reconcile(
  link: RemoteLink,
  place: string,
  jobs: RemoteJobs,
  isOwn: (jobId: string) => boolean,
): Promise<void> {
  const left = jobs.left(place).filter(({ jobId }) => !isOwn(jobId));
  if (left.length === 0) return;
  const entries = await link.channel.call('journal/list', {});
  const states = new Map(entries.map(({ jobId, state }) => [jobId, state]));
  for (const job of left) {
    const state = states.get(job.jobId);
    if (job.state === 'sent' && state === undefined) jobs.adopt(job.jobId, undefined, []);
    if (job.state === 'sent' && state !== undefined) {
      if (job.cancelled) await link.channel.call('job/cancel', { jobId: job.jobId });
      else if (state !== 'ended') continue;
      try {
        await adopt(link, job, jobs);
      } catch (error) {
        // Forgotten since the journal was read: another connection has stored its result, and said so.
        if (!(error instanceof UserError) || error.code !== 'not-found') throw error;
      }
    }
    if (state !== undefined) await link.channel.call('job/forget', { jobId: job.jobId });
    jobs.remove(job.jobId);
  }
}

async function adopt(link: RemoteLink, job: RemoteJob, jobs: RemoteJobs): Promise<void> {
  const { log, result } = await link.followToEnd(job.jobId);
  jobs.adopt(job.jobId, await withOutputs(link, job, result), log);
}

/** A result whose outputs can't be had is told as what it is; a lost connection is another try later. */
async function withOutputs(link: RemoteLink, job: RemoteJob, result: JobResult): Promise<JobResult> {
  try {
    await link.fetch(Object.values(result.outputs), job.outputLimitBytes);
    return result;
  } catch (error) {
    if (!(error instanceof UserError) || error.code === 'closed' || error.code === 'timeout') throw error;
    const outcome = { kind: 'refused', code: 'bad-input', detail: error.message } as const;
    return { ...result, outcome, outputs: {} };
  }
}
