import type { Json } from '../../../protocol/src/canonicalJson.ts';
import type { EffectKind, Principal, Target } from '../../../protocol/src/gate.ts';
import type { Permission } from '../../../protocol/src/permissions.ts';

/** What a person is shown of an act, in Sallyport's words. Escaping is the gate's, so the text may hold anything. */
export interface ActDescription {
  /** One sentence: 'Change notes.md (3 lines)'. */
  readonly title: string;
  readonly lines: readonly string[];
  /** The whole text where the lines can't hold it; null where they can. */
  readonly fullText: string | null;
}

/** One thing that a principal wants to do. Nothing in it was written by the one who asks but `args`. */
export interface Act {
  /** Unique; the same id again is the same act, and is answered by its receipt. */
  readonly opId: string;
  readonly principal: Principal;
  readonly conversation: string | null;
  /** Absolute path of the project. */
  readonly root: string;
  readonly scope: string;
  readonly callId: string;
  readonly tool: string;
  readonly effect: EffectKind;
  /** Normalised: defaults filled in, nothing undefined. */
  readonly args: Json;
  /** What of it would widen: always asked, never covered by a grant. */
  readonly permissions: readonly Permission[];
  /** Reads what the act touches. Run when it is asked for and again before the effect; throwing means no. */
  readonly measure: () => Promise<readonly Target[]>;
  readonly describe: (targets: readonly Target[]) => ActDescription;
}

export const refusalCodes = [
  /** The decision table says no. */
  'denied',
  /** A person said no. */
  'declined',
  /** Nobody answered in time. */
  'expired',
  /** What was shown is not what is there now. */
  'changed',
  /** The operation id was used for something else. */
  'conflict',
  'cancelled',
  /** The act could not be examined. */
  'check-failed',
] as const;
/** Why an act was not done. */
export type RefusalCode = (typeof refusalCodes)[number];

/** How an act ended. `unknown`: it was begun and its end was not seen, or its result not kept; it is not tried again. */
export type GateResult<R extends Json> =
  | { readonly kind: 'done'; readonly value: R; readonly waitMs: number; readonly runMs: number }
  | { readonly kind: 'failed'; readonly message: string; readonly waitMs: number; readonly runMs: number }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly reason: string; readonly waitMs: number }
  | { readonly kind: 'unknown'; readonly reason: string };
