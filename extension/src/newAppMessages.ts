import { l10n } from 'vscode';
import type { AppLanguage, AppParts } from './apps/newApp/composeApp.ts';
import type { IdProblem, NameProblem } from './apps/newApp/checkNewApp.ts';
import type { Notice } from './messages.ts';
import { plain, short } from './plainText.ts';

/** The texts of New App, by the rules of `messages.ts`; rendered by `test/unit/extension/newAppMessages.test.ts`. */
const t = l10n.t;

export const newAppWords = {
  title: (): string => t('New App'),
  namePrompt: (): string => t('Name of the app, as people see it'),
  namePlaceholder: (): string => t('My first app'),
  nameProblem: (problem: NameProblem): string => {
    switch (problem) {
      case 'empty':
        return t('Type a name.');
      case 'too-long':
        return t('A name has at most 200 characters.');
      case 'hidden':
        return t('The name holds a character that people would not see. Type it anew.');
    }
  },
  idPrompt: (): string => t('Id of the app. Its folder gets this name, and it stays when the name changes.'),
  idProblem: (problem: IdProblem): string => {
    switch (problem) {
      case 'empty':
        return t('Type an id.');
      case 'too-long':
        return t('An id has at most 64 characters.');
      case 'start':
        return t('An id begins with a small letter, a to z.');
      case 'characters':
        return t('An id has only small letters a to z, digits and “-”.');
    }
  },
  partsPlaceholder: (): string => t('What is it made of?'),
  parts: (parts: AppParts): string => (parts === 'page' ? t('Only a page') : t('A page and a plugin')),
  partsDetail: (parts: AppParts): string =>
    parts === 'page'
      ? t('It shows itself, stores files of its own, and can ask the models that a person connected')
      : t('The plugin is code beside the page; it can also reach hosts that a person accepts'),
  languagePlaceholder: (): string => t('What is its page written in?'),
  language: (language: AppLanguage): string => (language === 'typescript' ? 'TypeScript' : 'JavaScript'),
  languageDetail: (language: AppLanguage, parts: AppParts): string => {
    if (language === 'javascript')
      return t('With types that the editor checks. It is used as it is written.');
    return parts === 'page'
      ? t('The page is built when the app is installed')
      : t('The page is built when the app is installed. The plugin is JavaScript with types.');
  },
  wherePlaceholder: (): string => t('Where is its folder written?'),
  inFolder: (name: string): string => t('In {0}', short(name)),
  otherFolder: (): string => t('Choose a folder…'),
  otherFolderDetail: (id: string): string => t('A folder {0} is made in it', plain(id)),
  openLabel: (): string => t('Make It Here'),
};

export const newAppNotices = {
  written: (name: string, folder: string): Notice => ({
    severity: 'info',
    text: t(
      '{0} is written to {1}. To try it, install it: Install App, Folder. It is reviewed like any other app.',
      short(name),
      plain(folder),
    ),
    action: { title: t('Install App'), command: 'sallyport.installApp', args: [{ folder }] },
  }),
  notEmpty: (folder: string): Notice => ({
    severity: 'warning',
    text: t('{0} has files already, and nothing was written. Choose another folder or id.', plain(folder)),
  }),
};
