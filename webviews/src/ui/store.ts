/** A value that React reads with `useSyncExternalStore` and events change. It is drawn once a frame, however many come. */
export interface Store<State, Event> {
  readonly get: () => State;
  readonly subscribe: (listener: () => void) => () => void;
  readonly send: (event: Event) => void;
}

export function createStore<State, Event>(
  initial: State,
  reduce: (state: State, event: Event) => State,
): Store<State, Event> {
  let state = initial;
  const listeners = new Set<() => void>();
  let isScheduled = false;
  const tell = (): void => {
    isScheduled = false;
    for (const listener of listeners) listener();
  };
  return {
    get: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    send: (event) => {
      state = reduce(state, event);
      if (isScheduled) return;
      isScheduled = true;
      requestAnimationFrame(tell);
    },
  };
}
