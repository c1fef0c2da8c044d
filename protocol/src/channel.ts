import * as z from 'zod/mini';
import type { NotificationHandlers, ParamsOf, RequestHandlers, ResultOf, Side } from './contract.ts';
import { errorMessage, isErrorCode, toErrorData, UserError } from './errors.ts';
import { limits } from './limits.ts';

/** Carries JSON-RPC 2.0 messages, already parsed. Framing, size bounds and encoding are the transport's. */
export interface Transport {
  send(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  /** Called once by the channel. `onMessage` gets whatever arrived; `onClose` comes at most once. */
  start(onMessage: (message: unknown) => void, onClose: (reason: string) => void): void;
  close(): void;
}

export interface ChannelOptions<Local extends Side> {
  readonly local: Local;
  readonly requestHandlers: RequestHandlers<Local['requests']>;
  readonly notificationHandlers: NotificationHandlers<Local['notifications']>;
  /** Told of every message that fails its schema, by method name; never of its contents. */
  readonly onBadMessage?: (method: string, problem: string) => void;
  readonly onClose?: (reason: string) => void;
  readonly setTimer?: (run: () => void, ms: number) => () => void;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

const envelope = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.optional(z.int()),
  method: z.optional(z.string()),
  params: z.optional(z.unknown()),
  result: z.optional(z.unknown()),
  error: z.optional(z.object({ message: z.string(), data: z.optional(z.record(z.string(), z.unknown())) })),
});

const cancelMethod = '$/cancelRequest';

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/**
 * One end of a boundary. Messages are parsed against the contract before a handler sees them; a bad one is reported
 * and answered with `bad-message`, never thrown through. Closing rejects everything pending with `closed`.
 */
export class Channel<Local extends Side, Remote extends Side> {
  readonly #transport: Transport;
  readonly #remote: Remote;
  readonly #options: ChannelOptions<Local>;
  readonly #pending = new Map<number, Pending>();
  readonly #running = new Map<number, AbortController>();
  #nextId = 1;
  #closed: string | undefined;

  constructor(transport: Transport, remote: Remote, options: ChannelOptions<Local>) {
    this.#transport = transport;
    this.#remote = remote;
    this.#options = options;
    transport.start(
      (message) => this.#receive(message),
      (reason) => this.#close(reason),
    );
  }

