import type { Requirement } from '../requirements.ts';

/** What is promised of a card that means harm. */
export const hostileCardsRequirements: readonly Requirement[] = [
  {
    id: 'HOSTILE-01',
    text: 'An attack by a card fails, and the result says how the card ended.',
    source: 'SECURITY.md, What is defended',
  },
  {
    id: 'HOSTILE-02',
    text: 'A hostile card leaves no stored result changed, no message that is taken for another, and nothing in the scratch folder.',
    source: 'SECURITY.md, What is defended',
  },
  {
    id: 'HOSTILE-03',
    text: 'A runner that is killed outright leaves no card running, and the next one clears up after it.',
    source: 'SECURITY.md, What is defended',
  },
];
