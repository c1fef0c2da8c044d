/** A part of the engine that is read and composed when it is first asked for. */
export interface LazyPart<P> {
  /** A start that failed is tried again by the next one who asks. */
  open(): Promise<P>;
  /**
   * What was opened, or is being opened; undefined before, and once it failed. What is told it by the first `then` is
   * told before anything that `open` is asked for later.
   */
  opened(): Promise<P> | undefined;
}

/** `start` is called when somebody first opens the part, and by the next one after it failed. */
export function lazyPart<P>(start: () => Promise<P>): LazyPart<P> {
  let part: Promise<P> | undefined;
  return {
    open: () =>
      (part ??= start().catch((error: unknown) => {
        part = undefined;
        throw error;
      })),
    opened: () => part,
  };
}

/** A handler for each of `methods`, which opens the part that answers them. */
export function lazyHandlers<H extends object>(
  methods: Readonly<Record<keyof H, unknown>>,
  part: LazyPart<{ readonly handlers: H }>,
): H {
  const entries = Object.keys(methods).map((method) => [
    method,
    async (params: unknown, signal: AbortSignal) => {
      const { handlers } = await part.open();
      const handler = handlers[method as keyof H] as (params: unknown, signal: AbortSignal) => unknown;
      return handler(params, signal);
    },
  ]);
  return Object.fromEntries(entries) as H;
}
