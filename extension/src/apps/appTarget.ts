import * as z from 'zod/mini';

/** What a command is about, as a line of the Apps view or a button passes it. */
export interface AppTarget {
  readonly app?: string | undefined;
  readonly plugin?: string | undefined;
  /** The folder of an app that is not installed. */
  readonly folder?: string | undefined;
  /** The key of a permission by which a plugin wishes for a value. */
  readonly wish?: string | undefined;
}

const target = z.object({
  app: z.optional(z.string()),
  plugin: z.optional(z.string()),
  folder: z.optional(z.string()),
  wish: z.optional(z.string()),
});

/** Reads a command's first argument, an app's id or a line; anything else means "nothing in particular". */
export function parseAppTarget([first]: readonly unknown[]): AppTarget {
  if (typeof first === 'string') return { app: first };
  const parsed = z.safeParse(target, first);
  return parsed.success ? parsed.data : {};
}
