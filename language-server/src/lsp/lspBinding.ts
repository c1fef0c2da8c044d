import * as z from 'zod/mini';
import { LSPErrorCodes, ResponseError, type CancellationToken } from 'vscode-languageserver';
import type {
  NotificationContract,
  NotificationHandlers,
  RequestContract,
  RequestHandlers,
} from '../../../protocol/src/contract.ts';
import { engineRequests, engineTold } from '../../../protocol/src/engineContract.ts';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';

export type EngineRequestHandlers = RequestHandlers<typeof engineRequests>;
export type EngineNotificationHandlers = NotificationHandlers<typeof engineTold>;

/** The part of an LSP connection that Sallyport's own messages need. */
export interface BoundConnection {
  onRequest(
    method: string,
    handler: (params: unknown, token: CancellationToken) => Promise<unknown>,
  ): unknown;
  onNotification(method: string, handler: (params: unknown) => void): unknown;
}

export interface BindingOptions {
  readonly connection: BoundConnection;
  /** Called at each request, so that what is behind it need not exist before the first. */
  readonly requests: () => Promise<EngineRequestHandlers>;
  readonly notifications: EngineNotificationHandlers;
  /** Told of each message that does not fit its contract, by name and problem; never with its contents. */
  readonly onBadMessage: (method: string, problem: string) => void;
  /** Told of what was thrown and is no `UserError`. */
  readonly onInternalError: (method: string, error: unknown) => void;
}

/**
 * Puts Sallyport's requests and notifications on an LSP connection. Parameters are parsed by the contract before a
 * handler sees them. Errors are answered as `data: { code, data }`, which the other end turns back into `UserError`.
 */
export function bindEngine(options: BindingOptions): void {
  for (const [method, contract] of Object.entries<RequestContract>(engineRequests)) {
    options.connection.onRequest(method, async (params, token) => {
      const controller = new AbortController();
      const subscription = token.onCancellationRequested(() => controller.abort());
      try {
        if (token.isCancellationRequested) controller.abort();
        const parsed = z.safeParse(contract.params, params ?? {});
        if (!parsed.success) throw badParams(options, method, z.prettifyError(parsed.error));
        const handlers = await options.requests();
        const handler = handlers[method as keyof EngineRequestHandlers] as Handler;
        return (await handler(parsed.data, controller.signal)) ?? null;
      } catch (error) {
        return toResponseError(options, method, error);
      } finally {
        subscription.dispose();
      }
    });
  }
  for (const [method, contract] of Object.entries<NotificationContract>(engineTold)) {
    options.connection.onNotification(method, (params) => {
      const parsed = z.safeParse(contract.params, params ?? {});
      if (!parsed.success) return options.onBadMessage(method, z.prettifyError(parsed.error));
      try {
        (options.notifications[method as keyof EngineNotificationHandlers] as (value: unknown) => void)(
          parsed.data,
        );
      } catch (error) {
        options.onInternalError(method, error);
      }
    });
  }
}

type Handler = (params: unknown, signal: AbortSignal) => unknown;

function badParams(options: BindingOptions, method: string, detail: string): UserError {
  options.onBadMessage(method, detail);
  return new UserError('bad-message', `The parameters of ${method} do not fit its contract`, { method });
}

function toResponseError(options: BindingOptions, method: string, error: unknown): ResponseError<unknown> {
  if (!(error instanceof UserError)) {
    options.onInternalError(method, error);
    const message = `Internal error in ${method}: ${errorMessage(error)}`;
    return new ResponseError(LSPErrorCodes.RequestFailed, message, { code: 'internal', data: {} });
  }
  const code = error.code === 'cancelled' ? LSPErrorCodes.RequestCancelled : LSPErrorCodes.RequestFailed;
  return new ResponseError(code, error.message, { code: error.code, data: error.data });
}
