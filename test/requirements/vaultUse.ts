import type { Requirement } from '../requirements.ts';

const plugins = 'docs/vault.md, Requests of plugins';
const using = 'docs/vault.md, Using values';
const egress = 'docs/egress.md, Vault values';

/** What is promised of a vault value on its way to where it is used. */
export const vaultUseRequirements: readonly Requirement[] = [
  {
    id: 'VAULTUSE-01',
    text: 'A value is found in every spelling that programs print it in, across chunks, lines and escape sequences.',
    source: using,
  },
  {
    id: 'VAULTUSE-02',
    text: 'A value that can’t be kept out of logs, or can’t be used as granted, is refused with the reason.',
    source: using,
  },
  {
    id: 'VAULTUSE-03',
    text: 'The value is put in outside the sandbox, in place of what the card wrote there, for a verified server.',
    source: egress,
  },
  { id: 'VAULTUSE-04', text: 'Answers come back without the value.', source: egress },
  {
    id: 'VAULTUSE-05',
    text: 'The value goes to the listed host and port alone, never along a redirect, and over TLS but on loopback.',
    source: egress,
  },
  {
    id: 'VAULTUSE-06',
    text: 'Requests that could be read in two ways are refused; what is left is passed on in order.',
    source: egress,
  },
  {
    id: 'VAULTUSE-07',
    text: 'A sealed value opens for the one runner, job, grant and use that it was sealed for.',
    source: using,
  },
  { id: 'VAULTUSE-08', text: 'The hosts are part of the permission that a person reviews.', source: using },
  {
    id: 'VAULTUSE-09',
    text: 'Where a card gets a value itself, it is in its environment or from a descriptor, and out of its log.',
    source: using,
  },
  { id: 'VAULTUSE-12', text: 'A card that has no grant for what it wants is not started.', source: using },
  {
    id: 'VAULTUSE-13',
    text: 'A value is released only under a person’s grant for exactly this principal, project, field, version, use and host.',
    source: using,
  },
  {
    id: 'VAULTUSE-14',
    text: 'A model is told names, never values, and what it asks for waits for a person.',
    source: using,
  },
  {
    id: 'VAULTUSE-15',
    text: '`sallyport vault run` gives values to one command, in an environment built from an allow-list, never among its words, and shows its output without them.',
    source: using,
  },
  {
    id: 'VAULTUSE-16',
    text: 'A key pair of the vault signs in to a place over SSH under a grant for that place, signs requests to sign in with that key alone, and never leaves the vault.',
    source: using,
  },
  { id: 'VAULTUSE-10', text: 'A result that holds the value is not kept.', source: using },
  {
    id: 'VAULTUSE-11',
    text: 'While a job runs, no argument, environment or file outside the sandbox holds the value.',
    source: using,
  },
  {
    id: 'VAULTUSE-17',
    text: 'A value goes into the requests of a plugin outside of the engine, and what comes back is without it, whatever the server sends.',
    source: plugins,
  },
  {
    id: 'VAULTUSE-18',
    text: 'A request of a plugin with a value is one act of the gate, one line of the network log and one of the vault’s.',
    source: plugins,
  },
  {
    id: 'VAULTUSE-19',
    text: 'A grant is for one plugin of one installation and its hosts; it ends with its limits, a revocation, another version of the item, and with the app.',
    source: plugins,
  },
  {
    id: 'VAULTUSE-20',
    text: 'An answer is bounded, read no faster than it is asked for, and given up with the call.',
    source: plugins,
  },
  {
    id: 'VAULTUSE-24',
    text: 'A connection may take its key from the vault: read for each request, under a grant for its host and header alone, lost with another address.',
    source: 'docs/vault.md, Keys of connections',
  },
  {
    id: 'VAULTUSE-23',
    text: 'A person chooses plugin, hosts and way of use in native lists, and answers exactly that like any other request.',
    source: plugins,
  },
  { id: 'VAULTUSE-21', text: 'No redirect is followed with a value, nor leads to one.', source: plugins },
  {
    id: 'VAULTUSE-22',
    text: 'The address is judged as the engine judges it, and the server proves its name before a value is touched.',
    source: plugins,
  },
  {
    id: 'VAULTUSE-25',
    text: 'A wish of a plugin gives nothing: a person is asked once, chooses one of their values that may go to its hosts, or none, and answers exactly that for this plugin, installation and wish.',
    source: plugins,
  },
  {
    id: 'VAULTUSE-26',
    text: 'A wish that an update changes in any way is another one: the update waits, what was given ends, and the person is asked again.',
    source: plugins,
  },
  {
    id: 'VAULTUSE-27',
    text: 'That a person wants no value for a wish counts at once, whatever vault is locked.',
    source: plugins,
  },
  {
    id: 'VAULTUSE-28',
    text: 'A request with a value is made for a plugin only while a page of this window waits for it.',
    source: plugins,
  },
];
