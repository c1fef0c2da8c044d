import * as z from 'zod/mini';
import { artifactRef, digest } from './artifacts.ts';
import { notification, request } from './contract.ts';
import { principal } from './gate.ts';
import { portType, runtime } from './manifests.ts';
import { permission } from './permissions.ts';
import { egressRecord, interpreter, isolationCheck, isolationReport } from './runner.ts';

/**
 * Extension ↔ engine, beside LSP on the same connection. The extension is the person's side: only it may send
 * `trust/set` and `permissions/accept`. Everything in here is small; bytes of results are read from the blob folder by
 * the path that `artifact/locate` gives.
 */

/** Where a card stands in a run. Shown as word and shape, never by colour alone. */
export const cardStates = [
  'queued',
  'running',
  'done',
  'failed',
  'cancelled',
  'skipped',
  'blocked',
  'unknown',
] as const;
export const cardState = z.enum(cardStates);
export type CardState = z.infer<typeof cardState>;

export const runStates = ['running', 'done', 'failed', 'cancelled', 'unknown'] as const;
export const runState = z.enum(runStates);
export type RunState = z.infer<typeof runState>;

/** Why a card is in its state. `kind` chooses the words, `detail` names the thing, `remedy` says what to do. */
export const reasonKinds = [
  'exit',
  'signal',
  'timeout',
  'memory',
  'processes',
  'output-limit',
  'output-problem',
  'exception',
  'cancelled',
  'upstream',
  'permission-needed',
  'isolation-missing',
  'place',
  'interpreter-missing',
  'bad-card',
  'disk-full',
  'interrupted',
  'internal',
] as const;
export const reason = z.strictObject({
  kind: z.enum(reasonKinds),
  detail: z.string(),
  remedy: z.optional(z.string()),
});
export type Reason = z.infer<typeof reason>;

export const portView = z.strictObject({
  name: z.string(),
  type: portType,
  from: z.optional(z.string()),
  optional: z.boolean(),
});
export type PortView = z.infer<typeof portView>;

export const permissionView = z.strictObject({
  key: z.string(),
  permission,
  sentence: z.string(),
  accepted: z.boolean(),
});
export type PermissionView = z.infer<typeof permissionView>;

/** A card's place in its latest run, or in none. */
export const cardStatus = z.strictObject({
  runId: z.string(),
  cardRunId: z.string(),
  state: cardState,
  cached: z.boolean(),
  reason: z.nullable(reason),
  exitCode: z.nullable(z.int()),
  /** `bubblewrap`, `seatbelt`, `quickjs`, or null where nothing ran. */
  isolation: z.nullable(z.string()),
  /** The place where it runs or ran (`places.ts`); absent means here. */
  place: z.optional(z.string()),
  /** Milliseconds running and milliseconds waiting for a place. */
  runMs: z.nullable(z.number()),
  waitMs: z.nullable(z.number()),
  startedAt: z.nullable(z.int()),
  finishedAt: z.nullable(z.int()),
  outputBytes: z.int(),
  progress: z.nullable(z.strictObject({ fraction: z.number(), text: z.string() })),
});
export type CardStatus = z.infer<typeof cardStatus>;

export const cardView = z.strictObject({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  runtime,
  /** Absolute path of the card's `_card.json`. */
  manifestPath: z.string(),
  /** Absolute path of the entry file; null for a `command`. */
  entryPath: z.nullable(z.string()),
  inputs: z.array(portView),
  outputs: z.array(portView),
  viewOutput: z.nullable(z.string()),
  permissions: z.array(permissionView),
  /** True where a permission is not accepted: this card does not run. */
  blocked: z.boolean(),
  /** Number of errors in its manifest; such a card does not run. */
  problems: z.int(),
  status: z.nullable(cardStatus),
});
export type CardView = z.infer<typeof cardView>;

