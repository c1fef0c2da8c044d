import type { Requirement } from '../requirements.ts';

const life = 'docs/architecture.md, The life of one run';
const state = 'docs/architecture.md, State';

/** What is promised of runs, their history, permissions and the command line. */
export const runsRequirements: readonly Requirement[] = [
  {
    id: 'FLOW-01',
    text: 'Cards run after their sources, and nothing of an unchanged project runs again.',
    source: life,
  },
  { id: 'FLOW-02', text: 'An edit during a run changes nothing of that run.', source: life },
  {
    id: 'FLOW-03',
    text: 'What is downstream of a card that did not end well is skipped, and it is said because of which.',
    source: life,
  },
  {
    id: 'FLOW-04',
    text: 'A card that asks for more than was accepted is blocked, and only it and what needs it.',
    source: life,
  },
  { id: 'FLOW-05', text: 'Permissions are looked at again just before each job.', source: life },
  { id: 'FLOW-06', text: 'In an untrusted workspace nothing runs.', source: 'docs/floor.md, rule 1' },
  {
    id: 'FLOW-07',
    text: 'Without isolation only js cards run; every other is refused with the remedy.',
    source: 'docs/floor.md, rule 3',
  },
  { id: 'FLOW-08', text: 'Cancelling ends what runs, starts nothing more, and is no failure.', source: life },
  {
    id: 'FLOW-09',
    text: 'A card whose end was not observed is unknown, never done or failed.',
    source: life,
  },
  { id: 'FLOW-10', text: 'A stored result is used only while all of it is there.', source: life },
  {
    id: 'FLOW-11',
    text: 'Why a card ran again is said by name: the file, the parameter, the port.',
    source: life,
  },
  { id: 'FLOW-12', text: 'A change that cannot change a result runs nothing again.', source: life },
  { id: 'FLOW-13', text: 'A dry run says what would run, and runs and records nothing.', source: life },
  { id: 'FLOW-14', text: 'A chosen card runs with what it needs and nothing else.', source: life },
  {
    id: 'FLOW-15',
    text: 'A card that sees files outside its inputs never comes from the cache.',
    source: life,
  },
  {
    id: 'FLOW-16',
    text: 'Every card of a run ends exactly once, whatever fails in whatever order.',
    source: life,
  },
  {
    id: 'FLOW-17',
    text: 'Exit, signal, time-out, limit, cut, refusal and unknown are told apart; only exit code 0 with every output is a success.',
    source: 'docs/architecture.md, The life of one run',
  },
  {
    id: 'FLOW-18',
    text: 'Every change of a card’s code is noticed before the next run, whatever its times say.',
    source: 'docs/architecture.md, The life of one run',
  },
  {
    id: 'FLOW-19',
    text: 'A file that no output names is not taken, is named in the log, and does not make the card fail.',
    source: 'docs/cards.md, A first card',
  },
  {
    id: 'PRM-10',
    text: 'Exactly what was accepted is opened; what cannot be given is a refusal.',
    source: 'docs/floor.md, rule 1',
  },
  {
    id: 'LOG-01',
    text: 'Every character that a card writes is kept, each stream in its order.',
    source: state,
  },
  {
    id: 'LOG-02',
    text: 'An endless line is shown cut, with what was cut said; the stored log keeps all of it.',
    source: state,
  },
  { id: 'LOG-03', text: 'A window of a log of a million lines is read without the rest.', source: state },
  { id: 'STO-01', text: 'Everything that is remembered is readable by the person alone.', source: state },
  {
    id: 'STO-02',
    text: 'A damaged database is kept under another name, and a fresh one is begun; results stay.',
    source: state,
  },
  {
    id: 'STO-03',
    text: 'A database that cannot be written is an error that names the file and the remedy; nothing is half-written.',
    source: state,
  },
  { id: 'STO-04', text: 'A database of a newer version is refused and left alone.', source: state },
  {
    id: 'STO-05',
    text: 'An engine that is gone is told from one that lives, whatever the clock and the process numbers say.',
    source: state,
  },
  {
    id: 'STO-06',
    text: 'A paging cursor that this engine did not make for this list is refused.',
    source: state,
  },
  { id: 'CLN-01', text: 'Clean-up shows sizes first and removes only what no run needs.', source: state },
  { id: 'CLN-02', text: 'Forgetting old runs frees what only they needed.', source: state },
  { id: 'CLN-03', text: 'Nothing is removed while a run goes on, in whatever window.', source: state },
  {
    id: 'CLN-04',
    text: 'The store stays within its limit; the latest run of a project keeps its results.',
    source: state,
  },
  {
    id: 'CLN-05',
    text: 'A clean-up that is killed half-way leaves no folder result without its files.',
    source: state,
  },
  {
    id: 'CRA-01',
    text: 'An engine killed at any step loses no finished card and leaves none running.',
    source: life,
  },
  {
    id: 'CRA-02',
    text: 'A runner that is killed leaves its card unknown, and another takes the rest.',
    source: life,
  },
  { id: 'CRA-03', text: 'Two engines may run the same project at once.', source: state },
  { id: 'CRA-04', text: 'A clock that jumps changes neither order nor durations.', source: life },
  {
    id: 'LOC-01',
    text: 'The runner starts when a sealed card first needs it.',
    source: 'docs/architecture.md, Start and idle',
  },
  { id: 'LOC-02', text: 'A cancelled job is over only when nothing of it is left.', source: life },
  { id: 'LOC-03', text: 'A runner that died is replaced for the next job.', source: life },
  {
    id: 'LOC-04',
    text: 'A runner that cannot be started or trusted is a refusal, never a card without isolation.',
    source: 'docs/floor.md, rule 3',
  },
  {
    id: 'LOC-05',
    text: 'The runner gets a short list of the person’s variables and no secret.',
    source: 'docs/floor.md, rule 1',
  },
  {
    id: 'PRM-01',
    text: 'Everything that a card asks for beyond the default is listed in words, and not accepted at first.',
    source: 'docs/formats.md, Permissions',
  },
  { id: 'PRM-02', text: 'Exactly what was named is accepted.', source: 'docs/floor.md, rule 7' },
  {
    id: 'PRM-03',
    text: 'An answer to anything but what is there now is refused as a whole.',
    source: 'docs/floor.md, rule 7',
  },
  {
    id: 'PRM-04',
    text: 'A later widening blocks just that card, and what is new is marked.',
    source: 'docs/floor.md, rule 7',
  },
  { id: 'PRM-05', text: 'Nothing is accepted for a copied or exchanged folder.', source: state },
  {
    id: 'PRM-06',
    text: 'Nothing can be accepted where a folder cannot be told from its copy.',
    source: state,
  },
  {
    id: 'PRM-07',
    text: 'Nothing can be accepted in an untrusted workspace.',
    source: 'docs/floor.md, rule 9',
  },
  {
    id: 'PRM-08',
    text: 'A permission can be taken back, with every wider one that would cover it.',
    source: 'docs/formats.md, Permissions',
  },
  {
    id: 'PRM-09',
    text: 'An acceptance that cannot be read counts as none.',
    source: 'docs/floor.md, rule 1',
  },
  {
    id: 'FLOOR-07',
    text: 'What was reviewed is what runs; changed content asks again.',
    source: 'docs/floor.md, rule 7',
  },
  {
    id: 'CLI-01',
    text: 'run --json ends with exactly one object on standard output; everything else is on standard error.',
    source: 'README.md, Command line',
  },
  {
    id: 'CLI-02',
    text: 'The exit code tells done, failed, bad project, permission needed, isolation missing and cancelled apart.',
    source: 'README.md, Command line',
  },
  {
    id: 'CLI-03',
    text: 'Permissions are accepted by a person at a terminal alone: by no option, variable or pipe.',
    source: 'docs/floor.md, rule 9',
  },
  {
    id: 'CLI-04',
    text: 'Nothing from a card or a manifest moves the cursor or hides text on a terminal.',
    source: 'README.md, Command line',
  },
  {
    id: 'CLI-05',
    text: 'Ctrl-C cancels, and the command ends when the cards have.',
    source: 'README.md, Command line',
  },
];
