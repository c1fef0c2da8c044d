/** How often the engine may die before it is left dead, and how long to wait before each start. */
export interface RestartPolicy {
  /** Milliseconds to wait before the next start, or undefined to give up. `now` is monotonic milliseconds. */
  next(now: number): number | undefined;
  /** Forgets the deaths: a person asked for a fresh start. */
  reset(): void;
}

export const restartLimits = { deaths: 4, windowMinutes: 3, firstDelayMs: 100 } as const;

/** Gives up on the fourth death within three minutes; waits 100, 200, 400 ms before. */
export function createRestartPolicy(): RestartPolicy {
  let deaths: number[] = [];
  return {
    next(now) {
      deaths = [...deaths.filter((at) => now - at < restartLimits.windowMinutes * 60_000), now];
      return deaths.length >= restartLimits.deaths
        ? undefined
        : restartLimits.firstDelayMs * 2 ** (deaths.length - 1);
    },
    reset() {
      deaths = [];
    },
  };
}
