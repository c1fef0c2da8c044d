import * as z from 'zod/mini';
import {
  bridgeAnswer,
  BridgeError,
  bridgeLimits,
  type BridgeMethodName,
  type BridgeParams,
  type BridgeResult,
} from '../../../protocol/src/bridge.ts';
import { UserError } from '../../../protocol/src/errors.ts';

export interface BridgeCallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onText?: ((piece: string) => void) | undefined;
}

/** Hands one call to the shell. Rejects with `UserError`. */
type Send = (
  params: { method: string; params: string; stream?: string },
  signal: AbortSignal,
) => Promise<{ answer: string }>;

/** The app's calls under way. Each resolves with the value or rejects with `BridgeError`. */
export class BridgeCalls {
  readonly #send: Send;
  readonly #streams = new Map<string, (piece: string) => void>();
  #next = 1;

  constructor(send: Send) {
    this.#send = send;
  }

  async call<M extends BridgeMethodName>(
    method: M,
    params: BridgeParams<M>,
    options: BridgeCallOptions = {},
  ): Promise<BridgeResult<M>> {
    const text = textOf(params);
    const { onText } = options;
    const stream = onText ? String(this.#next++) : undefined;
    if (stream !== undefined && onText) this.#streams.set(stream, onText);
    try {
      const sent = stream === undefined ? { method, params: text } : { method, params: text, stream };
      const { answer } = await this.#send(sent, options.signal ?? new AbortController().signal);
      const parsed = z.parse(bridgeAnswer, JSON.parse(answer));
      if (!parsed.ok) throw new BridgeError(parsed.code, parsed.message);
      return parsed.value as BridgeResult<M>;
    } catch (error) {
      throw error instanceof BridgeError ? error : toBridgeError(error);
    } finally {
      if (stream !== undefined) this.#streams.delete(stream);
    }
  }

  /** A piece of a text that is under way. */
  hear(stream: string, piece: string): void {
    this.#streams.get(stream)?.(piece);
  }
}

function textOf(params: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(params);
  } catch (error) {
    throw new BridgeError('bad-params', 'The parameters are not JSON', { cause: error });
  }
  if (text.length > bridgeLimits.paramsCharacters) {
    throw new BridgeError('too-large', `One call takes at most ${bridgeLimits.paramsCharacters} characters`);
  }
  return text;
}

function toBridgeError(error: unknown): BridgeError {
  const code = error instanceof UserError ? error.code : 'internal';
  if (code === 'cancelled') return new BridgeError('cancelled', 'The call was given up');
  if (code === 'timeout') return new BridgeError('timeout', 'There was no answer in time');
  if (code === 'closed') return new BridgeError('unavailable', 'The app is being closed');
  return new BridgeError('internal', 'The call failed');
}
