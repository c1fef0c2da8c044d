import type { Requirement } from '../requirements.ts';

const source = 'docs/floor.md, rule 6';

/** What is promised of the undo history. */
export const historyRequirements: readonly Requirement[] = [
  {
    id: 'UNDO-01',
    text: 'Every kind of change of a path can be taken back and done again, any number of times.',
    source,
  },
  { id: 'UNDO-02', text: 'What is about to be changed is kept before it is changed.', source },
  { id: 'UNDO-03', text: 'A change of several paths is made whole, or everything is as it was.', source },
  {
    id: 'UNDO-04',
    text: 'Nothing is written through a link, wherever on the way it is and whenever it is put there.',
    source,
  },
  { id: 'UNDO-05', text: 'What a crash left half recorded is completed by looking.', source },
  {
    id: 'UNDO-06',
    text: 'Whatever a program does in a folder that it may write is recorded, and only what changed is kept.',
    source,
  },
  {
    id: 'UNDO-07',
    text: 'What anybody changed since, or has open unsaved, is shown as a conflict and never overwritten.',
    source,
  },
  { id: 'UNDO-08', text: 'The history keeps to its size, shows it, and gives up the oldest first.', source },
];
