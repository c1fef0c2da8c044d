import * as z from 'zod/mini';

/** Wrong answers since the last right one, as they are kept. */
export const failures = z.strictObject({
  count: z.int().check(z.minimum(0)),
  /** Milliseconds since the epoch. */
  lastAt: z.int().check(z.minimum(0)),
});
export type Failures = z.infer<typeof failures>;

export const noFailures: Failures = { count: 0, lastAt: 0 };

const freeTries = 3;
const longestWaitMs = 15 * 60_000;

/**
 * Milliseconds until another try may be made; 0 means now. Three tries are free, then 2, 4, 8 s … up to 15 minutes.
 * A clock that went back behind the last failure waits as if that had just happened.
 */
export function waitMs({ count, lastAt }: Failures, now: number): number {
  if (count < freeTries) return 0;
  const wait = Math.min(longestWaitMs, 2 ** Math.min(count - freeTries + 1, 20) * 1000);
  return now < lastAt ? wait : Math.max(0, lastAt + wait - now);
}

export function oneMore({ count }: Failures, now: number): Failures {
  return { count: count + 1, lastAt: now };
}
