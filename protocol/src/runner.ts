import * as z from 'zod/mini';
import type { digest } from './artifacts.ts';
import { artifactRef } from './artifacts.ts';
import { notification, request } from './contract.ts';
import { portType } from './manifests.ts';
import { releasedValues } from './vault.ts';

/** Engine ↔ runner, over any byte stream. The engine calls `runnerSide`, the runner tells `runnerEvents`. */

export const runnerProtocolVersion = 1;

/** One line of the isolation probe: what was tried, whether it held, and how to mend it. */
export const isolationCheck = z.strictObject({
  id: z.string(),
  title: z.string(),
  ok: z.boolean(),
  /** What was seen. */
  detail: z.string(),
  /** What a person can do about it; present where `ok` is false. */
  remedy: z.optional(z.string()),
});
export type IsolationCheck = z.infer<typeof isolationCheck>;

export const isolationReport = z.strictObject({
  /** What a card would run in here; `none` means that only `js` cards run. */
  kind: z.enum(['bubblewrap', 'seatbelt', 'none']),
  version: z.string(),
  checks: z.array(isolationCheck),
  /** How limits are kept: `cgroup` where a delegated cgroup v2 is writable, else `watchdog`. */
  limits: z.enum(['cgroup', 'watchdog']),
});
export type IsolationReport = z.infer<typeof isolationReport>;

export const interpreter = z.strictObject({
  runtime: z.enum(['python', 'node', 'shell']),
  path: z.string(),
  version: z.string(),
});
export type Interpreter = z.infer<typeof interpreter>;

export const jobLimits = z.strictObject({
  seconds: z.int(),
  memoryMB: z.int(),
  processes: z.int(),
  outputMB: z.int(),
  logMB: z.int(),
});
export type JobLimits = z.infer<typeof jobLimits>;

/** A folder or file of the project that the job must not see, relative to it with `/`. It is there. */
export const hiddenPath = z.strictObject({ path: z.string(), kind: z.enum(['file', 'directory']) });
export type HiddenPath = z.infer<typeof hiddenPath>;

/** What a job may reach, already reviewed by a person. The defaults of every field are the closed ones. */
export const jobAccess = z.strictObject({
  network: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('none') }),
    z.strictObject({ kind: z.literal('hosts'), hosts: z.array(z.string()) }),
    z.strictObject({ kind: z.literal('all') }),
  ]),
  /** Absolute folders of this machine shown at /host/<name>. */
  hostFolders: z.array(z.strictObject({ path: z.string(), name: z.string(), write: z.boolean() })),
  /** The project's folder, shown read-only at /project: only for `sandbox: false` and `project_shell`. */
  projectRoot: z.optional(z.string()),
  /** What of the project is covered by nothing; only together with `projectRoot`. */
  projectHidden: z.optional(z.array(hiddenPath)),
});
export type JobAccess = z.infer<typeof jobAccess>;

/** What a job has in place of vault values where no key is known before it has started. */
export const awaitedValues = z.strictObject({
  /** 32 random bytes, base64. With it the job shows that a key is its own (`keyProofText`). */
  ticket: z.string().check(z.regex(/^[A-Za-z0-9+/]{43}=$/)),
  /** How long it waits for its values at most before it ends without having run. */
  waitSeconds: z.int().check(z.minimum(1), z.maximum(3600)),
});
export type AwaitedValues = z.infer<typeof awaitedValues>;

export const jobSpec = z.strictObject({
  jobId: z.string().check(z.regex(/^[a-z0-9-]{1,80}$/)),
  /** For messages only. */
  cardId: z.string(),
  runtime: z.enum(['python', 'node', 'shell', 'command']),
  /** A file of the card's folder, or the argument list of a `command`. */
  entry: z.union([z.string(), z.array(z.string())]),
  /** The card's folder, frozen. */
  code: artifactRef,
  inputs: z.array(z.strictObject({ port: z.string(), type: portType, artifact: artifactRef })),
  outputs: z.array(z.strictObject({ port: z.string(), type: portType, optional: z.boolean() })),
  /** JSON text of the resolved parameters. */
  params: z.string(),
  limits: jobLimits,
  access: jobAccess,
  /** Vault values, sealed to the key of `runner/hello`, each with the use that a person granted. */
  vault: z.optional(releasedValues),
  /** Present where its values come only when it has started. It does not run without them. */
  awaitsVault: z.optional(awaitedValues),
});
export type JobSpec = z.infer<typeof jobSpec>;

/**
 * How a job ended. `exited` says nothing about success: that is `exitCode === 0` with all outputs taken.
 * `unknown` means that the end was not observed; it is neither success nor failure.
 */
