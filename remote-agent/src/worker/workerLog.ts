import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkerRefusal } from '../../../protocol/src/pinnedWorker.ts';
import { AuditLog, type AuditLimits, type LogEntry } from './auditLog.ts';
import { folderNameOf } from './identity.ts';
import { MemberLog } from './memberLog.ts';
import { RefusalLog } from './refusalLog.ts';
import type { Member } from './workerFiles.ts';

/** `shared`: of the acts of the keeper, and of the refusals of strangers, each. `member`: of what one identity does. */
export const shareLimits: Readonly<Record<'shared' | 'member', AuditLimits>> = {
  shared: { fileBytes: 4 * 1024 * 1024, oldFiles: 8 },
  member: { fileBytes: 1024 * 1024, oldFiles: 7 },
};

/** Whom a worker has refused, and why. */
export interface RefusedOne {
  readonly refusal: WorkerRefusal;
  readonly why: string;
  readonly from: string;
}

/**
 * The log of a worker, in shares, so that nobody pushes another's lines out: `audit.log` has what its keeper decided
 * (invitations, enrolments, removals), `audit/strangers.log` the refusals of who has not shown an enrolled identity, and
 * `audit/<folder name of an identity>.log` what that one did. Each is bounded for itself. Counts are on a monotonic
 * clock, in milliseconds.
 */
export class WorkerLog {
  readonly #folder: string;
  readonly #limits: typeof shareLimits;
  readonly #acts: AuditLog;
  readonly #strangers: RefusalLog;
  readonly #members = new Map<string, MemberLog>();

  /** Makes its folder where it is missing. */
  constructor(path: string, limits = shareLimits) {
    this.#limits = limits;
    this.#folder = join(path, 'audit');
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#acts = new AuditLog(path, 'audit.log', limits.shared);
    const strangers = new AuditLog(this.#folder, 'strangers.log', limits.shared);
    this.#strangers = new RefusalLog((refusal) => strangers.note(dated({ event: 'refused', ...refusal })));
  }

  /** What the keeper decided. Throws where the line can't be written. */
  act(entry: LogEntry): void {
    this.#acts.note(dated(entry));
  }

  /** A member has come in. Throws where the line can't be written: then it must not. */
  connected({ identity: { fingerprint }, name }: Member, from: string, now: number): void {
    this.#logOf(fingerprint).note('connected', { event: 'connected', fingerprint, name }, { from }, now);
  }

  /** `fingerprint`: of who has shown that it is theirs. A log that can't be written does not keep from refusing. */
  refused({ refusal, why, from }: RefusedOne, fingerprint: string | undefined, now: number): void {
    attempt(() => {
      if (fingerprint === undefined) this.#strangers.note({ refusal, why, from }, now);
      else {
        const common = { event: 'refused', refusal, fingerprint };
        this.#logOf(fingerprint).note(refusal, common, { why: why.slice(0, 300), from }, now);
      }
    });
  }

  /** Writes the counts whose time is over; all with `Infinity`. */
  flush(now: number): void {
    for (const log of [this.#strangers, ...this.#members.values()]) attempt(() => log.flush(now));
  }

  #logOf(fingerprint: string): MemberLog {
    let log = this.#members.get(fingerprint);
    if (!log) {
      const file = new AuditLog(this.#folder, `${folderNameOf(fingerprint)}.log`, this.#limits.member);
      log = new MemberLog((entry) => file.note(dated(entry)));
      this.#members.set(fingerprint, log);
    }
    return log;
  }
}

function dated(entry: LogEntry): LogEntry {
  return { at: new Date().toISOString(), ...entry };
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // What could not be written is counted on, or was said to who was refused.
  }
}
