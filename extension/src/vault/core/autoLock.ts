/** When an open vault locks by itself. Pure: whoever has the clock asks. All times are milliseconds. */
export interface AutoLock {
  /** After this long without a use; null is never. */
  readonly idleMs: number | null;
  readonly openedAt: number;
  readonly usedAt: number;
}

/** However busy it is, a vault that locks by itself at all does so after this long. */
export const longestOpenMs = 12 * 60 * 60 * 1000;
/** A timer that comes this much late was asleep with the machine. */
const sleepMs = 30 * 1000;

/** When it is to lock; null is never. */
export function lockDeadline({ idleMs, openedAt, usedAt }: AutoLock): number | null {
  return idleMs === null ? null : Math.min(usedAt + idleMs, openedAt + longestOpenMs);
}

/** True where it is to lock now: the time has come, or the clock stands before the opening, so that no time can be told. */
export function isLockDue(state: AutoLock, now: number): boolean {
  const deadline = lockDeadline(state);
  return deadline !== null && (now >= deadline || now < state.openedAt);
}

/** True where the machine slept: a timer set for `intervalMs` took much longer by the clock. */
export function hasSlept(lastTickAt: number, now: number, intervalMs: number): boolean {
  return now - lastTickAt > intervalMs + sleepMs || now < lastTickAt - sleepMs;
}