  /** Calls the other side. Rejects with `UserError`: its own, or `timeout`, `cancelled`, `closed`, `bad-message`. */
  call<M extends keyof Remote['requests'] & string>(
    method: M,
    params: ParamsOf<Remote['requests'][M]>,
    options: CallOptions = {},
  ): Promise<ResultOf<Remote['requests'][M]>> {
    const contract = this.#remote.requests[method];
    if (!contract) throw new TypeError(`Failed to call ${method}: not in the contract`);
    if (this.#closed !== undefined) return Promise.reject(closedError(method, this.#closed));
    if (options.signal?.aborted) return Promise.reject(cancelledError(method));
    const id = this.#nextId++;
    const timeoutMs = options.timeoutMs ?? contract.timeoutMs ?? limits.requestTimeoutMs;
    return new Promise((resolve, reject) => {
      const giveUp = (error: UserError) => {
        if (this.#pending.delete(id)) {
          this.#sendQuietly({ jsonrpc: '2.0', method: cancelMethod, params: { id } });
          done();
          reject(error);
        }
      };
      const stopTimer =
        timeoutMs > 0
          ? this.#setTimer(
              () => giveUp(new UserError('timeout', `No answer to ${method} in ${timeoutMs} ms`)),
              timeoutMs,
            )
          : undefined;
      const onAbort = () => giveUp(cancelledError(method));
      options.signal?.addEventListener('abort', onAbort, { once: true });
      const done = () => {
        stopTimer?.();
        options.signal?.removeEventListener('abort', onAbort);
      };
      this.#pending.set(id, {
        resolve: (result) => {
          done();
          const parsed = z.safeParse(contract.result, result);
          if (parsed.success) resolve(parsed.data as ResultOf<Remote['requests'][M]>);
          else {
            const problem = z.prettifyError(parsed.error);
            this.#options.onBadMessage?.(method, problem);
            reject(
              new UserError('bad-message', `The answer to ${method} does not fit its contract`, { method }),
            );
          }
        },
        reject: (error) => {
          done();
          reject(error);
        },
      });
      try {
        this.#transport.send({ jsonrpc: '2.0', id, method, params });
      } catch (error) {
        this.#pending.delete(id);
        done();
        reject(error instanceof Error ? error : new Error(errorMessage(error)));
      }
    });
  }

  /** Tells the other side. A closed channel drops it. */
  notify<M extends keyof Remote['notifications'] & string>(
    method: M,
    params: ParamsOf<Remote['notifications'][M]>,
    transfer?: readonly ArrayBuffer[],
  ): void {
    if (this.#closed === undefined) this.#transport.send({ jsonrpc: '2.0', method, params }, transfer);
  }

  close(reason = 'closed by this side'): void {
    this.#transport.close();
    this.#close(reason);
  }

  #receive(message: unknown): void {
    const parsed = z.safeParse(envelope, message);
    if (!parsed.success) {
      this.#options.onBadMessage?.('(no method)', 'not a JSON-RPC message');
      return;
    }
    const { id, method, params, result, error } = parsed.data;
    if (method === cancelMethod) this.#cancel(params);
    else if (method !== undefined && id !== undefined) void this.#answer(id, method, params);
    else if (method !== undefined) this.#hear(method, params);
    else if (id !== undefined) this.#settle(id, result, error);
  }

  #settle(
    id: number,
    result: unknown,
    error: { message: string; data?: Record<string, unknown> | undefined } | undefined,
  ): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#pending.delete(id);
    if (error) pending.reject(toError(error));
    else pending.resolve(result);
  }

  async #answer(id: number, method: string, params: unknown): Promise<void> {
    const contract = ownValue(this.#options.local.requests, method);
    const handler = ownValue(this.#options.requestHandlers as Record<string, Handler>, method);
    if (!contract || !handler) {
      this.#options.onBadMessage?.(method, 'unknown method');
      this.#sendError(id, new UserError('bad-message', `Unknown method ${method}`, { method }));
      return;
    }
    const parsed = z.safeParse(contract.params, params);
    if (!parsed.success) {
      const problem = z.prettifyError(parsed.error);
      this.#options.onBadMessage?.(method, problem);
      this.#sendError(
        id,
        new UserError('bad-message', `The parameters of ${method} do not fit its contract`, { method }),
      );
      return;
    }
    const controller = new AbortController();
    this.#running.set(id, controller);
    try {
      const result = await handler(parsed.data, controller.signal);
      this.#sendQuietly({ jsonrpc: '2.0', id, result: result ?? null });
    } catch (error) {
      this.#sendError(id, error);
    } finally {
      this.#running.delete(id);
    }
  }

  #hear(method: string, params: unknown): void {
    const contract = ownValue(this.#options.local.notifications, method);
    const handler = ownValue(
      this.#options.notificationHandlers as Record<string, (value: unknown) => void>,
      method,
    );
    if (!contract || !handler) {
      this.#options.onBadMessage?.(method, 'unknown method');
      return;
    }
    const parsed = z.safeParse(contract.params, params);
    if (parsed.success) handler(parsed.data);
    else this.#options.onBadMessage?.(method, z.prettifyError(parsed.error));
  }

  #cancel(params: unknown): void {
    const parsed = z.safeParse(z.object({ id: z.int() }), params);
    if (parsed.success) this.#running.get(parsed.data.id)?.abort();
  }

  #sendError(id: number, error: unknown): void {
    const shown = error instanceof UserError;
    this.#sendQuietly({
      jsonrpc: '2.0',
      id,
      error: {
        code: -32000,
        message: shown ? error.message : `Internal error: ${errorMessage(error)}`,
        data: { code: shown ? error.code : 'internal', ...(shown ? { data: error.data } : {}) },
      },
    });
  }

  /** For answers: a peer that is gone needs none. */
  #sendQuietly(message: unknown): void {
    if (this.#closed !== undefined) return;
    try {
      this.#transport.send(message);
    } catch (error) {
      this.#options.onBadMessage?.('(answer)', errorMessage(error));
    }
  }

  #close(reason: string): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    for (const controller of this.#running.values()) controller.abort();
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const each of pending) each.reject(closedError('the other side', reason));
    this.#options.onClose?.(reason);
  }

  #setTimer(run: () => void, ms: number): () => void {
    if (this.#options.setTimer) return this.#options.setTimer(run, ms);
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  }
}

type Handler = (params: unknown, signal: AbortSignal) => unknown;

function ownValue<T>(map: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

function toError(error: { message: string; data?: Record<string, unknown> | undefined }): UserError {
  const code = error.data?.['code'];
  return new UserError(
    isErrorCode(code) ? code : 'internal',
    error.message,
    toErrorData(error.data?.['data']),
  );
}

function closedError(what: string, reason: string): UserError {
  return new UserError('closed', `Failed to reach ${what}: ${reason}`, { reason });
}

function cancelledError(method: string): UserError {
  return new UserError('cancelled', `${method} was cancelled`);
}