export const projectView = z.strictObject({
  /** Absolute path of the project's folder. */
  root: z.string(),
  name: z.string(),
  /** Null where the file system has no birth time: nothing persistent is accepted then. */
  scope: z.nullable(z.string()),
  trusted: z.boolean(),
  problems: z.int(),
  cards: z.array(cardView),
  /** The latest run, running or ended. */
  runId: z.nullable(z.string()),
});
export type ProjectView = z.infer<typeof projectView>;

export const cardRunView = z.strictObject({
  id: z.string(),
  title: z.string(),
  runtime,
  status: cardStatus,
  outputs: z.array(
    z.strictObject({ port: z.string(), type: portType, artifact: artifactRef, isView: z.boolean() }),
  ),
  logLines: z.int(),
  logCutBytes: z.int(),
});
export type CardRunView = z.infer<typeof cardRunView>;

export const runSummary = z.strictObject({
  runId: z.string(),
  root: z.string(),
  projectName: z.string(),
  state: runState,
  startedAt: z.int(),
  finishedAt: z.nullable(z.int()),
  /** Cards by state. */
  counts: z.record(z.string(), z.int()),
  cachedCards: z.int(),
});
export type RunSummary = z.infer<typeof runSummary>;

export const runView = z.strictObject({ summary: runSummary, cards: z.array(cardRunView) });
export type RunView = z.infer<typeof runView>;

/** The parts of a cache key, in the order in which a difference is explained. */
export const cacheKeyParts = [
  'code',
  'runtime',
  'params',
  'inputs',
  'outputs',
  'environment',
  'permissions',
  'limits',
] as const;
export const keyPartChange = z.strictObject({
  part: z.enum([...cacheKeyParts, 'first-run', 'result-removed', 'cache-ignored', 'last-failed']),
  /** What changed, in words: the file, the parameter, the port. */
  detail: z.string(),
});
export type KeyPartChange = z.infer<typeof keyPartChange>;

export const plannedCard = z.strictObject({
  id: z.string(),
  /** `depends`: an upstream card runs first, and its result decides. */
  action: z.enum(['run', 'cached', 'depends', 'blocked', 'refused', 'skipped']),
  why: z.array(keyPartChange),
  reason: z.nullable(reason),
});
export type PlannedCard = z.infer<typeof plannedCard>;

export const reviewCard = z.strictObject({
  id: z.string(),
  title: z.string(),
  permissions: z.array(
    z.strictObject({
      key: z.string(),
      permission,
      sentence: z.string(),
      /** False for one that was accepted before and is shown for completeness. */
      isNew: z.boolean(),
    }),
  ),
});

export const permissionReview = z.strictObject({
  root: z.string(),
  scope: z.nullable(z.string()),
  /** Binds an answer to exactly what was shown. */
  digest,
  cards: z.array(reviewCard),
});
export type PermissionReview = z.infer<typeof permissionReview>;

export const logLine = z.strictObject({
  stream: z.enum(['stdout', 'stderr']),
  text: z.string(),
  /** Bytes of this line that are not in `text`. */
  cutBytes: z.int(),
});
export type LogLine = z.infer<typeof logLine>;

export const storeUsage = z.strictObject({
  blobBytes: z.int(),
  blobCount: z.int(),
  databaseBytes: z.int(),
  runs: z.int(),
  limitBytes: z.int(),
  /** Bytes that no kept run refers to. */
  unusedBytes: z.int(),
});
export type StoreUsage = z.infer<typeof storeUsage>;

const root = z.string();
const cursor = z.optional(z.string());

