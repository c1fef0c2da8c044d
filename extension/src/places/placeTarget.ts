import * as z from 'zod/mini';

const target = z.object({ place: z.string() });

/** The place that a command is about, as a line of the Places view or a button passes it; undefined for none. */
export function parsePlaceTarget([first]: readonly unknown[]): string | undefined {
  if (typeof first === 'string') return first;
  const parsed = z.safeParse(target, first);
  return parsed.success ? parsed.data.place : undefined;
}
