/** A value that React reads with `useSyncExternalStore` and events change. */
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
  return {
    get: () => state,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    send: (event) => {
      state = reduce(state, event);
      for (const listener of listeners) listener();
    },
  };
}
