import {
  EventEmitter,
  languages,
  TabInputText,
  Uri,
  window,
  workspace,
  type TextDocumentContentProvider,
} from 'vscode';
import type { Disposable } from '../disposable.ts';

/** Read-only documents with text that Sallyport writes. They are in no file and end with the window. */
export class Reports implements TextDocumentContentProvider, Disposable {
  readonly #texts = new Map<string, string>();
  readonly #changed = new EventEmitter<Uri>();
  readonly #registrations: Disposable[];

  constructor() {
    this.#registrations = [
      workspace.registerTextDocumentContentProvider(reportScheme, this),
      workspace.onDidCloseTextDocument((document) => {
        if (document.uri.scheme === reportScheme) this.#texts.delete(document.uri.path);
      }),
    ];
  }

  readonly onDidChange = this.#changed.event;

  /** Shows the text under a title; a report that is open under the same title is replaced. */
  async show(
    title: string,
    text: string,
    options: { preserveFocus?: boolean; preview?: boolean } = {},
  ): Promise<void> {
    const uri = reportUri(title);
    this.#texts.set(uri.path, text);
    this.#changed.fire(uri);
    const document = await workspace.openTextDocument(uri);
    await languages.setTextDocumentLanguage(document, reportLanguage);
    await window.showTextDocument(document, {
      preview: options.preview ?? true,
      preserveFocus: options.preserveFocus ?? false,
    });
  }

  /** Closes the report under a title, where it is open. */
  async close(title: string): Promise<void> {
    const { path } = reportUri(title);
    const tabs = window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(
        ({ input }) =>
          input instanceof TabInputText && input.uri.scheme === reportScheme && input.uri.path === path,
      );
    await window.tabGroups.close(tabs);
  }

  provideTextDocumentContent(uri: Uri): string {
    return this.#texts.get(uri.path) ?? '';
  }

  dispose(): void {
    for (const each of this.#registrations) each.dispose();
    this.#changed.dispose();
  }
}

const reportScheme = 'sallyport-report';
/** Plain text, shown without boxes around the marks of punctuation that Sallyport itself writes. */
export const reportLanguage = 'sallyport-report';

function reportUri(title: string): Uri {
  return Uri.from({ scheme: reportScheme, path: `/${title.replaceAll('/', '∕')}` });
}
