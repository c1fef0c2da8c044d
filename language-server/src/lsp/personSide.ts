import * as z from 'zod/mini';
import { CancellationTokenSource, LSPErrorCodes, type CancellationToken } from 'vscode-languageserver';
import type { RequestContract } from '../../../protocol/src/contract.ts';
import { personRequests } from '../../../protocol/src/engineContract.ts';
import { errorMessage, isErrorCode, toErrorData, UserError } from '../../../protocol/src/errors.ts';
import { limits } from '../../../protocol/src/limits.ts';
import type { PersonSide } from '../agent/providers/personSide.ts';

/** The part of an LSP connection that asking needs. */
export interface AskingConnection {
  sendRequest(method: string, params: unknown, token: CancellationToken): Promise<unknown>;
}

/**
 * Asks the extension over the LSP connection. What comes back is parsed by its contract; an error is the `UserError`
 * that was thrown there, `cancelled` where the signal aborted, `timeout` where nobody answered in the contract's time.
 */
export function createPersonSide(connection: AskingConnection): PersonSide {
  return {
    async ask(method, params, signal) {
      const contract: RequestContract = personRequests[method];
      const timeoutMs = contract.timeoutMs ?? limits.requestTimeoutMs;
      const timeout = timeoutMs > 0 ? AbortSignal.timeout(timeoutMs) : undefined;
      const stop = AbortSignal.any([signal, timeout].filter((each) => each !== undefined));
      if (stop.aborted) throw new UserError('cancelled', `${method} was cancelled`);
      const source = new CancellationTokenSource();
      let onAbort: () => void = () => undefined;
      const aborted = new Promise<never>((_, reject) => {
        onAbort = () => {
          source.cancel();
          reject(new Error('aborted'));
        };
      });
      stop.addEventListener('abort', onAbort, { once: true });
      let answer: unknown;
      try {
        // An extension that does not hear the cancellation must not hold up what was stopped.
        answer = await Promise.race([connection.sendRequest(method, params, source.token), aborted]);
      } catch (error) {
        if (signal?.aborted) throw new UserError('cancelled', `${method} was cancelled`);
        if (timeout?.aborted) throw new UserError('timeout', `No answer to ${method} in ${timeoutMs} ms`);
        throw toUserError(method, error);
      } finally {
        stop.removeEventListener('abort', onAbort);
        source.dispose();
      }
      const parsed = z.safeParse(contract.result, answer);
      if (parsed.success) return parsed.data as never;
      throw new UserError('bad-message', `The answer to ${method} does not fit its contract`, { method });
    },
  };
}

function toUserError(method: string, error: unknown): UserError {
  const { code, data } = error as { code?: unknown; data?: { code?: unknown; data?: unknown } };
  if (isErrorCode(data?.code))
    return new UserError(data.code, errorMessage(error), toErrorData(data.data), { cause: error });
  if (code === LSPErrorCodes.RequestCancelled) return new UserError('cancelled', `${method} was cancelled`);
  return new UserError(
    'closed',
    `Failed to reach the extension: ${errorMessage(error)}`,
    {},
    { cause: error },
  );
}
