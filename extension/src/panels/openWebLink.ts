import { env, Uri, window } from 'vscode';
import { plain } from '../plainText.ts';
import { workbenchWords as words } from './workbenchWords.ts';

/**
 * Opens a web address once a person has seen all of it, in a modal message under `question`. True where they opened it.
 */
export async function openWebLink(url: URL, question: string): Promise<boolean> {
  const open = words.openLinkButton();
  const copy = words.copyLinkButton();
  const chosen = await window.showInformationMessage(
    question,
    { modal: true, detail: plain(url.href) },
    open,
    copy,
  );
  if (chosen === copy) await env.clipboard.writeText(url.href);
  return chosen === open && (await env.openExternal(Uri.parse(url.href, true)));
}
