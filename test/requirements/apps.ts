import type { Requirement } from '../requirements.ts';

const source = 'docs/apps.md, What is checked';

/** What is promised of installing, updating and keeping apps. */
export const appInstallRequirements: readonly Requirement[] = [
  {
    id: 'APPS-01',
    text: 'Before anything of an app runs, a person sees what it is made of; text of the app is escaped.',
    source,
  },
  {
    id: 'APPS-02',
    text: 'A folder, an archive or a repository that names a path outside, a link, a device, two names for one file, or too much is refused whole.',
    source,
  },
  {
    id: 'APPS-03',
    text: 'What is installed is what was reviewed, byte for byte; anything else is a new review.',
    source,
  },
  { id: 'APPS-04', text: 'Hosts of this machine and the local network are pointed out.', source },
  {
    id: 'APPS-05',
    text: 'An update that asks for more, or comes from elsewhere, waits; the installed version goes on.',
    source,
  },
  {
    id: 'APPS-06',
    text: 'What an app may do is what a person accepted, of what its frozen manifest asks for.',
    source,
  },
  {
    id: 'APPS-07',
    text: 'Plugins are switched off, and apps deleted with their data, which can be undone.',
    source,
  },
  { id: 'APPS-08', text: 'Bad input is refused in words that name it, and leaves what was there.', source },
  {
    id: 'APPS-09',
    text: 'The command line installs only what has the digest that was given.',
    source: 'docs/apps.md, On the command line',
  },
  {
    id: 'APPS-10',
    text: 'Cut off at any moment, an installation leaves the old version or the new one.',
    source,
  },
  {
    id: 'APPS-11',
    text: 'A backup holds the app and its data, is for its owner alone, and is restored through a review.',
    source: 'docs/apps.md, Backups',
  },
  {
    id: 'APPS-12',
    text: 'Packages come from a registry by digest, are never run, and links in them are refused.',
    source,
  },
  {
    id: 'APPS-13',
    text: 'The engine checks each call of a page by a table of its own, whatever let it through.',
    source,
  },
  {
    id: 'APPS-14',
    text: 'A page is built into one document by parsers, with nothing left to fetch from the app.',
    source,
  },
  { id: 'APPS-15', text: 'An app asks models without a key or an address of theirs.', source },
  {
    id: 'APPS-16',
    text: 'Over ssh a repository comes from a host whose key is known, by a key of the agent that no server is shown, and nothing of it runs.',
    source,
  },
];
