import type { Requirement } from '../requirements.ts';

const source = 'docs/floor.md, Approvals';

/** What is promised of the gate, the one function in front of every effect. */
export const gateRequirements: readonly Requirement[] = [
  { id: 'GATE-01', text: 'One path has one answer, however it is spelled.', source },
  {
    id: 'GATE-02',
    text: 'A path is judged where it really leads, links of parent folders included.',
    source,
  },
  { id: 'GATE-03', text: 'Spellings that mean different things in different places are refused.', source },
  {
    id: 'GATE-04',
    text: 'Protected files are known by their real name, in any casing, anywhere; what can’t be judged is protected.',
    source,
  },
  {
    id: 'GATE-05',
    text: 'Each kind of act is decided by one row of a table; where none holds or one throws, the answer is no.',
    source: 'docs/floor.md',
  },
  {
    id: 'GATE-06',
    text: 'A grant never covers widening, protected files, the outside, history or another conversation.',
    source,
  },
  { id: 'GATE-07', text: 'Every decision names the rule that made it.', source },
  {
    id: 'GATE-08',
    text: 'Nothing is done before a person has answered; a repeated id replays its receipt.',
    source,
  },
  { id: 'GATE-09', text: 'An answer is for exactly what was shown, and is used once.', source },
  {
    id: 'GATE-10',
    text: 'Anything that changed since it was shown, and any error in a check, means no.',
    source,
  },
  { id: 'GATE-11', text: 'No answer in time is a no.', source },
  { id: 'GATE-12', text: 'A crash after the beginning leaves unknown, never a second try.', source },
  { id: 'GATE-13', text: 'Foreign text is shown whole, escaped and flagged.', source },
  {
    id: 'GATE-14',
    text: 'A grant is given by a person, listed and revocable; trying out does nothing.',
    source,
  },
  {
    id: 'GATE-15',
    text: 'Whatever the order of calls, answers and changes: at most one effect for each id, none without a yes.',
    source,
  },
  {
    id: 'GATE-16',
    text: 'An app’s own storage passes the same table, for that app alone, and each use is counted in the app’s log.',
    source: 'docs/apps.md, What is checked',
  },
];
