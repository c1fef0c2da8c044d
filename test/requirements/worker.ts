import type { Requirement } from '../requirements.ts';

const source = 'docs/worker.md, What holds it';

/** A host that several people share. */
export const workerRequirements: readonly Requirement[] = [
  { id: 'WORKER-01', text: 'Each identity that is enrolled reaches a runner of its own.', source },
  {
    id: 'WORKER-02',
    text: 'Only TLS 1.3 with a certificate that an enrolled identity has signed gets in; no session is resumed.',
    source,
  },
  {
    id: 'WORKER-03',
    text: 'The engine sends nothing to a worker that does not hold the pinned identity.',
    source,
  },
  {
    id: 'WORKER-04',
    text: 'The list is read at each handshake, and counts only where nobody else can write it.',
    source,
  },
  {
    id: 'WORKER-05',
    text: 'A one-time code enrols once, within an hour, and is told only to the worker that it names.',
    source,
  },
  { id: 'WORKER-06', text: 'Connections are limited for each identity and logged.', source },
  {
    id: 'WORKER-07',
    text: 'Members share the processors out: a card of everybody runs at once, and what is free goes to who runs the fewest.',
    source,
  },
  {
    id: 'WORKER-08',
    text: 'What VS Code speaks TLS with takes the certificates of both sides.',
    source,
  },
  {
    id: 'WORKER-09',
    text: 'The log is set aside by its size, bounded, with no line lost or torn, whoever writes it or is killed.',
    source,
  },
  {
    id: 'WORKER-10',
    text: 'One process at a time changes the worker’s files: one that was killed keeps nobody out, one that lives is never passed over.',
    source,
  },
  {
    id: 'WORKER-11',
    text: 'What one identity does, what strangers try and what the keeper decides are logged apart, each bounded, so that nobody pushes another’s lines out.',
    source,
  },
  {
    id: 'WORKER-12',
    text: 'Windows that enrol at workers at once lose nothing of one another.',
    source,
  },
];
