import * as z from 'zod/mini';
import { digest } from './artifacts.ts';
import { notification, request } from './contract.ts';
import { egressRecord, interpreter, isolationReport, jobResult, jobSpec } from './runner.ts';
import { releasedValues } from './vault.ts';

/**
 * Engine ↔ a runner that outlives its connections (`runner.cjs serve`), on another host or in a VM. It keeps every job
 * that it accepted in a durable journal until the engine has said that it has the result (`job/forget`).
 *
 * Blobs travel in `bulkTransfer.ts`'s framing on streams of their own, never in these messages.
 */
export const servedProtocolVersion = 1;

/** The lines with which each stream to a served runner begins, `\n` included. */
export const streamOpenings = {
  control: 'sallyport-control 1\n',
  bulk: 'sallyport-bulk 1\n',
} as const;

const jobId = z.string().check(z.regex(/^[a-z0-9-]{1,80}$/));
/** 32 bytes, base64: a public key, a proof. */
export const jobKeyText = z.string().check(z.regex(/^[A-Za-z0-9+/]{43}=$/));

/** An Ed25519 public key: its 32 bytes (RFC 8032, 5.1.5) in base64. */
const publicKey = z.string().check(z.regex(/^[A-Za-z0-9+/]{43}=$/));

/** What happens to a job, in order. `seq` counts from 1; progress carries the number of the last kept event. */
export const jobEvent = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('started') }),
  z.strictObject({ kind: z.literal('log'), stream: z.enum(['stdout', 'stderr']), text: z.string() }),
  z.strictObject({ kind: z.literal('progress'), fraction: z.number(), text: z.string() }),
  z.strictObject({ kind: z.literal('egress'), record: egressRecord }),
  /** The last one, written durably before it is told. */
  z.strictObject({ kind: z.literal('ended'), result: jobResult }),
]);
export type JobEvent = z.infer<typeof jobEvent>;

export const journalEntry = z.strictObject({
  jobId,
  cardId: z.string(),
  /** Whose job it is: the id that an engine's home keeps. */
  engine: z.string(),
  state: z.enum(['queued', 'running', 'ended']),
  /** Milliseconds since the epoch, by the clock over there. */
  acceptedAt: z.number(),
  /** Milliseconds left of its lease; null for one that has ended. */
  leaseMs: z.nullable(z.number()),
  lastSeq: z.int(),
});
export type JournalEntry = z.infer<typeof journalEntry>;

export const servedSide = {
  requests: {
    /**
     * First message. `bad-message` with words where the versions do not fit; `conflict` where another runner holds the
     * folder.
     */
    'runner/greet': request(
      z.strictObject({
        protocol: z.int(),
        /** Names the engine's home: jobs and leases belong to it, whichever process of it asks. */
        engine: z.string().check(z.regex(/^[A-Za-z0-9_-]{8,64}$/)),
        /** How long the engine's jobs go on without hearing from it. */
        leaseSeconds: z.int().check(z.minimum(1), z.maximum(7 * 86_400)),
      }),
      z.strictObject({
        protocol: z.int(),
        version: z.string(),
        /** Another one than before: the runner was started anew. */
        instance: z.string(),
        platform: z.string(),
        node: z.string(),
        isolation: isolationReport,
        interpreters: z.array(interpreter),
        /** As in `runner/hello`. */
        vaultKey: z.optional(z.string()),
        /** True where each job asks for its vault values itself when it has started (`job/values`). */
        asksValues: z.optional(z.boolean()),
        /** Jobs at once over there, of all engines. */
        parallel: z.int(),
        freeBytes: z.number(),
      }),
    ),
    /** The heartbeat. Every message of an engine renews too; this is for when there is nothing else to say. */
    'lease/renew': request(z.strictObject({}), z.strictObject({ leaseMs: z.number() })),
    'runner/probe': request(z.strictObject({}), isolationReport, { timeoutMs: 120_000 }),
    /** Which of these are not there in full. */
    'blob/missing': request(
      z.strictObject({
        blobs: z.array(z.strictObject({ digest, sizeBytes: z.int() })).check(z.maxLength(50_000)),
      }),
      z.strictObject({ missing: z.array(digest) }),
    ),
    /**
     * Accepts a job durably and tells its events from then on, those after `afterSeq` first. The same job again is the
     * same job: it is never run twice. Another one under the same id is a `conflict`, and so is one that was forgotten.
     * `missing` names blobs that must be put first; nothing was accepted then.
     */
    'job/submit': request(
      z.strictObject({ job: jobSpec, afterSeq: z.int() }),
      z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('accepted') }),
        z.strictObject({ kind: z.literal('missing'), blobs: z.array(digest) }),
      ]),
      { timeoutMs: 120_000 },
    ),
    /** Tells the events after `afterSeq` of a job that was accepted before. `not-found` where the journal has none. */
    'job/attach': request(
      z.strictObject({ jobId, afterSeq: z.int() }),
      z.strictObject({ state: z.enum(['queued', 'running', 'ended']) }),
    ),
    /**
     * Ends a job. Its `ended` event comes when nothing of it is left running. Where there is none of this id, none is
     * accepted any more: what is still on its way there comes too late.
     */
    'job/cancel': request(z.strictObject({ jobId }), z.strictObject({ found: z.boolean() })),
    /** The engine has the result: the journal may drop it. A job that runs is a `conflict`. */
    'job/forget': request(z.strictObject({ jobId }), z.strictObject({ found: z.boolean() })),
    /**
     * Readies the next use of the VM's terminal port: an SSH server that lets in the holder of `clientKey` as
     * `guestPerson` and shows `hostKey`. Both are made for this use alone. `not-found` where the place has no terminal.
     */
    'terminal/offer': request(
      z.strictObject({ clientKey: publicKey }),
      z.strictObject({ hostKey: publicKey }),
    ),
    /** The jobs of this engine. */
    'journal/list': request(z.strictObject({}), z.array(journalEntry)),
    /** Removes blobs that no job of the journal needs, the longest unused first, until at most `keepBytes` are left. */
    'blob/clean': request(
      z.strictObject({ keepBytes: z.number() }),
      z.strictObject({ removed: z.int(), freedBytes: z.number() }),
      { timeoutMs: 0 },
    ),
  },
  notifications: {},
} as const;

export const servedEvents = {
  requests: {
    /**
     * The vault values of a job that has started, sealed to its own key (X25519, raw, base64), which `proof` shows to be
     * its own (`keyProofText`). `permission-needed` with words where they are not given; `not-found` where another
     * engine looks after the job.
     */
    'job/values': request(
      z.strictObject({ jobId, publicKey: jobKeyText, proof: jobKeyText }),
      z.strictObject({ values: releasedValues }),
      { timeoutMs: 0 },
    ),
  },
  notifications: {
    'job/event': notification(z.strictObject({ jobId, seq: z.int(), event: jobEvent })),
  },
} as const;
