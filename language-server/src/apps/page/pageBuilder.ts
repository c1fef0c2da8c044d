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
    const html = await inlinePage(manifest.entry, decode(tree.read(manifest.entry), manifest.entry), {
      read: files.read,
      bundle: (path, inline) =>
        bundle(
          inline === null ? { kind: 'file', path } : { kind: 'inline', code: inline, from: path },
          files,
          signal,
        ),
    });
    const bytes = Buffer.from(html, 'utf8');
    if (bytes.length > appLimits.pageBytes)
      throw new UserError(
        'too-large',
        `The page of ${manifest.id} is ${Math.round(bytes.length / 1024 / 1024)} MB with all that it names; at most ${appLimits.pageBytes / 1024 / 1024} MB are shown.`,
        { limitBytes: appLimits.pageBytes },
      );
    return blobs.putBytes(bytes);
  };
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UserError('bad-app', `${path} is not UTF-8 text.`, { path });
  }
}
