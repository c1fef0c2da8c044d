import * as z from 'zod/mini';

/** SHA-256 in lower-case hexadecimal, 64 characters. */
export const digest = z.string().check(z.regex(/^[0-9a-f]{64}$/));

/**
 * A stored result or a frozen folder. A file's `digest` is that of its bytes; a directory's is that of its listing, the
 * canonical JSON of a `Tree`, which is itself a blob. `sizeBytes` is the sum of all files in it.
 */
export const artifactRef = z.strictObject({
  kind: z.enum(['file', 'directory']),
  digest,
  sizeBytes: z.int().check(z.nonnegative()),
  /** Number of files in it: 1 for a file. */
  files: z.int().check(z.nonnegative()),
});
export type ArtifactRef = z.infer<typeof artifactRef>;

/** One entry of a directory listing. Paths are relative, with `/`, sorted by UTF-16 code unit, never `..` or absolute. */
export const treeEntry = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('file'),
    path: z.string().check(z.minLength(1)),
    digest,
    sizeBytes: z.int().check(z.nonnegative()),
    executable: z.boolean(),
  }),
  /** Only empty directories are listed; the others follow from the files. */
  z.strictObject({ kind: z.literal('directory'), path: z.string().check(z.minLength(1)) }),
]);
export type TreeEntry = z.infer<typeof treeEntry>;

export const tree = z.strictObject({ version: z.literal(1), entries: z.array(treeEntry) });
export type Tree = z.infer<typeof tree>;
