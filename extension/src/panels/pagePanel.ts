import { ViewColumn, window, type WebviewPanel } from 'vscode';
import { createHash } from 'node:crypto';
import { Channel } from '../../../protocol/src/channel.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { pageHost, pageWebview } from '../../../protocol/src/webview.ts';
import { openShell, tabIcon, webviewOptions } from './openShell.ts';
import { readOutput, type OutputRef } from './outputFile.ts';
import { countBadMessages, type PanelServices } from './panelServices.ts';
import { panelWords } from './panelWords.ts';
import type { WebviewFiles } from './webviewFiles.ts';
import { webviewTransport } from './webviewTransport.ts';

/**
 * Opens a card's own page beside the editor. Each card's pages have a view type, and so a web origin, of their own:
 * webviews of one view type share one. A closed panel frees what it held; the caller closes one that is open.
 */
export function openPagePanel(
  services: PanelServices,
  files: WebviewFiles,
  shown: { readonly root: string; readonly card: string; readonly output: OutputRef },
): WebviewPanel {
  const { root, card, output } = shown;
  const origin = createHash('sha256').update(`${root}\0${card}`).digest('hex').slice(0, 16);
  const title = panelWords.pageTitle(card, output.port);
  const panel = window.createWebviewPanel(
    `sallyport.page.${origin}`,
    title,
    ViewColumn.Beside,
    webviewOptions(services.extensionUri),
  );
  panel.iconPath = tabIcon(services.extensionUri);
  const transport = webviewTransport(panel.webview);
  // The page asks and is answered; nothing is ever told to it, so the channel needs no name.
  new Channel(transport, pageWebview, {
    local: pageHost,
    onBadMessage: countBadMessages(services.log, 'page'),
    requestHandlers: {
      'page/ready': async () => {
        const bytes = await readOutput(services.engine, output);
        return { frameScript: await files.source('view'), title, html: decode(bytes, card, output.port) };
      },
    },
    notificationHandlers: {},
  });
  panel.onDidDispose(() => transport.dispose());
  openShell(panel, 'page', services.extensionUri, files).catch((error: unknown) => {
    panel.dispose();
    services.notifier.showError(error);
  });
  return panel;
}

function decode(bytes: Buffer, card: string, port: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new UserError(
      'unreadable',
      `The page ${card}/${port} is not UTF-8 text`,
      { card, port },
      { cause: error },
    );
  }
}
