import * as z from 'zod/mini';
import { digest } from './artifacts.ts';
import { notification, request } from './contract.ts';
import { permission } from './permissions.ts';

/**
 * The gate: one function of the engine that every effect of every principal passes. What is asked here is answered by
 * a person in native UI; only the extension may send `approval/answer`, `grant/give` and `grant/revoke`.
 */

/** Who asks. Set by the side that knows it, never read from a message. */
export const principal = z
  .string()
  .check(
    z.regex(
      /^(person|agent|external-agent|(app|card):[a-z0-9-]{1,64}|plugin:[a-z0-9-]{1,64}\/[a-z0-9-]{1,64})$/,
    ),
  );
export type Principal = z.infer<typeof principal>;

/** What an act does to the world. The decision table has a row for each. */
export const effectKinds = [
  'read',
  'search',
  'write',
  'delete',
  'rename',
  'saveCard',
  'run',
  'shell',
  'projectShell',
  'fetch',
  'provider',
  'store',
  'ask',
  /** Puts a request into the vault's own list, whose answer alone releases anything. */
  'askVault',
  'undo',
  'deleteHistory',
  'clearCache',
] as const;
export const effectKind = z.enum(effectKinds);
export type EffectKind = z.infer<typeof effectKind>;

/** A thing that an act touches, measured at asking and again before the effect. Any difference asks anew. */
export const target = z.strictObject({
  kind: z.enum(['path', 'host', 'run', 'script', 'project', 'connection', 'usage', 'storage']),
  /** Resolved: a real path, a canonical host, a run id. */
  name: z.string(),
  /** What it is like: content digest, size, count; null where it is not there. */
  measure: z.nullable(z.string()),
  /** Matched by the list of protected files. */
  isProtected: z.boolean(),
  /** Outside the project's folder. */
  isOutside: z.boolean(),
});
export type Target = z.infer<typeof target>;

/** A standing yes of a person to a class of acts. Never covers protected files, widening, leaving the project, deleting history. */
export const grantKinds = ['read', 'write', 'run', 'shell'] as const;
export const grantKind = z.enum(grantKinds);
export type GrantKind = z.infer<typeof grantKind>;

export const grant = z.strictObject({
  id: z.string(),
  kind: grantKind,
  scope: z.string(),
  /** Null: for the whole project. */
  conversation: z.nullable(z.string()),
  /** A folder relative to the project that it is limited to; empty for all of it. */
  folder: z.string(),
  createdAt: z.int(),
});
export type Grant = z.infer<typeof grant>;

export const decision = z.strictObject({
  verdict: z.enum(['allow', 'ask', 'deny']),
  /** The row of the decision table that decided, for people: what matched, or what nearly did. */
  rule: z.strictObject({ id: z.string(), text: z.string() }),
  /** What a grant could make unnecessary to ask; null where no grant covers this. */
  grantable: z.nullable(grantKind),
});
export type Decision = z.infer<typeof decision>;

/** What a person is shown, in Sallyport's words from parsed fields. Text of the asker appears only as escaped data. */
export const approval = z.strictObject({
  id: z.string(),
  principal,
  conversation: z.nullable(z.string()),
  conversationTitle: z.nullable(z.string()),
  root: z.string(),
  scope: z.string(),
  callId: z.string(),
  tool: z.string(),
  argumentDigest: digest,
  /** Binds the answer to exactly what was shown: over everything in this object but itself. */
  reviewDigest: digest,
  /** One sentence that says the act: 'Change 3 lines of .vscode/settings.json'. */
  title: z.string(),
  /** The act, line by line, each escaped: paths resolved, hosts canonical, commands whole. */
  lines: z.array(z.string()),
  /** The whole text (command, diff, arguments) where the lines can't hold it. Allow stays off until it was opened. */
  fullText: z.nullable(z.string()),
  /** Invisible, bidirectional or control characters were found and are shown escaped. */
  isFlagged: z.boolean(),
  permissions: z.array(z.strictObject({ key: z.string(), permission, sentence: z.string() })),
  targets: z.array(target),
  rule: z.strictObject({ id: z.string(), text: z.string() }),
  /** What a grant could make unnecessary to ask; null where no grant covers this. */
  grantable: z.nullable(grantKind),
  createdAt: z.int(),
  expiresAt: z.int(),
});
export type Approval = z.infer<typeof approval>;

export const receiptStates = ['waiting', 'running', 'done', 'failed', 'refused', 'unknown'] as const;
/** The durable record of one act, found again by its `opId`. `unknown`: begun, and its end was not seen. */
export const receipt = z.strictObject({
  opId: z.string(),
  principal,
  tool: z.string(),
  state: z.enum(receiptStates),
  argumentDigest: digest,
  /** What was returned, as JSON text; null while there is none, and where it was too long to keep. */
  result: z.nullable(z.string()),
  /** Milliseconds that a person took to answer, and that the effect took. */
  waitMs: z.int(),
  runMs: z.int(),
  createdAt: z.int(),
  finishedAt: z.nullable(z.int()),
});
export type Receipt = z.infer<typeof receipt>;

export const gateRequests = {
  /** What waits for a person, oldest first. */
  'approval/list': request(z.strictObject({}), z.array(approval)),
  /** From native UI only. Rejects with `conflict` where `reviewDigest` is not that of what waits. */
  'approval/answer': request(
    z.strictObject({ id: z.string(), reviewDigest: digest, answer: z.enum(['allow-once', 'decline']) }),
    z.strictObject({ taken: z.boolean() }),
  ),
  'approval/declineAll': request(z.strictObject({}), z.strictObject({ declined: z.int() })),
  'grant/list': request(z.strictObject({ root: z.string() }), z.array(grant)),
  'grant/give': request(
    z.strictObject({
      root: z.string(),
      kind: grantKind,
      conversation: z.nullable(z.string()),
      folder: z.string(),
    }),
    grant,
  ),
  'grant/revoke': request(z.strictObject({ id: z.string() }), z.strictObject({ revoked: z.boolean() })),
  /** Would this ask? Nothing is done and nothing waits. `args` is JSON text. */
  'gate/tryOut': request(
    z.strictObject({
      root: z.string(),
      conversation: z.nullable(z.string()),
      tool: z.string(),
      args: z.string(),
    }),
    z.strictObject({ decision, targets: z.array(target), explanation: z.array(z.string()) }),
  ),
} as const;

export const gateEvents = {
  /** The waiting approvals changed. */
  'approval/changed': notification(z.strictObject({ waiting: z.int() })),
} as const;
