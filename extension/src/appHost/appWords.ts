import { l10n } from 'vscode';
import { plain, short } from '../plainText.ts';

const t = l10n.t;

/** What stands around apps outside their pages. */
export const appWords = {
  title: (name: string): string => short(name, 40),
  openLink: (app: string, host: string): string =>
    t('The app {0} wants to open a page of {1} in your browser.', plain(app), plain(host)),
  save: (app: string): string => t('Save a File of the App {0}', plain(app)),
  tooLargePage: (app: string): string =>
    t('The page of the app {0} is too large to be shown. Ask its author for a smaller one.', plain(app)),
  problem: (app: string, kind: string, text: string): string =>
    `App ${plain(app)}: ${plain(kind)}: ${plain(text)}`,
};
