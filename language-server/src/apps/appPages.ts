import type { appRequests } from '../../../protocol/src/apps.ts';
import type { ResultOf } from '../../../protocol/src/contract.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { AppLibrary } from './appLibrary.ts';
import type { AppRecord, AppRecords } from './appRecords.ts';
import type { BuildPage } from './installer.ts';

export interface AppPagesOptions {
  readonly blobs: BlobStore;
  readonly records: AppRecords;
  readonly library: Pick<AppLibrary, 'open'>;
  readonly buildPage: BuildPage;
}

type Page = ResultOf<(typeof appRequests)['app/page']>;

/** The documents of installed apps. */
export interface AppPages {
  /** The page as it was built; undefined where the document was removed or is not what was built. */
  whole(id: string, signal: AbortSignal): Promise<Page | undefined>;
  /** Builds it anew: the frozen tree gives the same document again. */
  rebuild(id: string, signal: AbortSignal): Promise<Page>;
}

/** Throws as `AppLibrary.open` does. */
export function createAppPages({ blobs, records, library, buildPage }: AppPagesOptions): AppPages {
  const pageOf = ({ id, name, code, page }: AppRecord): Page => ({
    app: id,
    name,
    treeDigest: code.digest,
    documentPath: blobs.pathOf(page.digest),
    documentBytes: page.sizeBytes,
  });
  return {
    whole: async (id, signal) => {
      const { app } = library.open(id);
      return (await blobs.verify(app.page.digest, signal)) ? pageOf(app) : undefined;
    },
    rebuild: async (id, signal) => {
      const { app, tree, content } = library.open(id);
      // Where the page is a file of the app as well, that file is damaged, and building says so.
      if (!tree.digests().has(app.page.digest)) blobs.remove(app.page.digest);
      const page = await buildPage(tree, content, { onProgress: () => undefined, signal });
      records.setPage(id, page);
      return pageOf({ ...app, page });
    },
  };
}
