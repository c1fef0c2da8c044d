import type { Requirement } from '../requirements.ts';

/** What is promised of the runner and of the sandbox that it starts. */
export const runnerRequirements: readonly Requirement[] = [
  {
    id: 'JOB-01',
    text: 'A card has namespaces, an environment, a file system and a process table of its own, no capability, and only the named descriptors.',
    source: 'remote-agent/README.md, What holds it',
  },
  {
    id: 'JOB-02',
    text: 'System calls that lead out of a sandbox or into the kernel fail, and so does every socket that its network does not need.',
    source: 'remote-agent/README.md, What holds it',
  },
  {
    id: 'JOB-03',
    text: 'Where the isolation is missing or fails its probe, every job is refused with the reason and the remedy.',
    source: 'docs/floor.md, rule 3',
  },
  {
    id: 'JOB-04',
    text: 'Exit status, signal, time-out, limit, cancellation, refusal and an end that nobody saw are told apart.',
    source: 'docs/floor.md, Time, words, results',
  },
  {
    id: 'JOB-05',
    text: 'A job has ended only when nothing of it is left running, however it tried to stay.',
    source: 'remote-agent/README.md, What holds it',
  },
  {
    id: 'JOB-06',
    text: 'Time, memory, processes, outputs and log of a card are bounded, and the limit that was reached is named.',
    source: 'remote-agent/README.md, Limits',
  },
  {
    id: 'JOB-07',
    text: 'A runner that is killed leaves no process of a card, and the next sweep removes its folders.',
    source: 'remote-agent/README.md, How it ends',
  },
  {
    id: 'JOB-12',
    text: 'A sandbox that was half made when its runner was killed is ended by the next sweep, and nothing else is.',
    source: 'remote-agent/README.md, How it ends',
  },
  {
    id: 'JOB-08',
    text: 'Standby sandboxes hold nothing of a card, serve only cards that ask for nothing, are at most eight, and go after ten idle minutes.',
    source: 'remote-agent/README.md, What holds it',
  },
  {
    id: 'JOB-09',
    text: 'A card of a root runner is never root, not even without capabilities.',
    source: 'remote-agent/README.md, What holds it',
  },
  {
    id: 'JOB-10',
    text: 'A log of any bytes and any length of line arrives in order, in bounded pieces, and says how much was left out.',
    source: 'remote-agent/README.md, Limits',
  },
  {
    id: 'JOB-11',
    text: 'Only the folders that were granted are shown, as they were granted, and never those that Sallyport keeps for itself.',
    source: 'docs/formats.md, Permissions',
  },
];
