import { l10n } from 'vscode';
import { plain, short } from '../plainText.ts';

const t = l10n.t;

/** What the workbench shows outside its page: titles, questions, sentences for what can't be done. */
export const workbenchWords = {
  title: (): string => t('Workbench'),
  cameBack: (): string => t('This page had stopped and was opened again. What you typed is there.'),
  renameTitle: (): string => t('Rename Conversation'),
  deleteQuestion: (title: string): string => t('Delete the conversation “{0}”?', short(title, 80)),
  deleteDetail: (): string =>
    t(
      'Its messages are gone for good. What it changed in files stays, and can still be undone in the Timeline.',
    ),
  deleteButton: (): string => t('Delete'),
  openLinkQuestion: (host: string): string => t('Open a page of {0} in your browser?', plain(host)),
  openLinkButton: (): string => t('Open'),
  copyLinkButton: (): string => t('Copy Address'),
  noProject: (): string => t('There is no project here. Open a folder with a sallyport.json first.'),
  noConnection: (): string => t('No model is connected yet.'),
  nothingShown: (): string => t('This row is not shown any more.'),
  rulesTitle: (): string => t('Rules files that are sent along with each request'),
  noRules: (): string => t('No rules file is sent along: this project has no AGENTS.md or the like.'),
  hiddenCharacters: (count: number): string =>
    count === 1 ? t('1 invisible character') : t('{0} invisible characters', count),
};
