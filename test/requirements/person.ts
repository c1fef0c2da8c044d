import type { Requirement } from '../requirements.ts';

const approvals = 'docs/floor.md, Approvals';
const keys = 'SECURITY.md';

/** What is promised of the person's side of the agent: connections, keys, approvals, the timeline, VS Code's chat. */
export const personRequirements: readonly Requirement[] = [
  { id: 'KEY-01', text: 'A pasted key is trimmed and checked before any header is built.', source: keys },
  {
    id: 'KEY-02',
    text: 'No function gives a key back but as the header of a request to its origin.',
    source: keys,
  },
  { id: 'KEY-03', text: 'Another origin drops the key.', source: keys },
  {
    id: 'KEY-04',
    text: 'A secret storage that throws, hangs or forgets is a state with words and a way out.',
    source: keys,
  },
  { id: 'KEY-05', text: 'A key that a server echoes reaches nobody, in any usual encoding.', source: keys },
  {
    id: 'CONN-01',
    text: 'No setting of a workspace can name a connection, an address, a proxy or a header.',
    source: keys,
  },
  { id: 'CONN-02', text: 'Plain HTTP reaches this machine alone.', source: keys },
  { id: 'CONN-03', text: 'A request goes strictly below the saved address.', source: keys },
  {
    id: 'CONN-04',
    text: 'Ollama is looked for when a person opens the list, and used only when chosen.',
    source: keys,
  },
  { id: 'BROKER-01', text: 'An answer is pulled; what nobody reads slows its sender.', source: keys },
  { id: 'BROKER-02', text: 'Cancelling, closing and a lost engine end the request.', source: keys },
  { id: 'BROKER-03', text: 'Open requests are bounded.', source: keys },
  { id: 'BROKER-04', text: 'Each failure of a request has words of its own.', source: keys },
  {
    id: 'WAIT-01',
    text: 'One notification says that something waits; the status bar counts.',
    source: approvals,
  },
  {
    id: 'WAIT-02',
    text: 'Allowing is not offered before a text that does not fit the list was opened.',
    source: approvals,
  },
  { id: 'WAIT-03', text: 'A grant is offered only where one would cover the act.', source: approvals },
  {
    id: 'WAIT-04',
    text: 'Nothing but the native list answers: no command takes an answer.',
    source: approvals,
  },
  {
    id: 'WAIT-05',
    text: 'What no longer waits in the form that was shown is answered by nothing.',
    source: approvals,
  },
  {
    id: 'WAIT-06',
    text: 'A question of the agent is shown as its own words and can be turned away.',
    source: approvals,
  },
  { id: 'TIME-01', text: 'Changes stand by turn, then by file, with sizes.', source: 'README.md' },
  {
    id: 'TIME-02',
    text: 'Undo shows what would happen and does exactly that; what is in the way is left alone.',
    source: 'docs/floor.md',
  },
  {
    id: 'TIME-03',
    text: 'A diff of an unreviewed text makes no language service fetch anything.',
    source: 'docs/floor.md',
  },
  {
    id: 'CHAT-01',
    text: 'A tool call from VS Code’s chat reaches the engine as an external agent’s, whatever it says.',
    source: 'docs/floor.md',
  },
  {
    id: 'CHAT-02',
    text: 'The tools in the manifest are those of the engine.',
    source: 'docs/architecture.md',
  },
];
