import { l10n } from 'vscode';
import { plain, short } from '../plainText.ts';

const t = l10n.t;

/** What panels show outside their pages: titles of tabs and dialogs, and sentences in the place of a page. */
export const panelWords = {
  canvasTitle: (project: string): string => t('{0}: Canvas', short(project, 40)),
  runTitle: (project: string): string => t('{0}: Run', short(project, 40)),
  pageTitle: (card: string, port: string): string => t('{0}/{1}', short(card, 40), short(port, 40)),
  noRun: (project: string): string => t('Nothing of {0} has run yet.', plain(project)),
  noSuchRun: (): string => t('This run is no longer kept.'),
  savePicture: (): string => t('Save the View'),
  formats: { png: 'PNG', svg: 'SVG' },
};
