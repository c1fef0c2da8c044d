import type { Requirement } from '../requirements.ts';

/** The rules of docs/floor.md that hold between a card and the runner. */
export const floorRequirements: readonly Requirement[] = [
  {
    id: 'FLOOR-01',
    text: 'A card that asks for nothing starts with no network, no credentials, no project definitions and no files but its inputs.',
    source: 'docs/floor.md, rule 1',
  },
  {
    id: 'FLOOR-02',
    text: 'Nothing that a model writes, in arguments, files or rules, adds a permission or lowers a risk.',
    source: 'docs/floor.md, rule 2',
  },
  {
    id: 'FLOOR-03',
    text: 'Where the isolation is missing or fails its probe, every card is refused with the reason and the remedy.',
    source: 'docs/floor.md, rule 3',
  },
  {
    id: 'FLOOR-04',
    text: 'A key is in the requests that it belongs to and nowhere else: no file, row, event, log or answer, in any encoding.',
    source: 'docs/floor.md, rule 4',
  },
  {
    id: 'FLOOR-05',
    text: 'A key is sent to the origin that it was saved for and nowhere else; another address drops it, and no redirect is followed.',
    source: 'docs/floor.md, rule 5',
  },
  {
    id: 'FLOOR-09',
    text: 'No setting that a workspace can write and no listener opens a door; answers and grants come from a person.',
    source: 'docs/floor.md, rule 9',
  },
  {
    id: 'FLOOR-06',
    text: 'Every write can be undone: it is recorded first, whoever makes it, and never in the user’s own .git.',
    source: 'docs/floor.md, rule 6',
  },
  {
    id: 'FLOOR-08',
    text: 'No vault value is shown, except to a person who proved presence for exactly it, and then it is hidden again.',
    source: 'docs/floor.md, rule 8',
  },
];