export const engineSide = {
  requests: {
    'project/list': request(z.strictObject({}), z.array(projectView)),
    'project/get': request(z.strictObject({ root }), projectView),
    /** `cards` absent means all. Rejects with `not-trusted`, `bad-project`. */
    'run/start': request(
      z.strictObject({
        root,
        cards: z.optional(z.array(z.string())),
        ignoreCache: z.optional(z.boolean()),
      }),
      z.strictObject({ runId: z.string() }),
    ),
    'run/cancel': request(z.strictObject({ runId: z.string() }), z.strictObject({ found: z.boolean() })),
    'run/dryRun': request(
      z.strictObject({ root, cards: z.optional(z.array(z.string())) }),
      z.strictObject({ cards: z.array(plannedCard) }),
    ),
    'run/get': request(z.strictObject({ runId: z.string() }), runView),
    'run/list': request(
      z.strictObject({ root: z.optional(root), cursor, limit: z.int() }),
      z.strictObject({ runs: z.array(runSummary), cursor }),
    ),
    /** Why this card ran in this run instead of coming from the cache. */
    'run/why': request(
      z.strictObject({ runId: z.string(), card: z.string() }),
      z.strictObject({ changes: z.array(keyPartChange) }),
    ),
    'log/read': request(
      z.strictObject({ cardRunId: z.string(), fromLine: z.int(), count: z.int() }),
      z.strictObject({ lines: z.array(logLine), totalLines: z.int(), cutBytes: z.int() }),
    ),
    'artifact/locate': request(
      z.strictObject({ digest }),
      z.strictObject({ path: z.string(), sizeBytes: z.int() }),
    ),
    'permissions/review': request(z.strictObject({ root }), permissionReview),
    /** Rejects with `conflict` where what was reviewed has changed since. */
    'permissions/accept': request(
      z.strictObject({
        root,
        digest,
        accepted: z.array(z.strictObject({ card: z.string(), keys: z.array(z.string()) })),
      }),
      z.strictObject({ accepted: z.int() }),
    ),
    'permissions/revoke': request(
      z.strictObject({ root, card: z.string(), key: z.string() }),
      z.strictObject({ revoked: z.boolean() }),
    ),
    'egress/list': request(
      z.strictObject({ root: z.optional(root), cursor, limit: z.int() }),
      z.strictObject({
        records: z.array(
          z.extend(egressRecord, {
            card: z.string(),
            runId: z.string(),
            /** Who asked for it; absent for a card. */
            principal: z.optional(principal),
          }),
        ),
        cursor,
      }),
    ),
    'store/usage': request(z.strictObject({}), storeUsage),
    /** Removes results that no kept run refers to; with `runsOlderThanDays` those runs go first. */
    'store/clean': request(
      z.strictObject({ runsOlderThanDays: z.optional(z.int()) }),
      z.strictObject({ removedRuns: z.int(), removedBlobs: z.int(), freedBytes: z.int() }),
      { timeoutMs: 0 },
    ),
    'doctor/report': request(
      z.strictObject({}),
      z.strictObject({
        isolation: isolationReport,
        interpreters: z.array(interpreter),
        checks: z.array(isolationCheck),
        home: z.string(),
        node: z.string(),
      }),
    ),
  },
  notifications: {
    'trust/set': notification(z.strictObject({ trusted: z.boolean() })),
  },
} as const;

export const engineEvents = {
  requests: {},
  notifications: {
    /** Manifests, permissions or trust changed: ask again for what is shown. */
    'project/changed': notification(z.strictObject({ root })),
    /** Only the cards whose status changed. */
    'run/delta': notification(
      z.strictObject({
        summary: runSummary,
        cards: z.array(z.strictObject({ id: z.string(), status: cardStatus })),
      }),
    ),
    'log/appended': notification(z.strictObject({ cardRunId: z.string(), totalLines: z.int() })),
    /** Something a person should know that no request asked for. */
    'engine/notice': notification(
      z.strictObject({ code: z.string(), message: z.string(), data: z.record(z.string(), z.string()) }),
    ),
  },
} as const;

/** `initializationOptions` of the LSP handshake. */
export const engineOptions = z.strictObject({
  /** The folder of Sallyport's own state: database, blobs, scratch. Absolute. */
  home: z.string(),
  trusted: z.boolean(),
  /** Where packages of apps come from; absent is the public registry. */
  packageRegistry: z.optional(z.string()),
});
export type EngineOptions = z.infer<typeof engineOptions>;
