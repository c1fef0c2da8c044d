import type { Requirement } from '../requirements.ts';

const boundary = 'sandbox-worker/README.md';

/** What is promised of `js` cards and their sandbox. */
export const quickjsRequirements: readonly Requirement[] = [
  {
    id: 'QJS-01',
    text: 'Every hostile js card ends in a typed error or harmlessly, within its limits.',
    source: boundary,
  },
  { id: 'QJS-02', text: 'A card that misbehaves disturbs no card beside it.', source: boundary },
  {
    id: 'QJS-03',
    text: 'The memory of a card is bounded by the maximum of its own WebAssembly memory.',
    source: boundary,
  },
  {
    id: 'QJS-04',
    text: "Time is bounded by two clocks; what no interrupt reaches ends by the host's.",
    source: boundary,
  },
  {
    id: 'QJS-05',
    text: 'Deep recursion and deep parsing end as errors of the card, not of the host.',
    source: boundary,
  },
  {
    id: 'QJS-06',
    text: 'A card imports files of its own folder by relative path, and nothing else.',
    source: boundary,
  },
  {
    id: 'QJS-07',
    text: 'Outputs and log are bounded; nothing a card returns is looked into by the host.',
    source: boundary,
  },
  {
    id: 'QJS-08',
    text: 'One instance serves one card: another card never sees what it left.',
    source: boundary,
  },
  {
    id: 'QJS-09',
    text: 'Inputs, params and outputs go in and out by the types of their ports.',
    source: boundary,
  },
  {
    id: 'QJS-10',
    text: 'Cancelling ends the thread before the job settles, and nothing is told after that.',
    source: boundary,
  },
  {
    id: 'QJS-11',
    text: 'Threads stand by only after a card has run, at most a few, and are gone after an idle time.',
    source: boundary,
  },
  {
    id: 'QJS-12',
    text: 'A js card that asks for more than its inputs is refused with the remedy.',
    source: boundary,
  },
];
