import type { Requirement } from '../requirements.ts';

const agent = 'docs/agent.md';
const approvals = 'docs/floor.md, Approvals';

/** What is promised of the agent to a person in front of VS Code. */
export const agentInWindowRequirements: readonly Requirement[] = [
  { id: 'AGENT-01', text: 'A model is connected in native steps; its key is typed unseen.', source: agent },
  {
    id: 'AGENT-02',
    text: 'The agent reads, saves a card and runs it sealed, each within what a person allowed, and the result shows.',
    source: agent,
  },
  {
    id: 'AGENT-03',
    text: 'A permission that a card would get is shown first, in Sallyport’s words; a decline changes nothing and is told to the model.',
    source: approvals,
  },
  {
    id: 'AGENT-04',
    text: 'Each change of a protected file asks anew, and an allowed one happens once.',
    source: approvals,
  },
  { id: 'AGENT-05', text: 'No answer in time is a no.', source: approvals },
  {
    id: 'AGENT-06',
    text: 'Every change shows as a diff; a file and a turn are undone and redone, and the conversation says so.',
    source: agent,
  },
  {
    id: 'AGENT-07',
    text: 'A window that is loaded again in the middle of an answer loses nothing and does nothing twice.',
    source: agent,
  },
  {
    id: 'AGENT-08',
    text: 'A key that is gone has words and a way to enter it again.',
    source: 'SECURITY.md',
  },
  {
    id: 'AGENT-09',
    text: 'After the engine was killed in the middle of a save, its row says what is known, and all of it can be undone.',
    source: agent,
  },
  { id: 'AGENT-10', text: 'Asking, reviewing and allowing need the keyboard alone.', source: approvals },
  { id: 'AGENT-11', text: 'A conversation of 10,000 messages opens at its end.', source: agent },
  {
    id: 'AGENT-12',
    text: 'The workbench is clean under axe in light, dark and high contrast, also when it is narrow.',
    source: agent,
  },
  {
    id: 'AGENT-13',
    text: 'After a whole session a key is nowhere but in its header and in VS Code’s store of secrets.',
    source: 'SECURITY.md',
  },
];
