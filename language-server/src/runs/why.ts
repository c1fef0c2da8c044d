import type { KeyPartChange } from '../../../protocol/src/engine.ts';
import { parseAs } from '../../../protocol/src/parseJson.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { readTree } from '../../../remote-agent/src/files/readTree.ts';
import type { Store } from '../store/store.ts';
import { keyPartsSchema } from './cacheKey.ts';
import { explainChange, type ListCode } from './explain.ts';
import type { Why } from './plan.ts';

/** Says why a card of this project runs, against the last time before run `before` that it had a cache key. */
export function createWhy(
  store: Pick<Store, 'runs' | 'results'>,
  blobs: BlobStore,
  project: string,
  before: number,
): Why {
  const listCode: ListCode = (digest) =>
    blobs.has(digest)
      ? readTree(blobs, { kind: 'directory', digest, sizeBytes: 0, files: 0 }).entries
      : undefined;
  return (card, verdict): KeyPartChange[] => {
    if (verdict.ignored !== null) return [{ part: 'cache-ignored', detail: verdict.ignored }];
    const previous = store.runs.previous(project, card.id, before);
    if (!previous) return [{ part: 'first-run', detail: 'it has not run before' }];
    if (previous.key === verdict.key) {
      return previous.state === 'done'
        ? [{ part: 'result-removed', detail: 'its result was removed since' }]
        : [{ part: 'last-failed', detail: `the last time it was ${previous.state}` }];
    }
    const partsJson = store.results.parts(previous.key);
    if (partsJson === undefined)
      return [{ part: 'result-removed', detail: 'what it ran with was removed since' }];
    const parts = parseAs(keyPartsSchema, partsJson);
    const changes = parts ? explainChange(parts, verdict.parts, listCode) : [];
    return changes.length > 0 ? changes : [{ part: 'environment', detail: 'the form of the cache' }];
  };
}
