import type { Requirement } from '../requirements.ts';

const source = 'docs/vault.md, In VS Code';

/** What is promised of the vault as a person meets it. */
export const vaultInWindowRequirements: readonly Requirement[] = [
  {
    id: 'VAULTUI-01',
    text: 'Names, kinds, hosts and tags are listed; no value is in the view, the page, a log or a file.',
    source,
  },
  {
    id: 'VAULTUI-02',
    text: 'A value is shown after presence for exactly it, for twenty seconds.',
    source,
  },
  {
    id: 'VAULTUI-03',
    text: 'Each state of a vault has words and a way out, and finding it touches no file.',
    source,
  },
  {
    id: 'VAULTUI-04',
    text: 'The personal vault locks itself: unused, on sleep, on a command; a card keeps it open no longer.',
    source,
  },
  {
    id: 'VAULTUI-05',
    text: 'A request for a value is answered in a native list in Sallyport’s words; the review of permissions answers too.',
    source,
  },
  {
    id: 'VAULTUI-06',
    text: 'A grant of an item of the personal vault needs presence for exactly that grant and its limits.',
    source,
  },
  { id: 'VAULTUI-07', text: 'Grants are listed and revoked; each use is one line without a value.', source },
  {
    id: 'VAULTUI-08',
    text: 'What is in a backup is shown first; an older or foreign one needs presence.',
    source,
  },
  {
    id: 'VAULTUI-09',
    text: 'A person lets a plugin of an app use a token for one host: its request carries it, page and plugin never have it, and taking it back counts at once.',
    source: 'docs/vault.md, Requests of plugins',
  },
  {
    id: 'VAULTUI-10',
    text: 'A key pair that the vault made signs in to a real host over SSH after the person allowed it, and stands in the log of uses.',
    source: 'docs/vault.md, Signing in over SSH',
  },
  {
    id: 'VAULTUI-11',
    text: 'What a plugin wishes for is shown in the review, asked for once after it, and the answer can be changed at any time.',
    source: 'docs/vault.md, Requests of plugins',
  },
];
