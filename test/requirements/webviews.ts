import type { Requirement } from '../requirements.ts';

export const webviewsRequirements: readonly Requirement[] = [
  {
    id: 'VIEW-01',
    text: 'What a card drew or wrote is shown in an opaque frame that has proved itself closed before it gets anything: no origin, no network, no navigation, no WebRTC.',
    source: 'webviews/README.md#the-sealed-frame',
  },
  {
    id: 'VIEW-02',
    text: 'Nothing in a frame reaches the page around it, the extension or the workbench: no storage, no keys, no forged messages, no links.',
    source: 'webviews/README.md#the-sealed-frame',
  },
  {
    id: 'VIEW-03',
    text: 'A view that hangs, floods or leaves never takes the panel with it: the panel’s own controls stay, and say what happened.',
    source: 'webviews/README.md#the-sealed-frame',
  },
  {
    id: 'VIEW-04',
    text: 'Charts are data: no expression, loader, link or image of a Vega-Lite or Plotly chart runs code or loads anything.',
    source: 'webviews/README.md#charts',
  },
  {
    id: 'VIEW-05',
    text: 'Names, messages, logs and tables of cards are shown as text; nothing of them is obeyed.',
    source: 'webviews/README.md#text',
  },
  {
    id: 'VIEW-06',
    text: 'Canvas and run view work with the keyboard alone and are clean under axe in light, dark and high contrast.',
    source: 'webviews/README.md#for-everyone',
  },
  {
    id: 'VIEW-07',
    text: 'A long log or table keeps only what is in view, and a bounded cache, in the page.',
    source: 'webviews/README.md#sizes',
  },
];
