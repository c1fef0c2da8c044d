import * as z from 'zod/mini';
import { UserError } from '../../../../protocol/src/errors.ts';
import { appLimits } from '../../../../protocol/src/limits.ts';
import { parseAs } from '../../../../protocol/src/parseJson.ts';
import { badEntry, tooLarge } from '../tree/frozenTree.ts';
import { EntryPaths } from '../tree/entryPaths.ts';
import type { RepositoryFile } from './fetchRepository.ts';

/**
 * What a sealed fetch gives back, as one file: the JSON of a header on one line, then the bytes of its files one after
 * the other. Or `failure`, git's own words.
 */
const header = z.union([
  z.strictObject({
    commit: z.string().check(z.regex(/^[0-9a-f]{40,64}$/)),
    files: z
      .array(z.strictObject({ path: z.string(), sizeBytes: z.int().check(z.nonnegative()) }))
      .check(z.maxLength(appLimits.files)),
  }),
  z.strictObject({ failure: z.string(), code: z.nullable(z.string()) }),
]);
export type BundleHeader = z.infer<typeof header>;

/** The largest header: paths and sizes of as many files as an app has. */
const headerBytes = 64 * 1024 * 1024;

/** Writes a bundle. */
export function toBundle(head: BundleHeader, files: readonly RepositoryFile[] = []): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...files.map(({ bytes }) => bytes)]);
}

/**
 * Reads a bundle, which comes out of a sandbox: data, judged like any archive. Throws `unsafe-path`, `too-large`,
 * `unreadable`; and an Error with git's words where it failed.
 */
export function parseBundle(bytes: Buffer): {
  readonly commit: string;
  readonly files: readonly RepositoryFile[];
} {
  const end = bytes.subarray(0, headerBytes).indexOf(0x0a);
  const head = parseAs(header, bytes.toString('utf8', 0, Math.max(0, end)));
  if (end < 0 || !head) throw new UserError('unreadable', 'The sealed fetch gave no sound answer.');
  if ('failure' in head) throw new Error(head.failure);
  const paths = new EntryPaths();
  let at = end + 1;
  let totalBytes = 0;
  const files = head.files.map(({ path, sizeBytes }) => {
    const fault = paths.add(path, 'file');
    if (fault !== undefined) throw badEntry(path, fault);
    totalBytes += sizeBytes;
    if (sizeBytes > appLimits.fileBytes || totalBytes > appLimits.totalBytes) throw tooLarge();
    const content = bytes.subarray(at, at + sizeBytes);
    if (content.length !== sizeBytes)
      throw new UserError('unreadable', 'The sealed fetch gave no whole answer.');
    at += sizeBytes;
    return { path, bytes: content };
  });
  return { commit: head.commit, files };
}
