import type { Requirement } from '../requirements.ts';

const source = 'docs/agent.md';

/** What is promised of conversations with a model. */
export const agentTurnRequirements: readonly Requirement[] = [
  {
    id: 'TURN-01',
    text: 'A message leads through calls and their results to an answer, over each of the four wire formats.',
    source,
  },
  {
    id: 'TURN-02',
    text: 'Each failure of a provider has words; it is tried again only where nothing of an answer had come.',
    source,
  },
  { id: 'TURN-03', text: 'A call that is cut off, malformed or unknown is not run.', source },
  {
    id: 'TURN-04',
    text: 'A call waits for a person where the gate says so; a decline is a typed result and changes nothing.',
    source,
  },
  { id: 'TURN-05', text: 'Plan mode offers nothing that changes or runs anything, and refuses it.', source },
  {
    id: 'TURN-06',
    text: 'An answer is stopped at any moment; its stream is closed and its calls are not run.',
    source,
  },
  {
    id: 'TURN-07',
    text: 'A message sent meanwhile waits its turn and is told after what came before.',
    source,
  },
  { id: 'TURN-08', text: 'A repeated call id does nothing twice and borrows no approval.', source },
  { id: 'TURN-09', text: 'No text of a model, a message or a stored transcript is a permission.', source },
  { id: 'TURN-10', text: 'A model hears of web search only where a person switched it on.', source },
  {
    id: 'TURN-11',
    text: 'Streaming text is told in pieces, at most thirty times a second, each once.',
    source,
  },
  { id: 'TURN-12', text: 'A long conversation is compacted into a summary that a person can read.', source },
  {
    id: 'TURN-13',
    text: 'After a crash at any step the receipts say what was done, and nothing is done twice.',
    source,
  },
  { id: 'TURN-14', text: 'Conversations are listed, searched, read in windows, forked and deleted.', source },
  {
    id: 'TURN-15',
    text: 'Rules files are sent as data, with hidden characters escaped and counted.',
    source,
  },
  {
    id: 'TURN-16',
    text: 'What a person mentions is told, bounded, and nothing outside the project with it.',
    source,
  },
];
