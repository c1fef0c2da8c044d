/** Wrong passwords so far. Kept in the vault's folder, so that a restart gives no fresh start. */
export interface Attempts {
  readonly failures: number;
  /** Milliseconds since the epoch. */
  readonly lastAt: number;
}

export const noAttempts: Attempts = { failures: 0, lastAt: 0 };

const free = 3;
const firstMs = 1000;
const longestMs = 15 * 60 * 1000;

/** The wait that a number of wrong passwords costs: none for three, then 1 s, doubling up to a quarter of an hour. */
export function delayMs(failures: number): number {
  if (failures < free) return 0;
  return Math.min(firstMs * 2 ** (failures - free), longestMs);
}

/** How long to wait yet. A clock that was turned back makes it no shorter, and no longer than one whole wait. */
export function waitMs({ failures, lastAt }: Attempts, now: number): number {
  const delay = delayMs(failures);
  return Math.min(Math.max(lastAt + delay - now, 0), delay);
}

/** Written before a password is tried, so that ending the process in between counts as a failure. */
export function failed(attempts: Attempts, now: number): Attempts {
  return { failures: attempts.failures + 1, lastAt: now };
}

export function attemptsText({ failures, lastAt }: Attempts): string {
  return `${JSON.stringify({ failures, lastAt })}\n`;
}

/** A text that is none counts as many failures: spoiling the file is no way around the wait. */
export function parseAttempts(text: string, now: number): Attempts {
  try {
    const { failures, lastAt } = JSON.parse(text) as { failures: unknown; lastAt: unknown };
    if (Number.isSafeInteger(failures) && Number.isSafeInteger(lastAt) && (failures as number) >= 0)
      return { failures: failures as number, lastAt: lastAt as number };
  } catch {
    // As below.
  }
  return { failures: 10, lastAt: now };
}
