import { join } from 'node:path';
import { newAppNotices as notices, newAppWords as words } from '../../../extension/src/newAppMessages.ts';
import { assertGolden } from '../../support/golden.ts';

const evil = '$(x) [a](command:b)\u202e';
const lines = [
  words.title(),
  words.namePrompt(),
  words.namePlaceholder(),
  ...(['empty', 'too-long', 'hidden'] as const).map(words.nameProblem),
  words.idPrompt(),
  ...(['empty', 'too-long', 'start', 'characters'] as const).map(words.idProblem),
  words.partsPlaceholder(),
  ...(['page', 'plugin'] as const).flatMap((parts) => [words.parts(parts), words.partsDetail(parts)]),
  words.languagePlaceholder(),
  ...(['javascript', 'typescript'] as const).flatMap((language) => [
    words.language(language),
    words.languageDetail(language, 'page'),
    words.languageDetail(language, 'plugin'),
  ]),
  words.wherePlaceholder(),
  words.inFolder(evil),
  words.otherFolder(),
  words.otherFolderDetail('notes'),
  words.openLabel(),
  JSON.stringify(notices.written(evil, `/home/${evil}`)),
  JSON.stringify(notices.notEmpty(`/home/${evil}`)),
];

describe('the words of New App', () => {
  it('are as they are written down', () => {
    assertGolden(join(import.meta.dirname, 'goldens', 'newAppMessages.txt'), lines.join('\n'));
  });
});
