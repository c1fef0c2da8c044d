import type { Requirement } from '../requirements.ts';

const source = 'docs/floor.md, Approvals';

/** What is promised of the agent's catalogue, shells, network and run tools. */
export const shellRequirements: readonly Requirement[] = [
  {
    id: 'CAT-01',
    text: 'A tool that is stale, doubled, unlisted or misnamed stops the agent from starting.',
    source,
  },
  {
    id: 'CAT-02',
    text: 'Every argument of every tool is described in a JSON schema that takes nothing else.',
    source,
  },
  { id: 'SHELL-01', text: 'The shell in memory starts no program and sees nothing but the project.', source },
  { id: 'SHELL-02', text: 'Nothing of one command reaches the next.', source },
  { id: 'SHELL-03', text: 'Links and control folders of the project are not seen by any shell.', source },
  {
    id: 'SHELL-04',
    text: 'What a command changes is written only after its own review, all or nothing.',
    source,
  },
  { id: 'SHELL-05', text: 'A command ends at its time, its memory or its cancel, whatever it does.', source },
  { id: 'SHELL-06', text: 'Exit status, time-out, cancel and cut output are told apart.', source },
  { id: 'SHELL-07', text: 'A command is never judged by its text: any other text asks anew.', source },
  {
    id: 'SHELL-08',
    text: 'The shell has no internet unless a person’s setting opens it, and then only public addresses.',
    source,
  },
  {
    id: 'PSH-01',
    text: 'Real programs run sealed: project read-only, no network, no host environment, no sockets.',
    source,
  },
  { id: 'PSH-02', text: 'Where isolation is missing the sealed shell is refused.', source },
  { id: 'PSH-03', text: 'A script that was changed after the question makes the answer void.', source },
  {
    id: 'PSH-04',
    text: 'A program that asks for input gets the end of file at once and the model is told.',
    source,
  },
  {
    id: 'NET-01',
    text: 'Only plain http and https addresses of public hosts are fetched; nothing leaves before the answer.',
    source,
  },
  {
    id: 'NET-02',
    text: 'A name with any address that is not public is refused; the connection goes to a checked address.',
    source,
  },
  { id: 'NET-03', text: 'Redirects are not followed; each is a call of its own.', source },
  {
    id: 'NET-04',
    text: 'Every request, whatever came of it, is in the egress log with its principal.',
    source,
  },
  { id: 'RTOOL-01', text: 'An agent’s run goes the way of a person’s and accepts no permission.', source },
  { id: 'RTOOL-02', text: 'Runs of another project are not there for a tool.', source },
  {
    id: 'RTOOL-03',
    text: 'Deleting history and clearing the cache remove exactly what was measured and shown.',
    source,
  },
];
