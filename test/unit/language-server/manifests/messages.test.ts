import assert from 'node:assert/strict';
import { join } from 'node:path';
import {
  fixTitles,
  lensTitles,
  plain,
  problemTexts,
  shown,
  type ProblemCode,
  type ProblemTexts,
} from '../../../../language-server/src/messages.ts';
import { assertGolden } from '../../../support/golden.ts';

/** One set of arguments for each text; a new code without one does not compile. */
const examples: { readonly [C in ProblemCode]: Parameters<ProblemTexts[C]> } = {
  'too-large': [10_485_760, 1_048_576],
  'not-utf8': [],
  unreadable: ['EACCES'],
  'not-a-file': ['folder'],
  'too-deep': [32],
  'too-many-problems': [7],
  empty: [],
  comment: [],
  'trailing-comma': [],
  'missing-comma': [],
  syntax: ['a value comes here'],
  'duplicate-key': ['title'],
  'bad-text': ['a control character'],
  'unknown-key': ['titel', 'title'],
  'key-case': ['Title', 'title'],
  'reserved-key': ['__proto__'],
  'missing-key': ['title'],
  'wrong-type': ['a whole number', 'text in double quotes'],
  'not-one-of': ['pyton', ['js', 'python', 'node'], 'python'],
  'bad-version': [1],
  'out-of-range': ['0', '1 to 86400'],
  'too-long': [201, 200],
  'too-many-entries': [101, 100],
  'too-short': [],
  'bad-id': ['My Card'],
  'bad-wire': ['load'],
  'bad-variable': ['db-password'],
  'bad-service': ['The Lab'],
  'does-not-fit': ['Invalid input'],
  'bad-card-folder': ['Load Data'],
  'not-in-project': [],
  'entry-is-list': ['python'],
  'entry-is-text': [],
  'outside-folder': ['../main.py'],
  'missing-entry': ['mian.py', 'main.py'],
  'entry-not-file': ['main', 'folder'],
  'unwired-input': ['rows'],
  'unknown-view-output': ['chrat', 'chart'],
  'range-reversed': [],
  'default-outside-range': ['5', '1 to 3'],
  'default-not-a-choice': ['rad', 'red'],
  'listed-twice': ['api.example.org'],
  'same-name': ['data'],
  'bad-host': ['https://example.org'],
  'bad-port': ['example.org:0'],
  'any-host': ['*'],
  'broad-host': ['*.co.uk', 'co.uk'],
  'host-range': ['10.0.0.0/8'],
  'bad-host-folder': ['data'],
  'broad-host-folder': ['~'],
  'vault-use': [],
  'vault-host': ['*.example.org'],
  'vault-host-closed': ['api.example.org'],
  'vault-header': ['host'],
  'reserved-variable': ['LD_PRELOAD'],
  'bad-pattern': ['cards/**'],
  'missing-folder': ['cards'],
  'no-manifest': ['cards/empty'],
  'folder-is-link': ['cards/link'],
  'folder-unreadable': ['cards', 'EACCES'],
  'duplicate-card': ['load', 'more/load'],
  'too-much-text': [33_554_432],
  'too-many-cards': [10_000],
  'missing-source': ['tools.nix'],
  'bad-page': ['../index.html'],
  'bad-module': ['index.ts'],
  'bad-app-version': ['1.2'],
  'bad-function-name': ['find-notes'],
  'missing-file': ['indx.html', 'index.html'],
  'missing-plugin': ['serach', 'search'],
  'plugin-folder': ['search', 'find'],
  'unlisted-plugin': ['search'],
  'unknown-card': ['laod', 'load'],
  'unknown-port': ['load', 'wheather', 'weather'],
  'wire-types': ['load/weather', 'table', 'show/chart', 'plotly'],
  cycle: ['a → b → a'],
  'unknown-source': ['tols', 'tools'],
};

describe('the texts about manifests', () => {
  const rendered = (Object.keys(problemTexts) as ProblemCode[]).map((code) => {
    const sentence = problemTexts[code] as (...values: readonly unknown[]) => string;
    return { code, text: sentence(...examples[code]) };
  });

  it('read as they were read before', () => {
    const lenses = [
      lensTitles.runCard(),
      lensTitles.state('done', true, 12),
      lensTitles.state('failed', false, 12_345),
      lensTitles.permissions(['a', 'b', 'c', 'd'], 2),
      lensTitles.permissions(['a'], 0),
      lensTitles.closed(),
      lensTitles.asks(['a', 'b', 'c', 'd']),
      fixTitles.replace('x'),
      fixTitles.createFile('main.py'),
    ];
    const lines = [...rendered.map(({ code, text }) => `${code}: ${text}`), ...lenses];
    assertGolden(join(import.meta.dirname, 'goldens/messages.txt'), `${lines.join('\n')}\n`);
  });

  for (const { code, text } of rendered) {
    it(`says in whole sentences what ${code} is`, () => {
      assert.match(text, /^[A-Z0-9“].*[.?]$/su);
      assert.doesNotMatch(text, / {2}|undefined|null\b(?!;)/);
    });
  }

  it('shows values of a file so that none can pose as our words', () => {
    assert.equal(shown('a\u202eb\u0000c\u200b\ud800'), '“a\\u{202e}b\\u{0}c\\u{200b}\\u{d800}”');
    assert.equal(shown('x'.repeat(500)).length, 83);
    assert.equal(
      plain('[x](command:evil) <b> `c` **d** | $(icon)'),
      '\\[x\\]\\(command:evil\\) \\<b\\> \\`c\\` \\*\\*d\\*\\* \\| \\$\\(icon\\)',
    );
  });
});
