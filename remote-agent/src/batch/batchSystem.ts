import type { JobLimits } from '../../../protocol/src/runner.ts';

/**
 * A system with a queue that runs a script on some machine later: Slurm, and room for others. Everything else (the
 * shared folder, claims, results, what a person is told) is the same for all of them.
 */
export interface BatchSystem {
  /** For messages: “Slurm”. */
  readonly title: string;
  readonly advice: BatchAdvice;
  /**
   * Which of its machines tasks are sent to, as one text: what was found on one of them counts for these alone. Empty
   * where the system decides.
   */
  readonly chosen: string;
  /** Words of a POSIX shell for what the script is told on its machine. */
  readonly told: BatchTold;
  /**
   * Hands `count` tasks over in one request, under a name that nothing else has. Each runs the script once with its
   * index, 0 to `count - 1`. Never rejects.
   */
  submit(request: BatchRequest): Promise<SubmitAnswer>;
  /** What the system knows of the tasks under these names. Throws `unreachable` where it doesn't answer in time. */
  states(names: readonly string[]): Promise<BatchTask[]>;
  /** Ends tasks by their handles; one that has ended is no error. Throws `unreachable`. */
  cancel(handles: readonly string[]): Promise<void>;
  /** The most tasks of one request. Throws `unreachable`, and `not-found` where the system is not installed. */
  largestRequest(): Promise<number>;
}

/** What a person can do, in the words of this system. */
export interface BatchAdvice {
  /** About a request that it refuses. */
  readonly refused: string;
  /** About another shared folder. */
  readonly otherFolder: string;
}

export interface BatchTold {
  /** The index of the task in its request. */
  readonly index: string;
  /** Names the task, the same for every start of it. */
  readonly task: string;
  /** How often it was started before. */
  readonly restart: string;
}

export interface BatchRequest {
  /** `^[a-z0-9-]{1,60}$`. */
  readonly name: string;
  readonly count: number;
  readonly limits: JobLimits;
  /** How long a task may wait on its machine before its card starts, beside what the limits say. */
  readonly waitSeconds: number;
  /** For a POSIX shell. */
  readonly script: string;
}

/** `unsure`: no answer came that says whether it was taken. The tasks are looked for by name then. */
export type SubmitAnswer =
  | { readonly kind: 'submitted'; readonly id: string }
  | { readonly kind: 'refused' | 'unsure'; readonly detail: string };

/** How a task left the system, by the system's own word. It says nothing about what the card did. */
export type BatchEnd =
  'completed' | 'failed' | 'cancelled' | 'timeout' | 'memory' | 'node-lost' | 'preempted' | 'not-started';

export interface BatchTask {
  readonly name: string;
  readonly index: number;
  /** What `cancel` takes. */
  readonly handle: string;
  /** The system's own word: PENDING. */
  readonly word: string;
  /** Why it waits, for a person, with the system's own word in it; empty where it does not say. */
  readonly reason: string;
  /** Undefined while it waits or runs. */
  readonly end: BatchEnd | undefined;
  readonly isRunning: boolean;
}

/** True for a name that this program makes: letters, digits and hyphens only. */
export function isBatchName(name: string): boolean {
  return /^sallyport-[a-z0-9-]{1,50}$/.test(name);
}
