import type { Requirement } from '../requirements.ts';

const needs = 'docs/slurm.md, What it needs';
const works = 'docs/slurm.md, How it works';
const ends = 'docs/slurm.md, How a card ends';
const lost = 'docs/slurm.md, What can be lost';
const values = 'docs/slurm.md, Vault values';
const held = 'docs/slurm.md, What holds it';

/** Cards on a cluster. */
export const slurmRequirements: readonly Requirement[] = [
  {
    id: 'SLURM-01',
    text: 'A card runs in bubblewrap on a node, its log streams, and its outputs come back by content.',
    source: works,
  },
  {
    id: 'SLURM-02',
    text: 'The result file of a job decides how the card ended, not the exit code of the job, also after Slurm has forgotten it.',
    source: ends,
  },
  {
    id: 'SLURM-03',
    text: 'An end that Slurm brought about is told in words of its own: cancelled there, preempted, timed out, out of memory, node failed, refused.',
    source: ends,
  },
  {
    id: 'SLURM-04',
    text: 'Cancelling ends the card on its node; one in the queue never runs.',
    source: works,
  },
  { id: 'SLURM-05', text: 'What a card in the queue waits for is shown.', source: works },
  {
    id: 'SLURM-06',
    text: 'While the controller does not answer nothing is lost and nothing is given up.',
    source: lost,
  },
  {
    id: 'SLURM-07',
    text: 'What Slurm keeps of a job holds nothing of the card and nothing of the shell’s surroundings, and no name is read by a shell.',
    source: held,
  },
  {
    id: 'SLURM-08',
    text: 'A job whose handing over was not answered is found again by its name and runs once.',
    source: lost,
  },
  { id: 'SLURM-09', text: 'What a card can’t reach from its node is told in words.', source: held },
  { id: 'SLURM-10', text: 'Alike cards that become ready together are one request.', source: works },
  {
    id: 'SLURM-11',
    text: 'Folders of this computer are refused. Values of the vault are nowhere but with the card and in its requests.',
    source: held,
  },
  {
    id: 'SLURM-12',
    text: 'What is forgotten leaves nothing of the job in the shared folder.',
    source: works,
  },
  {
    id: 'SLURM-13',
    text: 'A job asks for what the limits of its card say, and Slurm starts none again by itself.',
    source: works,
  },
  {
    id: 'SLURM-14',
    text: 'A job that was handed over twice or started again runs once: who takes its claim decides.',
    source: lost,
  },
  {
    id: 'SLURM-15',
    text: 'A node without isolation, or with other interpreters, refuses cards.',
    source: held,
  },
  {
    id: 'SLURM-19',
    text: 'Whichever of engine, connection, program on the login node, runner on the node and controller ends, at whichever step: nothing is lost and nothing is run twice.',
    source: lost,
  },
  {
    id: 'SLURM-20',
    text: 'A person’s own settings name partition, account and the like for each cluster; a workspace can’t; what Slurm can’t be asked is refused in words.',
    source: needs,
  },
  {
    id: 'SLURM-21',
    text: 'Of a card that ended with 0 Slurm’s word that its memory ran out counts; it is asked wherever the node does not know that none of its processes was ended for memory.',
    source: ends,
  },
  {
    id: 'SLURM-16',
    text: 'Vault values are given to a job that has started, under the grants and permissions of that moment, else the card is blocked with words.',
    source: values,
  },
  {
    id: 'SLURM-17',
    text: 'A job waits for its vault values no longer than ten minutes: for a vault to be unlocked, for the next engine, or to be cancelled.',
    source: values,
  },
  {
    id: 'SLURM-18',
    text: 'Values are sealed to no key but one that the job itself has told.',
    source: values,
  },
];
