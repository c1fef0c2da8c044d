import type { BridgeParams, BridgeResult } from '../../../protocol/src/bridge.ts';
import type { Principal } from '../../../protocol/src/gate.ts';
import type { GenerateKind } from '../../../protocol/src/manifests.ts';

/** What a model is asked for and what it gives, by kind; the same for a page and a plugin. */
export type GenerateParams<K extends GenerateKind> = BridgeParams<`generate.${K}`>;
export type GenerateResult<K extends GenerateKind> = BridgeResult<`generate.${K}`>;

export interface GenerateOptions {
  readonly signal: AbortSignal;
  /** Told each piece of a text as it comes. */
  readonly onText?: (piece: string) => void;
}

/**
 * Asks the connection that a person chose for this kind. `by` is who asks, for what is logged; whether they may was
 * decided before. No key and no address of a provider is in what comes back. Rejects with `BridgeError`: `no-model`,
 * `too-large`, `too-many`, `timeout`, `cancelled`, `unavailable`, `bad-params`.
 */
export type Generate = <K extends GenerateKind>(
  by: Principal,
  kind: K,
  params: GenerateParams<K>,
  options: GenerateOptions,
) => Promise<GenerateResult<K>>;
