import * as z from 'zod/mini';

/** What an undo command is about, as a line of the timeline or a row of the workbench passes it. */
export interface ChangeTarget {
  readonly root?: string | undefined;
  readonly group?: string | undefined;
  readonly changeIds?: readonly string[] | undefined;
}

const target = z.object({
  root: z.optional(z.string()),
  group: z.optional(z.string()),
  changeIds: z.optional(z.array(z.string())),
});

/** Reads a command's first argument; anything else means "nothing in particular". */
export function parseChangeTarget([first]: readonly unknown[]): ChangeTarget {
  const parsed = z.safeParse(target, first);
  return parsed.success ? parsed.data : {};
}
