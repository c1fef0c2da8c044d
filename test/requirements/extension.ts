import type { Requirement } from '../requirements.ts';

const start = 'docs/architecture.md, Start and idle';
const boundary = 'docs/architecture.md, What each one is for';

/** What is promised of the extension in VS Code. */
export const extensionRequirements: readonly Requirement[] = [
  {
    id: 'START-01',
    text: 'Without a project the extension is not active until a person asks for it.',
    source: start,
  },
  { id: 'START-02', text: 'The engine starts only when something needs it.', source: start },
  { id: 'START-03', text: 'An open project shows its cards and what each may reach.', source: start },
  { id: 'START-04', text: 'A manifest that is opened on its own is checked.', source: start },
  {
    id: 'ASK-01',
    text: 'A project that asks for permissions is announced once for each change.',
    source: 'docs/floor.md, Approvals',
  },
  {
    id: 'ASK-02',
    text: 'A card with a permission that is not accepted stays blocked until a person accepts it in VS Code’s own list.',
    source: 'docs/floor.md, Approvals',
  },
  {
    id: 'ASK-03',
    text: 'A revoked permission blocks its card again.',
    source: 'docs/floor.md, Approvals',
  },
  {
    id: 'RUNUI-01',
    text: 'A card runs from its line in the side bar; state, time and history follow.',
    source: 'README.md',
  },
  { id: 'RUNUI-02', text: 'Why a card ran is said in words.', source: 'README.md' },
  { id: 'RUNUI-03', text: 'A run can be cancelled; with none under way that is said.', source: 'README.md' },
  {
    id: 'DIAG-01',
    text: 'An error in a manifest is marked with a fix where there is one.',
    source: 'docs/formats.md',
  },
  {
    id: 'LIFE-01',
    text: 'An engine that dies is started again and what is shown stays right.',
    source: boundary,
  },
  { id: 'LIFE-02', text: 'A run whose engine died is said to be unknown, never done.', source: boundary },
  {
    id: 'LIFE-03',
    text: 'An engine that keeps dying is left dead, with words and a way to start it.',
    source: boundary,
  },
  { id: 'LIFE-04', text: 'Cards and history survive a reload of the window.', source: boundary },
  { id: 'KEYS-01', text: 'The main job works with the keyboard alone.', source: 'README.md' },
  {
    id: 'CARE-01',
    text: 'Doctor says what this machine can seal and what to mend.',
    source: 'docs/troubleshooting.md',
  },
  {
    id: 'CARE-02',
    text: 'Cleaning up shows sizes first and removes nothing without a yes.',
    source: 'README.md',
  },
  { id: 'NEW-01', text: 'A new project overwrites nothing.', source: 'README.md' },
  { id: 'MAIN-01', text: 'The sample project runs sealed from the side bar.', source: 'README.md' },
  { id: 'MAIN-02', text: 'What did not change comes from the cache.', source: 'README.md' },
  { id: 'MAIN-03', text: 'A chart of a result is drawn in the run view.', source: 'README.md' },
  { id: 'A11Y-01', text: 'axe-core finds nothing in a webview.', source: 'webviews/README.md' },
  {
    id: 'A11Y-02',
    text: 'Webviews can be read in light, dark and high-contrast themes.',
    source: 'webviews/README.md',
  },
  {
    id: 'TRUST-01',
    text: 'In Restricted Mode cards are shown and nothing runs, with words.',
    source: 'SECURITY.md',
  },
  { id: 'TRUST-02', text: 'In Restricted Mode nothing is asked.', source: 'SECURITY.md' },
  { id: 'TRUST-03', text: 'In Restricted Mode manifests are still checked.', source: 'SECURITY.md' },
  {
    id: 'PACK-01',
    text: 'The package holds the listed files alone, no source map, and at most 5 MB.',
    source: 'CONTRIBUTING.md',
  },
  { id: 'PACK-02', text: 'The package, installed in a fresh VS Code, runs a card.', source: 'README.md' },
  { id: 'PACK-03', text: 'The package, installed, cancels a sealed process.', source: 'README.md' },
  {
    id: 'PACK-04',
    text: 'The package names each package that its bundles carry, with its licence.',
    source: 'DEPENDENCIES.md',
  },
];
