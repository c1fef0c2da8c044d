import * as z from 'zod/mini';

/** What a vault command is about, as a line of the tree passes it. */
export interface VaultTarget {
  readonly kind?: 'agents' | 'personal' | undefined;
  readonly item?: string | undefined;
  readonly field?: string | undefined;
  readonly grant?: string | undefined;
}

const target = z.object({
  vault: z.object({
    kind: z.optional(z.enum(['agents', 'personal'])),
    item: z.optional(z.string()),
    field: z.optional(z.string()),
    grant: z.optional(z.string()),
  }),
});

/** Reads a command's first argument; anything else means "nothing in particular". */
export function parseVaultTarget([first]: readonly unknown[]): VaultTarget {
  const parsed = z.safeParse(target, first);
  return parsed.success ? parsed.data.vault : {};
}
