import * as z from 'zod/mini';

/** What of a cluster a person can choose; each is the option of sbatch(1) with this name. */
export const slurmChoices = ['partition', 'account', 'qos', 'constraint', 'reservation'] as const;

/** One word of a command line: no blank, no quote, nothing that a shell reads within single quotes, and no option. */
const word = z.optional(z.string().check(z.regex(/^[A-Za-z0-9_(\[][A-Za-z0-9_.,:@+&|*()[\]-]{0,199}$/)));

/** Where on a cluster a person's cards run. What is not named, Slurm decides, or the person's shell there. */
export const slurmChoice = z.strictObject({
  partition: word,
  account: word,
  qos: word,
  constraint: word,
  reservation: word,
} satisfies Record<(typeof slurmChoices)[number], typeof word>);
export type SlurmChoice = z.infer<typeof slurmChoice>;
