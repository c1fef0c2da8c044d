import type { Requirement } from '../requirements.ts';

/** What is promised of carrying files into and out of a job. */
export const filesRequirements: readonly Requirement[] = [
  {
    id: 'FILES-01',
    text: 'A stored result appears whole or not at all, whoever else stores it and whenever the disk fills up.',
    source: 'docs/architecture.md, State',
  },
  {
    id: 'FILES-02',
    text: 'A stored result that was cut short or altered is noticed when it is used.',
    source: 'docs/architecture.md, State',
  },
  {
    id: 'FILES-03',
    text: 'Nothing outside a folder is read while it is stored, even when its entries are exchanged for links meanwhile.',
    source: 'SECURITY.md, What is defended',
  },
  {
    id: 'FILES-04',
    text: 'Only regular files and folders are taken; links, pipes, sockets, devices and bad names are refused by name.',
    source: 'SECURITY.md, What is defended',
  },
  {
    id: 'FILES-05',
    text: 'A stored folder can name no file outside the place it is written to.',
    source: 'SECURITY.md, What is defended',
  },
  {
    id: 'FILES-06',
    text: 'A card gets copies: changing them changes no stored result.',
    source: 'docs/architecture.md, The life of one run',
  },
  {
    id: 'FILES-07',
    text: 'Each declared output is taken whole, within the size limit, or named as a problem; nothing else is taken.',
    source: 'docs/formats.md, What a card sees',
  },
];
