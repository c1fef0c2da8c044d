import * as z from 'zod/mini';

/**
 * What of a row the model is told again, beside what a person sees. Rows of one `step` came from one answer of the
 * model. Nothing in here is ever read as permission: it is text for the model, and the gate does not look at it.
 */
export const wire = z.discriminatedUnion('kind', [
  /**
   * `expanded` holds what the mentions of a message stand for, bounded. `after` is the last row that the message
   * follows for the model: a queued one is told when its turn comes, not where it stands.
   */
  z.strictObject({ kind: z.literal('person'), expanded: z.string(), after: z.int() }),
  z.strictObject({
    kind: z.literal('answer'),
    connection: z.string(),
    model: z.string(),
    /** Parts of thinking with the provider's own marks, replayed only to the same model. */
    reasoning: z.array(z.strictObject({ text: z.string(), metadata: z.nullable(z.json()) })),
  }),
  z.strictObject({
    kind: z.literal('tool'),
    callId: z.string(),
    /** As the model wrote it. */
    args: z.string(),
    result: z.nullable(z.string()),
    isError: z.boolean(),
    connection: z.string(),
    model: z.string(),
    metadata: z.nullable(z.json()),
    /** Run by the provider itself: shown, and not replayed. */
    isProviders: z.boolean(),
  }),
  z.strictObject({ kind: z.literal('notice') }),
  /** Replaces every row up to and with `upTo` for the model; what the person said last is told word by word. */
  z.strictObject({ kind: z.literal('summary'), upTo: z.int(), lastMessage: z.string() }),
]);
export type Wire = z.infer<typeof wire>;
export type WireOf<K extends Wire['kind']> = Extract<Wire, { kind: K }>;
