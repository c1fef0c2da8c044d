import type { Requirement } from '../requirements.ts';

export const appFramesRequirements: readonly Requirement[] = [
  {
    id: 'FRAME-01',
    text: 'An app’s page has no network: no request, navigation, form or peer connection leaves its frame, which has proved itself closed before it gets the page.',
    source: 'webviews/README.md#the-frame-of-an-app',
  },
  {
    id: 'FRAME-02',
    text: 'Nothing of an app reaches the shell, another app, the extension or the workbench but through the bridge: no storage, no forged messages, no markup, no links.',
    source: 'webviews/README.md#the-frame-of-an-app',
  },
  {
    id: 'FRAME-03',
    text: 'An app that hangs, crashes, floods or leaves never takes the bar above it along: it can be stopped and started again, and words say what happened.',
    source: 'webviews/README.md#the-frame-of-an-app',
  },
  {
    id: 'FRAME-04',
    text: 'Keys pressed in an app stay there, F6 leaves it, and the theme with its fonts, contrast and motion is passed on and follows changes.',
    source: 'docs/app-authors.md#looks-and-keyboard',
  },
  {
    id: 'FRAME-05',
    text: 'What an app asks for is checked twice, from two separately written tables, and without either of them the other refuses.',
    source: 'webviews/README.md#the-bridge',
  },
  {
    id: 'FRAME-06',
    text: 'A link or a file of an app is opened or saved only by a person, who sees all of it, one question at a time.',
    source: 'docs/app-authors.md#what-an-app-may-ask-for',
  },
  {
    id: 'FRAME-07',
    text: 'Each app has a view type of its own, keeps it, and comes back in its tab after a restart.',
    source: 'webviews/README.md#the-frame-of-an-app',
  },
];
