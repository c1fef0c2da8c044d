import type { Requirement } from '../requirements.ts';

const apps = 'docs/apps.md';

/** What is promised of apps to a person in front of VS Code. */
export const appsInWindowRequirements: readonly Requirement[] = [
  {
    id: 'APPUI-01',
    text: 'Before a first install every plugin, permission, host and package is shown, local addresses pointed out.',
    source: apps,
  },
  {
    id: 'APPUI-02',
    text: 'Of an update only the difference is shown, and what stays is folded.',
    source: apps,
  },
  {
    id: 'APPUI-03',
    text: 'No line of a review but its last ones answers, and what does not fit in the list has to be read first.',
    source: apps,
  },
  {
    id: 'APPUI-04',
    text: 'The whole review is a read-only document in which no text of an app can look like Sallyport’s.',
    source: apps,
  },
  {
    id: 'APPUI-05',
    text: 'What was reviewed is installed, bound to its digest; anything else keeps nothing.',
    source: apps,
  },
  {
    id: 'APPUI-06',
    text: 'A wider update waits for a review while the installed version goes on working.',
    source: apps,
  },
  {
    id: 'APPUI-07',
    text: 'The Apps view shows apps, plugins, what they may do, disk, errors and waiting updates.',
    source: apps,
  },
  {
    id: 'APPUI-08',
    text: 'An app is installed from a git address, a folder, an archive, a backup, or by dropping one.',
    source: apps,
  },
  { id: 'APPUI-09', text: 'One plugin is switched off, on, or removed.', source: apps },
  {
    id: 'APPUI-10',
    text: 'An app is deleted with its data, sizes shown, and brought back within 30 days.',
    source: apps,
  },
  {
    id: 'APPUI-11',
    text: 'A backup is written to a new file, and imported on another machine after a review.',
    source: apps,
  },
  {
    id: 'APPUI-12',
    text: 'An app opens as a tab, stores, asks its plugin, and gets a model’s answer without its key.',
    source: apps,
  },
  {
    id: 'APPUI-13',
    text: 'Apps follow light, dark and high-contrast themes while they are open, and the shell is clean under axe.',
    source: apps,
  },
  {
    id: 'APPUI-14',
    text: 'Reviewing, installing and opening an app need the keyboard alone.',
    source: apps,
  },
  {
    id: 'APPUI-15',
    text: 'An app shows a model’s answer while it comes, and stopping it ends the request at the provider.',
    source: 'docs/app-authors.md',
  },
];
