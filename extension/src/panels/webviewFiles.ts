import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { libraryNames } from '../../../protocol/src/webview.ts';
import type { RelayKind } from './shellHtml.ts';

export type LibraryName = (typeof libraryNames)[number];

/** The relays, the script of an app's frame, and `presence`, the script of the page that asks for a passkey. */
type SourceName = LibraryName | RelayKind | 'appFrame' | 'presence';

/** The built scripts that are handed over as text. */
export interface WebviewFiles {
  /** Source of a script. Rejects where the installation is damaged. */
  source(name: SourceName): Promise<string>;
  /** Base64 SHA-256 of the frame's own script, for a shell's policy. */
  frameScriptHash(): Promise<string>;
}

/** Reads from `dist/webviews`. Only the small frame script is kept: a page asks for a library once. */
export function createWebviewFiles(folder: string, read = readUtf8): WebviewFiles {
  let frameScript: Promise<string> | undefined;
  const source = (name: SourceName): Promise<string> => {
    const path = join(folder, `${name}.js`);
    if (name !== 'view') return read(path);
    frameScript ??= read(path);
    frameScript.catch(() => (frameScript = undefined));
    return frameScript;
  };
  return {
    source,
    frameScriptHash: async () =>
      createHash('sha256')
        .update(await source('view'))
        .digest('base64'),
  };
}

function readUtf8(path: string): Promise<string> {
  return readFile(path, 'utf8');
}
