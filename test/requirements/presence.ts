import type { Requirement } from '../requirements.ts';

const source = 'docs/presence.md, What a proof is';
const page = 'docs/presence.md, The page';

/** What is promised of proof that a person is here. */
export const presenceRequirements: readonly Requirement[] = [
  {
    id: 'PRES-01',
    text: 'A proof counts once, for its act and those arguments, within two minutes of the question.',
    source,
  },
  {
    id: 'PRES-02',
    text: 'A registered passkey with a verified user, or the password, proves presence.',
    source,
  },
  {
    id: 'PRES-03',
    text: 'Another origin, port, scheme, host, challenge, act, passkey or frame, a replay, an unverified user and a counter that went back are refused, told apart.',
    source: page,
  },
  {
    id: 'PRES-04',
    text: 'The page is held on both loopback addresses, served once, framed by nobody, and only where the browser finds it as localhost.',
    source: page,
  },
  { id: 'PRES-05', text: 'Wrong passwords wait, over restarts and clocks that are turned back.', source },
  {
    id: 'PRES-06',
    text: 'A setting that opens something counts only as far as a person confirmed it.',
    source: 'docs/presence.md, Settings that open something',
  },
  {
    id: 'PRES-07',
    text: 'A damaged file proves nothing and is kept; the last factor is not removed; a further one needs presence.',
    source,
  },
  { id: 'PRES-08', text: 'What a person closes or turns away gives no proof and is no error.', source },
];
