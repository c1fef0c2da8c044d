import * as z from 'zod/mini';
import type {
  NotificationContract,
  ParamsOf,
  RequestContract,
  ResultOf,
} from '../../protocol/src/contract.ts';
import { UserError, type ErrorCode, type ErrorData } from '../../protocol/src/errors.ts';
import { limits } from '../../protocol/src/limits.ts';
import type { Engine, PersonHandlers } from './engine.ts';
import {
  engineHeard,
  engineRequests,
  personRequests,
  type engineTold,
} from '../../protocol/src/engineContract.ts';
import { toUserError } from './engineErrors.ts';
import type { Log } from './log.ts';
import type { RestartPolicy } from './restartPolicy.ts';
import type { Disposable } from './disposable.ts';

/** A live engine process, as `languageClientConnection.ts` makes it. Values are not parsed yet. */
export interface EngineConnection {
  /** Rejects with whatever the connection gives: `toUserError` reads it. */
  request(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  notify(method: string, params: unknown): Promise<void>;
  /** Ends the process; resolves when it is gone. */
  dispose(): Promise<void>;
}

/** How a request of the engine was answered. Plain data: the file of the connection shares no class with the rest. */
export type PersonAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string; readonly data: ErrorData };

export interface ConnectionEvents {
  onNotification(method: string, params: unknown): void;
  /** The engine asks. Never rejects; the signal aborts when the engine takes its question back. */
  onRequest(method: string, params: unknown, signal: AbortSignal): Promise<PersonAnswer>;
  /** The process went without being told to. Comes at most once, and only after `open` has resolved. */
  onClosed(): void;
}

/** Starts a process. Rejects where it does not come up. */
export type OpenConnection = (events: ConnectionEvents) => Promise<EngineConnection>;

/** `idle`: not needed yet. `gave-up`: it died too often and only `restart` starts it again. */
export type EngineState = 'idle' | 'starting' | 'running' | 'gave-up' | 'disposed';

export interface EngineClientOptions {
  readonly open: OpenConnection;
  readonly policy: RestartPolicy;
  readonly log: Log;
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

type Requests = typeof engineRequests;
type Events = typeof engineHeard;
type Told = typeof engineTold;
type AnyListener = (params: unknown) => void;
type AnyHandler = (params: unknown, signal: AbortSignal) => unknown;

/**
 * Keeps one engine process: starts it on the first call, starts it again when it dies as long as the policy allows, and
 * parses everything that it says. Calls that were under way when it died reject with `closed`; none is repeated.
 */
export class EngineClient implements Engine {
  readonly #options: EngineClientOptions;
  readonly #listeners = new Map<string, Set<AnyListener>>();
  readonly #stateListeners = new Set<(state: EngineState) => void>();
  readonly #handlers = new Map<string, AnyHandler>();
  #state: EngineState = 'idle';
  #current: Promise<EngineConnection> | undefined;

  constructor(options: EngineClientOptions) {
    this.#options = options;
  }

  get state(): EngineState {
    return this.#state;
  }

  async call<M extends keyof Requests>(
    method: M,
    params: ParamsOf<Requests[M]>,
    signal?: AbortSignal,
  ): Promise<ResultOf<Requests[M]>> {
    const contract: RequestContract = engineRequests[method];
    const timeoutMs = contract.timeoutMs ?? limits.requestTimeoutMs;
    const timeout = timeoutMs > 0 ? AbortSignal.timeout(timeoutMs) : undefined;
    const signals = [signal, timeout].filter((each) => each !== undefined);
    const stop = AbortSignal.any(signals);
    try {
      const connection = await unlessAborted(this.#connect(), stop);
      const answer = await unlessAborted(connection.request(method, params, stop), stop);
      return this.#parse(method, contract.result, answer) as ResultOf<Requests[M]>;
    } catch (error) {
      if (signal?.aborted) throw new UserError('cancelled', `${method} was cancelled`);
      if (timeout?.aborted) throw new UserError('timeout', `No answer to ${method} in ${timeoutMs} ms`);
      throw error instanceof UserError ? error : toUserError(method, error);
    }
  }

  on<M extends keyof Events>(method: M, listener: (params: ParamsOf<Events[M]>) => void): Disposable {
    const listeners = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, listeners);
    listeners.add(listener as AnyListener);
    return { dispose: () => void listeners.delete(listener as AnyListener) };
  }

