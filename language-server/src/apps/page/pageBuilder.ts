import { UserError } from '../../../../protocol/src/errors.ts';
import { appLimits } from '../../../../protocol/src/limits.ts';
import type { BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import type { BuildPage } from '../installer.ts';
import type { FetchPackages } from '../packages/fetchPackages.ts';
import type { Bundle } from './bundler.ts';
import { inlinePage } from './inlinePage.ts';

export interface PageBuilderOptions {
  readonly blobs: BlobStore;
  readonly bundle: Bundle;
  readonly fetchPackages: FetchPackages;
}

/** Builds the page of an app into one self-contained document, a blob. The same tree gives the same document. */
export function createPageBuilder({ blobs, bundle, fetchPackages }: PageBuilderOptions): BuildPage {
  return async (tree, { manifest, packages }, { onProgress, signal }) => {
    const fetched = await fetchPackages(packages, onProgress, signal);
    const files = {
      has: (path: string) => (path.startsWith('node_modules/') ? fetched.has(path) : tree.has(path)),
      read: (path: string) => (path.startsWith('node_modules/') ? fetched.read(path) : tree.read(path)),
    };
    onProgress('Building the page');
    const budget = new PageBudget(manifest.id);
    const page = tree.read(manifest.entry, appLimits.htmlBytes);
    const html = await inlinePage(manifest.entry, decode(page, manifest.entry), {
      read: (path) => budget.take(files.read(path)),
      bundle: async (path, inline) => {
        budget.takeModule();
        const entry =
          inline === null
            ? ({ kind: 'file', path } as const)
            : ({ kind: 'inline', code: inline, from: path } as const);
        return budget.take(await bundle(entry, files, signal));
      },
    });
    const bytes = budget.take(Buffer.from(html, 'utf8'), true);
    return blobs.putBytes(bytes);
  };
}

/** What is put into one page, together: a file that is named a thousand times counts a thousand times. */
class PageBudget {
  readonly #app: string;
  #bytes = 0;
  #modules = 0;

  constructor(app: string) {
    this.#app = app;
  }

  /** Counts `part` in, or alone where it is the `whole` page. Throws `too-large`. */
  take<T extends Uint8Array | string>(part: T, whole = false): T {
    this.#bytes = part.length + (whole ? 0 : this.#bytes);
    if (this.#bytes <= appLimits.pageBytes) return part;
    const megabytes = appLimits.pageBytes / 1024 / 1024;
    throw new UserError(
      'too-large',
      `The page of ${this.#app} is too large with all that it names: at most ${megabytes} MB are shown.`,
      { limitBytes: appLimits.pageBytes },
    );
  }

  takeModule(): void {
    if (++this.#modules > appLimits.pageModules)
      throw new UserError(
        'too-large',
        `The page of ${this.#app} has more than ${appLimits.pageModules} module scripts.`,
      );
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UserError('bad-app', `${path} is not UTF-8 text.`, { path });
  }
}
