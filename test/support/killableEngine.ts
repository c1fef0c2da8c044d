import { join } from 'node:path';
import type { CardJob } from '../../language-server/src/runners/cardRunner.ts';
import { KeptJobs } from './keptJobs.ts';
import { Heard, openPlace, quickTimes } from './remotePlace.ts';
import { sshParts } from './sshPlace.ts';
import { steppedTransport, type JobStep } from './steppedTransport.ts';

export interface KillableEngine {
  readonly folder: string;
  readonly known: string;
  readonly config: string;
  readonly program: string;
  readonly job: CardJob;
  readonly step: JobStep;
}

/** An engine in a process of its own that runs the job of `argv[2]` over SSH and kills itself at the given step. */
const { folder, known, config, program, job, step } = JSON.parse(process.argv[2] ?? '') as KillableEngine;
const die = (at: JobStep) => {
  if (at === step) process.kill(process.pid, 'SIGKILL');
};
const parts = sshParts({ folder: join(folder, 'killable'), config, known, program });
const jobs = new KeptJobs(join(folder, 'jobs'));
const place = openPlace(steppedTransport(parts.transport('lab'), die), join(folder, 'blobs'), {
  times: quickTimes,
  jobs,
});
await place.runner.run(job, new Heard(), new AbortController().signal);
jobs.settle(job.jobId);
die('settled');
