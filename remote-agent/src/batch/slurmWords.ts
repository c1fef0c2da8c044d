import type { BatchEnd } from './batchSystem.ts';

/** Slurm's job states (squeue(1), JOB STATE CODES) that are an end. Any other word means that the job is still there. */
const ends: Readonly<Record<string, BatchEnd>> = {
  COMPLETED: 'completed',
  FAILED: 'failed',
  SPECIAL_EXIT: 'failed',
  CANCELLED: 'cancelled',
  REVOKED: 'cancelled',
  TIMEOUT: 'timeout',
  DEADLINE: 'not-started',
  OUT_OF_MEMORY: 'memory',
  NODE_FAIL: 'node-lost',
  BOOT_FAIL: 'node-lost',
  PREEMPTED: 'preempted',
};

const waiting = new Set([
  'PENDING',
  'CONFIGURING',
  'REQUEUED',
  'REQUEUE_HOLD',
  'REQUEUE_FED',
  'RESV_DEL_HOLD',
]);

/** A state word as squeue or sacct write it: `CANCELLED by 1000` counts as CANCELLED. */
export function endOfSlurmState(state: string): BatchEnd | undefined {
  return ends[firstWord(state)];
}

export function isRunningSlurmState(state: string): boolean {
  return !waiting.has(firstWord(state)) && endOfSlurmState(state) === undefined;
}

/** Why a job waits (squeue(1), JOB REASON CODES), for those words that a person can't read at a glance. */
const reasons: Readonly<Record<string, string>> = {
  Priority: 'jobs of higher priority come first',
  Resources: 'no node is free',
  Dependency: 'it depends on another job',
  BeginTime: 'its time has not come',
  JobHeldUser: 'it is held; release it with scontrol release',
  JobHeldAdmin: 'an administrator holds it',
  ReqNodeNotAvail: 'a node that it needs is not available',
  PartitionDown: 'the partition is down',
  PartitionInactive: 'the partition is inactive',
  PartitionNodeLimit: 'it asks for more nodes than the partition gives; it may wait for ever',
  PartitionTimeLimit: 'it asks for more time than the partition gives; it may wait for ever',
  QOSMaxCpuPerUserLimit: 'you use as many processors as you may',
  QOSMaxJobsPerUserLimit: 'you have as many jobs as you may',
  AssocGrpCpuLimit: 'your group uses as many processors as it may',
  AssocMaxJobsLimit: 'you have as many jobs as you may',
  JobArrayTaskLimit: 'enough tasks of this array run already',
  Licenses: 'a licence is in use',
  Reservation: 'it waits for a reservation',
};

/** The reason with its meaning, for a person; Slurm's own word is always in it. Empty where Slurm says none. */
export function describeReason(reason: string): string {
  const said = /^\((.*)\)$/s.exec(reason)?.[1] ?? reason;
  const [word = ''] = /^[A-Za-z_]+/.exec(said) ?? [];
  if (word === '' || word === 'None') return '';
  const meaning = reasons[word];
  return meaning === undefined ? said : `${said} (${meaning})`;
}

function firstWord(state: string): string {
  return /^[A-Z_]+/.exec(state)?.[0] ?? '';
}
