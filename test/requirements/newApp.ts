import type { Requirement } from '../requirements.ts';

const authors = 'docs/app-authors.md';

/** What is promised to someone who starts an app. */
export const newAppRequirements: readonly Requirement[] = [
  {
    id: 'NEWAPP-01',
    text: 'New App asks for name, id, parts, language and place; each is judged as it is typed, and can be gone back to.',
    source: authors,
  },
  {
    id: 'NEWAPP-02',
    text: 'A folder that holds files is left alone, and what was answered is kept.',
    source: authors,
  },
  {
    id: 'NEWAPP-03',
    text: 'Each kind of new app is whole: it is taken in as it is, and its types are clean.',
    source: authors,
  },
  {
    id: 'NEWAPP-04',
    text: 'The types that an author gets are those of the page that runs.',
    source: authors,
  },
  {
    id: 'NEWAPP-05',
    text: 'A new app opens, is one step of VS Code’s undo, and a button leads to its review.',
    source: authors,
  },
];
