import type { Requirement } from '../requirements.ts';

/** What is promised of the one way out that a card with a host list has. */
export const egressRequirements: readonly Requirement[] = [
  {
    id: 'EGRESS-01',
    text: 'Only hosts and ports of the reviewed list are reached, whatever spelling is asked for; a name that is not listed is not even resolved.',
    source: 'docs/egress.md, What is let through',
  },
  {
    id: 'EGRESS-02',
    text: 'A listed name leads to public addresses only; a private one is reached only where it is listed as that address.',
    source: 'docs/egress.md, What is let through',
  },
  {
    id: 'EGRESS-03',
    text: 'A name is resolved once for a request, and the connection goes to an address that was checked.',
    source: 'docs/egress.md, What is let through',
  },
  {
    id: 'EGRESS-04',
    text: 'Every request is looked at anew, redirects and later requests of one connection included.',
    source: 'docs/egress.md, What is let through',
  },
  {
    id: 'EGRESS-05',
    text: 'A request that could be read in two ways is refused, and nothing of the connection to the proxy is passed on.',
    source: 'docs/egress.md, What is let through',
  },
  {
    id: 'EGRESS-06',
    text: 'Every request is one record: what was asked, what was decided by which rule, where it went and how much.',
    source: 'docs/egress.md, What is recorded',
  },
  {
    id: 'EGRESS-07',
    text: 'The proxy of a job ends with it, and lets nothing through that the sandbox itself would.',
    source: 'docs/egress.md, How it works',
  },
];
