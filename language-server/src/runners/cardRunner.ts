import type { ArtifactRef } from '../../../protocol/src/artifacts.ts';
import type { CardManifest, PortType } from '../../../protocol/src/manifests.ts';
import type { EgressRecord, JobAccess, JobLimits, JobResult } from '../../../protocol/src/runner.ts';
import type { ReleasedValue } from '../../../protocol/src/vault.ts';
import type { AwaitedRelease } from '../vault/awaitedRelease.ts';

/** One execution of one card, with everything frozen. */
export interface CardJob {
  /** Unique, `^[a-z0-9-]{1,80}$`. */
  readonly jobId: string;
  readonly cardId: string;
  /** Names the project that the job is of, where it is of one: what must not be shared between projects hangs on it. */
  readonly project?: string;
  readonly runtime: CardManifest['runtime'];
  readonly entry: CardManifest['entry'];
  readonly code: ArtifactRef;
  readonly inputs: readonly {
    readonly port: string;
    readonly type: PortType;
    readonly artifact: ArtifactRef;
  }[];
  readonly outputs: readonly { readonly port: string; readonly type: PortType; readonly optional: boolean }[];
  /** JSON text of the resolved parameters. */
  readonly params: string;
  readonly limits: JobLimits;
  readonly access: JobAccess;
  /** Sealed to the runner of this job: nothing in between can open them. */
  readonly vault?: readonly ReleasedValue[];
  /** In place of them where no key is known before the job has started. */
  readonly releaseLater?: AwaitedRelease;
}

/** How the vault values of a job come to it. */
export type JobVault = Pick<CardJob, 'vault' | 'releaseLater'>;

/** What is told while a job runs. Nothing comes after `run` has settled. */
export interface JobEvents {
  started(): void;
  log(stream: 'stdout' | 'stderr', text: string): void;
  progress(fraction: number, text: string): void;
  egress(record: EgressRecord): void;
}

/** A place where cards run. The scheduler knows only this; `js` and sealed processes are two of them. */
export interface CardRunner {
  /** Settles when nothing of the job is left running. Rejects only where the place itself is lost. */
  run(job: CardJob, events: JobEvents, signal: AbortSignal): Promise<JobResult>;
  /** Told after the result of a job was stored here, so that a place elsewhere need not keep it. */
  settled?(jobId: string): void;
  dispose(): Promise<void>;
}
