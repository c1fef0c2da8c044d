/**
 * Puts this thread's `Date` into UTC. The instance asks it for the local time, and what code sees must not hang on where
 * it runs.
 */
export function keepUtc(): void {
  const date = Date.prototype as unknown as Record<string, unknown>;
  date['getTimezoneOffset'] = () => 0;
  for (const part of ['Seconds', 'Minutes', 'Hours', 'Date', 'Month', 'FullYear', 'Day'])
    date[`get${part}`] = date[`getUTC${part}`];
}
