import type { Requirement } from '../requirements.ts';

const promised = 'docs/places.md, What holds everywhere';
const journal = 'docs/places.md, The journal over there';
const ssh = 'docs/places.md, Over SSH';
const again = 'docs/places.md, Found again';

/** What is promised of cards that run elsewhere. */
export const placeRequirements: readonly Requirement[] = [
  {
    id: 'PLACE-01',
    text: 'A card runs sealed elsewhere, its log streams, its outputs come back by content.',
    source: promised,
  },
  { id: 'PLACE-02', text: 'What a place has is not sent again.', source: promised },
  {
    id: 'PLACE-03',
    text: 'A lost connection loses nothing: the card goes on, every line is told once, nothing runs twice.',
    source: promised,
  },
  {
    id: 'PLACE-04',
    text: 'Cancelling stops the card there; one that can’t be told is unknown until it can.',
    source: promised,
  },
  {
    id: 'PLACE-05',
    text: 'After a killed engine or runner each job has run at most once, and a result that was made is fetched and stored once.',
    source: journal,
  },
  { id: 'PLACE-06', text: 'The jobs of an engine that is gone end when its lease does.', source: journal },
  {
    id: 'PLACE-07',
    text: 'A person sees what a place still holds and can end it; nobody sees another engine’s jobs.',
    source: journal,
  },
  {
    id: 'PLACE-08',
    text: 'What a place sends back is held against its digest and the card’s limits.',
    source: promised,
  },
  {
    id: 'PLACE-09',
    text: 'A place is a permission: a card that nobody accepted connects nowhere.',
    source: promised,
  },
  {
    id: 'PLACE-10',
    text: 'The same card gives the same result in every place whose surroundings are the same, and one log says where each ran.',
    source: promised,
  },
  { id: 'PLACE-11', text: 'Folders of this computer are not shown to a card elsewhere.', source: promised },
  {
    id: 'PLACE-12',
    text: 'A place that can’t be used says why, and holds up only its own cards.',
    source: promised,
  },
  { id: 'PLACE-13', text: 'The hostile cards are held elsewhere as they are here.', source: promised },
  { id: 'PLACE-14', text: 'A slow or lossy network costs time and nothing else.', source: promised },
  {
    id: 'PLACE-15',
    text: 'What is copied to a place and back arrives whole or not at all, many small files together.',
    source: promised,
  },
  {
    id: 'PLACE-16',
    text: 'Whichever process is killed at whichever step of a card over SSH, nothing is lost, nothing runs twice and nothing stays there.',
    source: journal,
  },
  {
    id: 'PLACE-17',
    text: 'What a killed engine has left elsewhere is found again by the next one by itself: it goes on in the run that it belongs to, and its result comes once.',
    source: again,
  },
  {
    id: 'PLACE-18',
    text: 'Looking for it asks nobody anything, ends, and connects nowhere without trust and a permission that still holds.',
    source: again,
  },
  {
    id: 'PLACE-19',
    text: 'One job that can’t be taken up holds up no other; it is told, tried again, and again at the next connection.',
    source: again,
  },
  {
    id: 'PLACE-20',
    text: 'A card is said not to have run only when it can’t come there any more, whichever connection brings it.',
    source: again,
  },
  {
    id: 'JRNL-01',
    text: 'The journal is found again as it was acknowledged, whatever interrupted it; damage is refused.',
    source: journal,
  },
  { id: 'JRNL-02', text: 'Nothing is acknowledged before it is on the disk.', source: journal },
  {
    id: 'JRNL-03',
    text: 'A full disk over there is said in words and loses nothing that was accepted.',
    source: journal,
  },
  {
    id: 'JRNL-04',
    text: 'Events are numbered and told from any number on, as fast as they are read.',
    source: journal,
  },
  {
    id: 'JRNL-05',
    text: 'A runner’s folder is its user’s alone, and one runner serves it.',
    source: journal,
  },
  { id: 'JRNL-06', text: 'Another version of the language is refused in words.', source: journal },
  { id: 'JRNL-07', text: 'A runner that nobody needs ends by itself.', source: journal },
  {
    id: 'SSH-01',
    text: 'The runner is one file in the home folder over there, 0700, checked by digest at each start.',
    source: ssh,
  },
  { id: 'SSH-02', text: 'Cancelling stops the card on the host.', source: ssh },
  { id: 'SSH-03', text: 'A missing or old Node is said in words.', source: ssh },
  { id: 'SSH-04', text: 'Known hosts are read as OpenSSH reads them, or more strictly.', source: ssh },
  {
    id: 'SSH-05',
    text: 'A host is asked about at its first use, before anything is sent that could identify anyone.',
    source: ssh,
  },
  { id: 'SSH-06', text: 'The person’s configuration is resolved by OpenSSH itself.', source: ssh },
  {
    id: 'SSH-07',
    text: 'Agent, key files, keys that only sign, questions and passwords sign in; nothing is forwarded, nobody is asked where nobody may be.',
    source: ssh,
  },
  {
    id: 'SSH-08',
    text: 'Only native windows ask, and they show what comes from a host escaped.',
    source: ssh,
  },
  {
    id: 'SSH-09',
    text: 'SSH is read when a host is first connected to, from a file of its own.',
    source: ssh,
  },
];
