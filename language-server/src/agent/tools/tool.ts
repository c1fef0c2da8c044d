import type * as z from 'zod/mini';
import type { FileChange } from '../../../../protocol/src/agent.ts';
import type { Json } from '../../../../protocol/src/canonicalJson.ts';
import type { EffectKind, Principal, Target } from '../../../../protocol/src/gate.ts';
import type { Permission } from '../../../../protocol/src/permissions.ts';
import type { ActDescription } from '../../gate/act.ts';

/** Where a call comes from. Set by the engine, never by the call. */
export interface CallContext {
  readonly root: string;
  readonly scope: string;
  readonly conversation: string | null;
  readonly principal: Principal;
  readonly opId: string;
  readonly callId: string;
  /** Entries of the undo journal that belong together: one turn, or one call of an external agent. */
  readonly group: string;
  readonly groupTitle: string;
}

/** What a model gets back. `text` is bounded (`boundOutput`) and says what was cut. */
export interface ToolOutput {
  readonly text: string;
  readonly isError: boolean;
  readonly changes?: readonly FileChange[];
  readonly runId?: string;
}

/** One call, parsed and not yet done. Preparing has no effect beyond reading what is needed to describe it. */
export interface PreparedCall {
  /** Normalised arguments: what an approval is bound to. */
  readonly args: Json;
  readonly permissions: readonly Permission[];
  /** Arguments that are shown whole by their difference to what is there: what stays as it is is not repeated. */
  readonly shownByDifference?: readonly string[];
  measure(): Promise<readonly Target[]>;
  describe(targets: readonly Target[]): ActDescription;
  /** Does it. Runs only inside the gate. */
  run(signal: AbortSignal): Promise<ToolOutput>;
}

/** Something that an agent can do. `perCall` tools are asked for every time and are named so to the model. */
export interface Tool<S extends z.ZodMiniType = z.ZodMiniType> {
  readonly name: string;
  /** For the model: what it does, when to use it, what it returns. */
  readonly description: string;
  readonly input: S;
  readonly list: 'ordinary' | 'perCall';
  readonly effect: EffectKind;
  /** Throws `UserError` where the call can't be done as asked: the model is told its message. */
  prepare(input: z.infer<S>, context: CallContext): Promise<PreparedCall>;
}
