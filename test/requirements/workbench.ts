import type { Requirement } from '../requirements.ts';

export const workbenchRequirements: readonly Requirement[] = [
  {
    id: 'WB-01',
    text: 'Nothing that a model wrote makes the workbench ask the network for anything: no picture, style, font, link, look-ahead or name.',
    source: 'webviews/README.md#the-workbench',
  },
  {
    id: 'WB-02',
    text: 'Nothing that a model wrote becomes code, a form, a frame or a command; a web link does nothing until a person has seen its address in native UI.',
    source: 'webviews/README.md#the-workbench',
  },
  {
    id: 'WB-03',
    text: 'Titles, paths, details and code show what is invisible or turns the reading direction escaped.',
    source: 'webviews/README.md#the-workbench',
  },
  {
    id: 'WB-04',
    text: 'A conversation of any length keeps a bounded number of rows in the page, keeps the place that is read, and follows its end until a person scrolls up.',
    source: 'webviews/README.md#the-workbench',
  },
  {
    id: 'WB-05',
    text: 'The workbench works with the keyboard and a screen reader alone, and is clean under axe in light, dark and high contrast.',
    source: 'webviews/README.md#the-workbench',
  },
  {
    id: 'WB-06',
    text: 'A page that stops is noticed and opened anew while it is shown, nothing that was typed is lost, and no page is thrown away because this process was busy.',
    source: 'webviews/README.md#the-workbench',
  },
  {
    id: 'WB-07',
    text: 'A page names rows only: the paths, runs and commands of an act are the engine’s own.',
    source: 'webviews/README.md#the-workbench',
  },
  {
    id: 'WB-08',
    text: 'A workbench whose renderer ended comes back by itself with a word, the conversation and what was typed.',
    source: 'webviews/README.md#the-workbench',
  },
];
