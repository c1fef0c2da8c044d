import * as z from 'zod/mini';
import type { StoreEntry } from '../../../protocol/src/apps.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { limits } from '../../../protocol/src/limits.ts';
import { idPattern } from '../../../protocol/src/manifests.ts';
import { showHidden } from '../../../protocol/src/text.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { AppRecords } from './appRecords.ts';
import { blobsOf, dropBlobs } from './collectBlobs.ts';
import { issueTexts } from './issueText.ts';
import { gitAddressFault } from './sources/gitAddress.ts';
import type { TakeRepository } from './sources/gitSource.ts';
import { FrozenTree } from './tree/frozenTree.ts';

const text = (most: number) => z.string().check(z.minLength(1), z.maxLength(most));
/** `index.json` at the top of a repository: the apps that its owner points to (docs/apps.md). */
const storeIndex = z.strictObject({
  version: z.literal(1),
  apps: z
    .array(
      z.strictObject({
        id: z.string().check(z.regex(idPattern)),
        name: text(200),
        description: z.string().check(z.maxLength(2000)),
        url: text(2000),
        ref: text(200),
      }),
    )
    .check(z.maxLength(2000)),
});

export interface StoreParts {
  readonly records: AppRecords;
  readonly blobs: BlobStore;
  readonly takeRepository: TakeRepository;
  readonly now: () => number;
}

/**
 * What an index lists. The first time a person is asked whether this index is the one that they mean: it rejects with
 * `permission-needed` and `data` `{ url, commit, digest, apps }`, and is called again with that digest. Nothing of the
 * index is kept, and each app of it has a review of its own.
 */
export async function listStore(
  { records, blobs, takeRepository, now }: StoreParts,
  { index, confirm }: { readonly index: string; readonly confirm?: string | undefined },
  onProgress: (text: string) => void,
  signal: AbortSignal,
): Promise<StoreEntry[]> {
  const { code, commit } = await takeRepository({ kind: 'git', url: index }, { onProgress, signal });
  try {
    const tree = new FrozenTree(blobs, code);
    const { apps } = readIndex(tree);
    if (!records.isIndexConfirmed(index)) {
      if (confirm !== code.digest) {
        throw new UserError(
          'permission-needed',
          `The list of apps at ${showHidden(index)} was not read before. It names ${apps.length} apps; confirm that it is the one that you mean.`,
          { url: index, commit, digest: code.digest, apps: apps.length },
        );
      }
      records.confirmIndex(index, code.digest, now());
    }
    return apps.map((app) => ({
      ...app,
      name: showHidden(app.name),
      description: showHidden(app.description),
      isInstalled: records.find(app.id)?.deletedAt === null,
    }));
  } finally {
    dropBlobs(records, blobs, blobsOf(blobs, code));
  }
}

function readIndex(tree: FrozenTree): z.infer<typeof storeIndex> {
  if (!tree.has('index.json')) throw bad('there is no index.json at its top');
  let value: unknown;
  try {
    value = JSON.parse(tree.read('index.json', limits.manifestBytes).toString('utf8'));
  } catch {
    throw bad('index.json is not JSON');
  }
  const fits = z.safeParse(storeIndex, value);
  if (!fits.success) throw bad(`index.json: ${issueTexts(fits.error)}`);
  for (const { id, url, ref } of fits.data.apps) {
    const fault = gitAddressFault(url, ref);
    if (fault !== undefined) throw bad(`index.json: the address of ${id} ${fault}`);
  }
  return fits.data;
}

function bad(what: string): UserError {
  return new UserError('bad-app', showHidden(`This is no list of apps: ${what}.`));
}
