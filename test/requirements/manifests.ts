import type { Requirement } from '../requirements.ts';

/** What is promised of manifests, the project model and the language features. */
export const manifestsRequirements: readonly Requirement[] = [
  {
    id: 'MAN-01',
    text: 'Every mistake in a manifest is named at its place, with the value and the remedy, without the file being open.',
    source: 'docs/formats.md',
  },
  {
    id: 'MAN-02',
    text: 'A change of a file or of an editor’s text is seen at once, and nothing that did not change is read again.',
    source: 'docs/architecture.md, Start and idle',
  },
  {
    id: 'MAN-03',
    text: 'A quick fix mends the problem that it belongs to and leaves JSON.',
    source: 'docs/formats.md',
  },
  {
    id: 'MAN-04',
    text: 'Completion proposes the keys that are missing, the values that are allowed and the outputs that fit a wire.',
    source: 'docs/formats.md',
  },
  {
    id: 'MAN-05',
    text: 'A lens above a card runs it, tells how its last run ended and what it asks for beyond the default.',
    source: 'docs/formats.md, Permissions',
  },
  {
    id: 'MAN-06',
    text: 'A host list that takes in strangers’ hosts, ranges of addresses or odd spellings of one is refused.',
    source: 'docs/formats.md, Permissions',
  },
  {
    id: 'MAN-07',
    text: 'What the schema refuses never runs, and the person is told why in words of the format.',
    source: 'docs/formats.md',
  },
  {
    id: 'MAN-08',
    text: 'The scope of a project belongs to that one folder: a copy has another, and without a birth time there is none.',
    source: 'docs/architecture.md, State',
  },
  {
    id: 'MAN-09',
    text: 'Reading manifests follows no link, waits on no pipe and reads no more than the limit.',
    source: 'SECURITY.md, What is defended',
  },
  {
    id: 'MAN-10',
    text: 'Hovering a permission shows the sentence that a person will be asked; text of a file is never markup.',
    source: 'docs/formats.md, Permissions',
  },
  {
    id: 'MAN-11',
    text: 'Renaming an output changes every wire and view that names it.',
    source: 'docs/formats.md',
  },
  {
    id: 'MAN-15',
    text: 'A project of more than 10,000 cards is refused with words.',
    source: 'docs/formats.md',
  },
  {
    id: 'MAN-13',
    text: 'Formatting a manifest changes white space alone, a broken manifest as well.',
    source: 'docs/formats.md',
  },
  {
    id: 'MAN-14',
    text: 'A manifest has a language of its own: each problem is reported once, and colours and brackets are those of JSON.',
    source: 'docs/formats.md',
  },
  {
    id: 'MAN-18',
    text: 'What would keep an app from being installed is named while its manifests are written, and mended where that is plain.',
    source: 'docs/app-authors.md',
  },
  {
    id: 'MAN-16',
    text: 'Completion, hover and the line above the permissions of app.json and plugin.json come from the format itself.',
    source: 'docs/app-authors.md',
  },
  {
    id: 'MAN-17',
    text: 'An app.json or plugin.json of another program is left alone.',
    source: 'docs/app-authors.md',
  },
];