  /** Answers what the engine asks of the person's side. Parameters have passed their schema. */
  handle(handlers: Partial<PersonHandlers>): Disposable {
    const added = Object.entries(handlers) as [string, AnyHandler][];
    for (const [method, handler] of added) this.#handlers.set(method, handler);
    return {
      dispose: () => {
        for (const [method, handler] of added) {
          if (this.#handlers.get(method) === handler) this.#handlers.delete(method);
        }
      },
    };
  }

  onDidChangeState(listener: (state: EngineState) => void): Disposable {
    this.#stateListeners.add(listener);
    return { dispose: () => void this.#stateListeners.delete(listener) };
  }

  /** Tells a running engine; one that starts later learns the same from its options. */
  async notify<M extends keyof Told>(method: M, params: ParamsOf<Told[M]>): Promise<void> {
    if (this.#state !== 'running') return;
    const connection = await this.#current;
    await connection?.notify(method, params);
  }

  /** Ends the process, forgets how often it died, and starts a fresh one. Rejects with `closed` where that fails. */
  async restart(): Promise<void> {
    const before = this.#current;
    this.#current = undefined;
    this.#options.policy.reset();
    await disposeQuietly(before);
    this.#setState('idle');
    await this.#connect();
  }

  /** Ends the process; resolves when it is gone. Calls reject from here on. */
  async dispose(): Promise<void> {
    const before = this.#current;
    this.#current = undefined;
    this.#setState('disposed');
    this.#stateListeners.clear();
    this.#listeners.clear();
    this.#handlers.clear();
    await disposeQuietly(before);
  }

  #connect(): Promise<EngineConnection> {
    if (this.#state === 'disposed' || this.#state === 'gave-up') return Promise.reject(notRunning());
    return (this.#current ??= this.#keep(this.#start()));
  }

  /** A failed start is told to whoever waits for it; nobody may be waiting. */
  #keep(started: Promise<EngineConnection>): Promise<EngineConnection> {
    started.catch(() => undefined);
    return started;
  }

  async #start(delayMs = 0): Promise<EngineConnection> {
    let waitMs: number | undefined = delayMs;
    while (waitMs !== undefined) {
      if (waitMs > 0) await this.#options.wait(waitMs);
      if (this.#isDisposed()) throw notRunning();
      this.#setState('starting');
      try {
        const connection = await this.#open();
        if (this.#isDisposed()) {
          await connection.dispose();
          throw notRunning();
        }
        this.#setState('running');
        return connection;
      } catch (error) {
        if (this.#isDisposed()) throw error;
        this.#options.log.error('The engine did not start', error);
        waitMs = this.#options.policy.next(this.#options.now());
      }
    }
    this.#setState('gave-up');
    throw notRunning();
  }

  async #open(): Promise<EngineConnection> {
    let lost = false;
    const box: { connection?: EngineConnection } = {};
    box.connection = await this.#options.open({
      onNotification: (method, params) => this.#hear(method, params),
      onRequest: (method, params, signal) => this.#answer(method, params, signal),
      onClosed: () => {
        if (lost) return;
        lost = true;
        void this.#lost();
      },
    });
    return box.connection;
  }

  async #lost(): Promise<void> {
    if (this.#state !== 'running') return;
    const delayMs = this.#options.policy.next(this.#options.now());
    if (delayMs === undefined) {
      this.#options.log.error('The engine stopped too often and is left stopped');
      this.#current = undefined;
      this.#setState('gave-up');
      return;
    }
    this.#options.log.warn(`The engine stopped; starting it again in ${delayMs} ms`);
    this.#setState('starting');
    this.#current = this.#keep(this.#start(delayMs));
  }

  #hear(method: string, params: unknown): void {
    const events: Readonly<Record<string, NotificationContract>> = engineHeard;
    const contract = Object.hasOwn(events, method) ? events[method] : undefined;
    if (!contract) return;
    const parsed = z.safeParse(contract.params, params);
    if (!parsed.success) {
      this.#options.log.warn(`Dropped ${method}: ${z.prettifyError(parsed.error)}`);
      return;
    }
    for (const listener of this.#listeners.get(method) ?? []) listener(parsed.data);
  }

  async #answer(method: string, params: unknown, signal: AbortSignal): Promise<PersonAnswer> {
    const contracts: Readonly<Record<string, RequestContract>> = personRequests;
    const contract = Object.hasOwn(contracts, method) ? contracts[method] : undefined;
    const handler = this.#handlers.get(method);
    try {
      if (!contract || !handler) throw new UserError('not-found', `Nothing answers ${method}`);
      const parsed = z.safeParse(contract.params, params);
      if (!parsed.success)
        throw new UserError(
          'bad-message',
          `The parameters of ${method} do not fit: ${z.prettifyError(parsed.error)}`,
        );
      return { ok: true, value: await handler(parsed.data, signal) };
    } catch (error) {
      if (error instanceof UserError) {
        return { ok: false, code: error.code, message: error.message, data: error.data };
      }
      this.#options.log.error(`${method} failed`, error);
      return { ok: false, code: 'internal', message: `Internal error in ${method}`, data: {} };
    }
  }

  #parse(method: string, schema: z.ZodMiniType, answer: unknown): unknown {
    const parsed = z.safeParse(schema, answer);
    if (parsed.success) return parsed.data;
    this.#options.log.warn(`The answer to ${method} does not fit: ${z.prettifyError(parsed.error)}`);
    throw new UserError('bad-message', `The answer to ${method} does not fit its contract`, { method });
  }

  #isDisposed(): boolean {
    return this.#state === 'disposed';
  }

  #setState(state: EngineState): void {
    if (state === this.#state || this.#state === 'disposed') return;
    this.#state = state;
    for (const listener of this.#stateListeners) listener(state);
  }
}

function notRunning(): UserError {
  return new UserError('closed', 'The engine is not running');
}

async function disposeQuietly(connection: Promise<EngineConnection> | undefined): Promise<void> {
  await connection?.then((each) => each.dispose()).catch(() => undefined);
}

/** Settles as `promise` does, or rejects as soon as `signal` aborts. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new UserError('cancelled', 'Cancelled'));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
