import * as z from 'zod/mini';
import { errorCodes, errorMessage, UserError } from '../../protocol/src/errors.ts';

/** What an error of ours looks like inside a JSON-RPC response (`protocol/src/channel.ts` writes the same). */
const sentData = z.object({
  code: z.enum(errorCodes),
  data: z._default(
    z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
    {},
  ),
});
const response = z.object({ code: z.int(), message: z.string(), data: z.optional(z.unknown()) });

/** Codes of LSP and vscode-jsonrpc that say how a request ended without the engine's answer. */
const requestCancelled = -32800;
const connectionLost = [/* PendingResponseRejected */ -32097, /* ConnectionInactive */ -32096];

/**
 * The engine's error as it was thrown there; `cancelled` for a cancelled request, `closed` for a lost process or
 * anything that the connection itself throws, `internal` for an answer that is an error of no known kind.
 */
export function toUserError(method: string, error: unknown): UserError {
  const parsed = z.safeParse(response, error);
  if (!parsed.success)
    return new UserError(
      'closed',
      `Failed to reach the engine: ${errorMessage(error)}`,
      {},
      { cause: error },
    );
  const { code, message, data } = parsed.data;
  if (code === requestCancelled) return new UserError('cancelled', `${method} was cancelled`);
  const sent = z.safeParse(sentData, data);
  if (sent.success) return new UserError(sent.data.code, message, sent.data.data, { cause: error });
  return new UserError(connectionLost.includes(code) ? 'closed' : 'internal', message, {}, { cause: error });
}
