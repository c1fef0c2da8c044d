import { tree, type ArtifactRef, type Tree } from '../../../protocol/src/artifacts.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { limits } from '../../../protocol/src/limits.ts';
import type { BlobStore } from './blobStore.ts';
import { listingLimitBytes, showName, treePathFault } from './treePath.ts';

/** The verified listing of a stored directory. Throws as `BlobStore.readBytes` and `parseTree` do. */
export function readTree(store: BlobStore, ref: ArtifactRef): Tree {
  return parseTree(store.readBytes(ref.digest, { limitBytes: listingLimitBytes }));
}

/**
 * Parses a listing. It is trusted to name files only after this: paths keep `treePathFault`'s rules, come in ascending
 * UTF-16 order (so none twice), and nothing is both a file or an empty folder and the parent of something. Throws
 * `UserError` `store-damaged` where it is no listing and `unsafe-path` where a path breaks a rule.
 */
export function parseTree(bytes: Uint8Array): Tree {
  const parsed = tree.safeParse(parseJson(bytes));
  if (!parsed.success) throw new UserError('store-damaged', 'A stored folder listing does not have its form');
  const { entries } = parsed.data;
  if (entries.length > limits.filesPerTree) {
    throw new UserError('too-large', `A stored folder lists more than ${limits.filesPerTree} entries`);
  }
  const leaves = new Set<string>();
  let previous = '';
  for (const { path } of entries) {
    const fault = treePathFault(path);
    if (fault !== undefined) throw unsafe(path, fault);
    if (path <= previous) throw unsafe(path, 'comes twice or out of order');
    previous = path;
    leaves.add(path);
  }
  for (const path of leaves) {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (leaves.has(path.slice(0, end))) throw unsafe(path, 'lies below a file');
    }
  }
  return parsed.data;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function unsafe(path: string, fault: string): UserError {
  const shown = showName(path);
  return new UserError('unsafe-path', `A stored folder names ${shown}, which ${fault}`, { path: shown });
}
