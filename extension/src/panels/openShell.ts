import { randomBytes } from 'node:crypto';
import { Uri, type Webview } from 'vscode';
import { isRelay, shellHtml, type ShellKind } from './shellHtml.ts';
import type { WebviewFiles } from './webviewFiles.ts';

/** A panel or a view of a side bar. */
export interface ShellPlace {
  readonly webview: Webview;
  readonly title?: string | undefined;
}

/** Puts a shell into a panel or a view, new or restored. The page may read `dist/webviews` and nothing else. */
export async function openShell(
  panel: ShellPlace,
  kind: ShellKind,
  extensionUri: Uri,
  files: WebviewFiles,
): Promise<void> {
  const folder = webviewFolder(extensionUri);
  const frameScriptHash = await files.frameScriptHash();
  panel.webview.options = webviewOptions(extensionUri);
  panel.webview.html = shellHtml({
    kind,
    title: panel.title ?? 'Sallyport',
    cspSource: panel.webview.cspSource,
    script: isRelay(kind)
      ? await files.source(kind)
      : panel.webview.asWebviewUri(Uri.joinPath(folder, `${kind}.js`)).toString(),
    styleUri: panel.webview.asWebviewUri(Uri.joinPath(folder, `${kind}.css`)).toString(),
    scriptNonce: nonce(),
    styleNonce: nonce(),
    frameScriptHash,
  });
}

/** Sallyport's picture with colours of its own: a tab's icon does not take those of the theme. */
export function tabIcon(extensionUri: Uri): Uri {
  return Uri.joinPath(extensionUri, 'extension', 'media', 'icon.svg');
}

/** No forms, no command links. Messages are the only way out of the page. */
export function webviewOptions(extensionUri: Uri) {
  return {
    enableScripts: true,
    enableForms: false,
    enableCommandUris: false,
    localResourceRoots: [webviewFolder(extensionUri)],
  };
}

export function webviewFolder(extensionUri: Uri): Uri {
  return Uri.joinPath(extensionUri, 'dist', 'webviews');
}

function nonce(): string {
  return randomBytes(24).toString('base64url');
}