export const jobOutcome = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('exited'), exitCode: z.int() }),
  z.strictObject({ kind: z.literal('signalled'), signal: z.string() }),
  /** `detail` where it was not the card's own limit that was reached. */
  z.strictObject({ kind: z.literal('timeout'), seconds: z.number(), detail: z.optional(z.string()) }),
  z.strictObject({
    kind: z.literal('limit'),
    limit: z.enum(['memory', 'processes', 'output']),
    detail: z.string(),
  }),
  /** `detail` where it was not its engine that asked. */
  z.strictObject({ kind: z.literal('cancelled'), detail: z.optional(z.string()) }),
  /** A `js` card threw. The message comes from inside the sandbox: data, shown escaped. */
  z.strictObject({ kind: z.literal('exception'), message: z.string() }),
  z.strictObject({
    kind: z.literal('refused'),
    code: z.enum([
      'isolation-missing',
      'interpreter-missing',
      'bad-input',
      'unsafe-path',
      'disk-full',
      'permission-needed',
      'internal',
    ]),
    detail: z.string(),
    remedy: z.optional(z.string()),
  }),
  z.strictObject({ kind: z.literal('unknown'), detail: z.string() }),
]);
export type JobOutcome = z.infer<typeof jobOutcome>;

export const outputProblem = z.strictObject({
  port: z.string(),
  /** `invalid`: content that is not of the port's type. `unexpected`: an entry that no port declares; not taken. */
  kind: z.enum(['missing', 'not-regular', 'too-large', 'bad-name', 'unexpected', 'changed', 'invalid']),
  detail: z.string(),
});
export type OutputProblem = z.infer<typeof outputProblem>;

export const jobResult = z.strictObject({
  outcome: jobOutcome,
  /** Present for every port that was taken; only after exit code 0. */
  outputs: z.record(z.string(), artifactRef),
  outputProblems: z.array(outputProblem),
  /** Bytes of log kept and bytes left out because of the log limit. */
  logBytes: z.int(),
  logCutBytes: z.int(),
  /** Milliseconds, monotonic: waiting for a place, from start of the program to its end, staging and collecting. */
  waitMs: z.number(),
  runMs: z.number(),
  stageMs: z.number(),
  collectMs: z.number(),
  isolation: z.enum(['bubblewrap', 'seatbelt', 'quickjs', 'none']),
});
export type JobResult = z.infer<typeof jobResult>;

/** The result of a job of which nothing but its end is known. */
export function emptyResult(outcome: JobOutcome, isolation: JobResult['isolation'] = 'none'): JobResult {
  return {
    outcome,
    outputs: {},
    outputProblems: [],
    logBytes: 0,
    logCutBytes: 0,
    waitMs: 0,
    runMs: 0,
    stageMs: 0,
    collectMs: 0,
    isolation,
  };
}

export const egressRecord = z.strictObject({
  jobId: z.string(),
  /** Milliseconds since the epoch. */
  at: z.int(),
  method: z.string(),
  host: z.string(),
  port: z.int(),
  address: z.optional(z.string()),
  verdict: z.enum(['allowed', 'refused', 'failed']),
  /** Why, in words; the rule that decided. */
  reason: z.string(),
  sentBytes: z.int(),
  receivedBytes: z.int(),
});
export type EgressRecord = z.infer<typeof egressRecord>;

export const runnerSide = {
  requests: {
    /** First message. `blobs` and `scratch` are absolute folders that the engine owns. */
    'runner/hello': request(
      z.strictObject({ protocol: z.int(), blobs: z.string(), scratch: z.string(), maxJobs: z.int() }),
      z.strictObject({
        protocol: z.int(),
        version: z.string(),
        platform: z.string(),
        node: z.string(),
        isolation: isolationReport,
        interpreters: z.array(interpreter),
        /** The X25519 public key (raw, base64) that vault values for jobs of this runner are sealed to. */
        vaultKey: z.optional(z.string()),
      }),
    ),
    /** Probes again, as `doctor` does. */
    'runner/probe': request(z.strictObject({}), isolationReport),
    /** Runs one job to its end. Cancelling the request cancels the job; the answer then says `cancelled`. */
    'job/run': request(jobSpec, jobResult, { timeoutMs: 0 }),
    'job/cancel': request(z.strictObject({ jobId: z.string() }), z.strictObject({ found: z.boolean() })),
    /** Removes what earlier runners left in the scratch folder. */
    'runner/sweep': request(z.strictObject({}), z.strictObject({ removed: z.int() })),
  },
  notifications: {},
} as const;

export const runnerEvents = {
  requests: {},
  notifications: {
    /** The program of this job was started. */
    'job/started': notification(z.strictObject({ jobId: z.string() })),
    /** Decoded output in order; invalid UTF-8 is replaced. At most `limits.logChunkBytes` each. */
    'job/log': notification(
      z.strictObject({ jobId: z.string(), stream: z.enum(['stdout', 'stderr']), text: z.string() }),
    ),
    'job/progress': notification(
      z.strictObject({ jobId: z.string(), fraction: z.number(), text: z.string() }),
    ),
    'egress/record': notification(egressRecord),
  },
} as const;

/** Names a blob within the blob folder: two levels so that no folder grows too large. */
export function blobPath(value: z.infer<typeof digest>): string {
  return `${value.slice(0, 2)}/${value.slice(2)}`;
}
