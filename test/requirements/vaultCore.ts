import type { Requirement } from '../requirements.ts';

const at = (heading: string) => `docs/vault.md, ${heading}`;

/** What is promised of the vault's files and of what opens them. */
export const vaultCoreRequirements: readonly Requirement[] = [
  {
    id: 'SEAL-01',
    text: 'The wrappers of all primitives agree with the published vectors.',
    source: at('Cryptography'),
  },
  {
    id: 'SEAL-02',
    text: 'A value opens only as what it was saved as. Swap, rollback of a row, removal, truncation, replay from another vault and change are refused and told apart, and the files are left as they are.',
    source: at('What is refused'),
  },
  {
    id: 'SEAL-03',
    text: 'A whole older file that was put back is noticed by its counter, and opened only where a person says so.',
    source: at('What is refused'),
  },
  {
    id: 'SEAL-04',
    text: 'No parameter can be lowered: cipher, version, tag length, cost of the password; it is checked before anything is derived.',
    source: at('Cryptography'),
  },
  {
    id: 'SEAL-05',
    text: 'There is one text for each header; anything else is a typed refusal, whatever the bytes are.',
    source: at('The header'),
  },
  {
    id: 'SEAL-06',
    text: 'A process killed at any write, fsync or rename leaves the state before or the state after, and nothing in the way.',
    source: at('How a change is written'),
  },
  { id: 'SEAL-07', text: 'Several processes lose no change.', source: at('How a change is written') },
  {
    id: 'SEAL-08',
    text: 'A lost or other device key is a state with a way out, never an empty vault over the old one.',
    source: at('The agents’ vault'),
  },
  {
    id: 'SEAL-09',
    text: 'The personal vault opens with the password and the Secret Key together; wrong passwords cost time, also after a restart.',
    source: at('The personal vault'),
  },
  {
    id: 'SEAL-10',
    text: 'No value and no key is in an error, a print or a file, nor in memory after the lock.',
    source: at('Memory'),
  },
  {
    id: 'SEAL-11',
    text: 'Files are for their owner alone; links in their place are not followed.',
    source: at('How a change is written'),
  },
  {
    id: 'SEAL-12',
    text: 'A grant is for one field of one version, one principal and one use, within its limits; it is answered once and ends for good.',
    source: at('Grants and the log'),
  },
  {
    id: 'SEAL-13',
    text: 'A backup is the whole vault under a passphrase; restoring loses nothing that is there, and asks before a foreign or stale one counts.',
    source: at('Backups'),
  },
  {
    id: 'SEAL-14',
    text: 'What other tools export is read whole, or refused with the place.',
    source: at('Import'),
  },
  {
    id: 'SEAL-15',
    text: 'Items have versions; each can be opened. A bad item is refused by name, and what an edit leaves out stays.',
    source: at('Items'),
  },
  {
    id: 'SEAL-16',
    text: 'Public keys of small order are refused.',
    source: at('Cryptography'),
  },
  {
    id: 'SEAL-17',
    text: 'An open vault locks by itself, whatever the clock does.',
    source: at('Locking'),
  },
  {
    id: 'SEAL-18',
    text: 'A full disk is said, and nothing changed.',
    source: at('How a change is written'),
  },
];
