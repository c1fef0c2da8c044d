import type { Requirement } from '../requirements.ts';

const source = 'docs/places.md, In VS Code';
const everywhere = 'docs/places.md, What holds everywhere';

/** What a person sees and does about places. */
export const placeWindowRequirements: readonly Requirement[] = [
  {
    id: 'PLACEUI-01',
    text: 'Each place is shown with its state as a word and a shape, what runs there, isolation, interpreters, disk and latency.',
    source,
  },
  {
    id: 'PLACEUI-02',
    text: 'Choosing where a card runs changes one line of its manifest in an editor, where it is seen and undone.',
    source,
  },
  {
    id: 'PLACEUI-03',
    text: 'What a place holds is listed, and ended only after a person chose and confirmed.',
    source,
  },
  {
    id: 'PLACEUI-04',
    text: 'Building the VM image shows progress, can be stopped, and ends with its packages, sizes and licences.',
    source,
  },
  {
    id: 'PLACEUI-05',
    text: 'An invitation of a worker is typed into a box that hides it; a worker is forgotten after a question.',
    source,
  },
  {
    id: 'PLACEUI-06',
    text: 'Doctor checks each place that a person accepted, and no other, and says what to do about one that can’t be used.',
    source,
  },
  {
    id: 'PLACEUI-07',
    text: 'The same cards run in every place with equal results by digest, under one history that says where each ran.',
    source: everywhere,
  },
  {
    id: 'PLACEUI-08',
    text: 'Running a card elsewhere is asked once, and a host is asked about at its first use, with its fingerprint.',
    source,
  },
];
