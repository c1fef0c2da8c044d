import type * as z from 'zod/mini';

/** A named request with the schema of what goes in and what comes back. */
export interface RequestContract<
  P extends z.ZodMiniType = z.ZodMiniType,
  R extends z.ZodMiniType = z.ZodMiniType,
> {
  readonly params: P;
  readonly result: R;
  /** Milliseconds until the caller gives up; absent means `limits.requestTimeoutMs`, 0 means never. */
  readonly timeoutMs?: number;
}

/** A named message without an answer. */
export interface NotificationContract<P extends z.ZodMiniType = z.ZodMiniType> {
  readonly params: P;
}

export type Requests = Readonly<Record<string, RequestContract>>;
export type Notifications = Readonly<Record<string, NotificationContract>>;

/** Everything one side of a boundary answers and hears. */
export interface Side<R extends Requests = Requests, N extends Notifications = Notifications> {
  readonly requests: R;
  readonly notifications: N;
}

export type ParamsOf<C extends { params: z.ZodMiniType }> = z.infer<C['params']>;
export type ResultOf<C extends RequestContract> = z.infer<C['result']>;

/** A handler for every request of a side: leaving one out does not compile. */
export type RequestHandlers<R extends Requests> = {
  readonly [M in keyof R]: (
    params: ParamsOf<R[M]>,
    signal: AbortSignal,
  ) => Promise<ResultOf<R[M]>> | ResultOf<R[M]>;
};

export type NotificationHandlers<N extends Notifications> = {
  readonly [M in keyof N]: (params: ParamsOf<N[M]>) => void;
};

/** A message that is answered. `timeoutMs` replaces `limits.requestTimeoutMs`; 0 waits without end. */
export function request<P extends z.ZodMiniType, R extends z.ZodMiniType>(
  params: P,
  result: R,
  options: { timeoutMs?: number } = {},
): RequestContract<P, R> {
  return { params, result, ...options };
}

/** A message without an answer. */
export function notification<P extends z.ZodMiniType>(params: P): NotificationContract<P> {
  return { params };
}
