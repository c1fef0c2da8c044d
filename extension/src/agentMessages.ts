import { l10n } from 'vscode';
import type { Change, UndoStep } from '../../protocol/src/agent.ts';
import type { Decision, GrantKind, Principal, Target } from '../../protocol/src/gate.ts';
import type { AddressProblem } from './connections/address.ts';
import type { ConnectionKind } from './connections/connectionKinds.ts';
import type { KeyProblem } from './keys/keyText.ts';
import type { KeyState } from './keys/keyVault.ts';
import type { Notice } from './messages.ts';
import { plain, short } from './plainText.ts';

/**
 * The texts around models, keys, approvals and the timeline, by the rules of `messages.ts`: what failed, the value, what
 * to do. `test/unit/extension/agentMessages.test.ts` renders them all.
 */
const t = l10n.t;

/** Why a request to a provider was not made or did not come back. They stand in the conversation and in the log. */
export const brokerWords = {
  noConnection: (): string => t('This connection is no longer there. Choose another model.'),
  noStream: (): string => t('The answer is no longer open.'),
  readTwice: (): string => t('The answer is being read already.'),
  path: (): string =>
    t('The request is for a path that this connection is not used for, so it was not made.'),
  header: (): string => t('The request carries a header that is not allowed, so it was not made.'),
  tooMany: (most: number): string =>
    t('{0} requests are open already. Wait for one to end, or stop one.', most),
  redirect: (): string =>
    t(
      'The server answered with a redirect. A key is never sent on to another address. Enter the API’s final address in Manage Connections.',
    ),
  unreachable: (detail: string): string =>
    t('The server could not be reached, or the connection was cut ({0}).', plain(detail)),
  tooLong: (bytes: number): string => t('The answer is longer than {0} bytes.', bytes),
  silent: (): string => t('Nothing came from the server for too long, so the request was given up.'),
  noKey: (name: string): string =>
    t('The connection {0} has no key. Enter one with Manage Connections.', plain(name)),
  keyGone: (name: string): string =>
    t(
      'The key of {0} is gone from VS Code’s secret storage. Without a system keyring VS Code keeps secrets only until it closes. Enter the key again with Manage Connections.',
      plain(name),
    ),
  keyLost: (name: string): string =>
    t(
      'VS Code’s secret storage does not answer, so the key of {0} can’t be read. Unlock the system’s keyring, or enter the key for this window with Manage Connections.',
      plain(name),
    ),
  keyDropped: (name: string): string =>
    t(
      'The key of {0} was saved for another address and was dropped. Enter the key for this address with Manage Connections.',
      plain(name),
    ),
  vaultLocked: (name: string): string =>
    t('The key of {0} is a value of the vault, which is locked. Unlock it in the Vault view.', plain(name)),
  noVaultGrant: (name: string): string =>
    t(
      'The connection {0} may not use the value of the vault that is its key: the grant was revoked or has ended, or the item was changed or removed. Choose the key again with Manage Connections.',
      plain(name),
    ),
  vaultUnfit: (name: string): string =>
    t(
      'The value of the vault that is the key of {0} can’t be sent in a header, or is too short to be kept out of answers. Choose another one with Manage Connections.',
      plain(name),
    ),
  vaultRefused: (name: string, code: string): string =>
    t(
      'The vault does not give the key of {0} ({1}). Look at it in the Vault view.',
      plain(name),
      plain(code),
    ),
  keyRefused: (status: number): string =>
    t('The server refused the key (status {0}). Check that it is whole and still valid.', status),
  listStatus: (status: number): string =>
    t('The server answered with status {0} instead of its models.', status),
  notAList: (): string => t('What the server answered is no list of models. Check the address.'),
  modelGone: (model: string): string => t('VS Code no longer offers the model {0}.', plain(model)),
  modelRefused: (model: string, code: string): string =>
    t('VS Code did not let {0} be used ({1}).', plain(model), plain(code)),
};

type Direction = 'undo' | 'redo';

/** What happened, and why a command does nothing here, as notifications. */
export const agentNotices = {
  noVscodeModels: (): Notice => ({
    severity: 'info',
    text: t(
      'This VS Code offers no language models. Sign in to Copilot or install an extension that offers some, or connect a provider.',
    ),
    action: { title: t('Connect a Model'), command: 'sallyport.connectModel' },
  }),
  connected: (name: string, models: number): Notice => ({
    severity: 'info',
    text:
      models === 1
        ? t('{0} is connected and offers one model.', plain(name))
        : t('{0} is connected and offers {1} models.', plain(name), models),
  }),
  noConnections: (): Notice => ({
    severity: 'info',
    text: t('No model is connected yet.'),
    action: { title: t('Connect a Model'), command: 'sallyport.connectModel' },
  }),
  keyReplaced: (name: string): Notice => ({
    severity: 'info',
    text: t('{0} uses the new key.', plain(name)),
  }),
  keyDropped: (name: string): Notice => ({
    severity: 'warning',
    text: t(
      '{0} has another address now, so its key was dropped. Enter the key for this address.',
      plain(name),
    ),
    action: { title: t('Manage Connections'), command: 'sallyport.manageConnections' },
  }),
  connectionRemoved: (name: string, isKeyGone: boolean): Notice =>
    isKeyGone
      ? { severity: 'info', text: t('{0} and its key were removed.', plain(name)) }
      : {
          severity: 'warning',
          text: t(
            '{0} was removed, but VS Code’s secret storage did not answer, so its key may still be stored there. Revoke the key at the provider.',
            plain(name),
          ),
        },
  waiting: (count: number): { text: string; button: string } => ({
    text:
      count === 1 ? t('Something waits for your decision.') : t('{0} things wait for your decision.', count),
    button: t('Review'),
  }),
  nothingWaits: (): Notice => ({ severity: 'info', text: t('Nothing waits for you.') }),
  noLongerWaits: (): Notice => ({
    severity: 'info',
    text: t('This no longer waits in the form that was shown, so nothing was answered.'),
  }),
  declinedAll: (count: number): Notice => ({
    severity: 'info',
    text: count === 1 ? t('One act was declined.') : t('{0} acts were declined.', count),
  }),
  noGrants: (project: string): Notice => ({
    severity: 'info',
    text: t('Nothing is granted in {0}: every act of an agent is asked for.', plain(project)),
  }),
  grantsRevoked: (count: number): Notice => ({
    severity: 'info',
    text: count === 1 ? t('One grant was revoked.') : t('{0} grants were revoked.', count),
  }),
  nothingToUndo: (direction: Direction): Notice => ({
    severity: 'info',
    text: direction === 'undo' ? t('There is nothing to undo.') : t('There is nothing to redo.'),
  }),
  undone: (direction: Direction, count: number): Notice => ({
    severity: 'info',
    text:
      direction === 'undo'
        ? t('Undone: {0}. Redo brings it back.', timelineWords.changes(count))
        : t('Redone: {0}.', timelineWords.changes(count)),
    action: { title: t('Show Timeline'), command: 'sallyport.openTimeline' },
  }),
  planChanged: (): Notice => ({
    severity: 'warning',
    text: t('The files changed while you were looking, so nothing was done. Look again.'),
  }),
  changeGone: (): Notice => ({
    severity: 'info',
    text: t('This change is no longer in the timeline.'),
  }),
  noConversations: (project: string): Notice => ({
    severity: 'info',
    text: t('There are no conversations about {0} yet, so nothing was sent.', plain(project)),
  }),
};

/** Words of Connect a Model and Manage Connections. */
export const connectWords = {
  title: (): string => t('Connect a Model'),
  manage: (): string => t('Manage Connections'),
  managePlaceholder: (): string => t('Choose a connection to change'),
  choose: (): string => t('Where does the model run?'),
  kind: (kind: ConnectionKind): string => {
    switch (kind) {
      case 'anthropic':
        return t('Anthropic');
      case 'openai':
        return t('OpenAI');
      case 'openai-compatible':
        return t('OpenAI-compatible API');
      case 'ollama':
        return t('Ollama');
      case 'vscode':
        return t('VS Code’s own models');
    }
  },
  looking: (): string => t('looking…'),
  offered: (count: number): string => (count === 0 ? t('none offered') : t('{0} offered', count)),
  vscodeDetail: (): string => t('No key needed. VS Code asks you before the first use.'),
  remoteDetail: (host: string): string => t('With your key. Requests go to {0}.', host),
  compatibleDetail: (): string => t('Any address that speaks chat completions; a key where it wants one.'),
  ollamaMissing: (): string => t('not found on this machine'),
  ollamaFound: (models: number): string =>
    models === 1 ? t('found on this machine, one model') : t('found on this machine, {0} models', models),
  ollamaDetail: (): string => t('On this machine, without a key. It is used only after you connect it.'),
  keyPrompt: (origin: string, isOptional: boolean): string =>
    isOptional
      ? t('Key for {0}. Leave it empty where none is needed. It is kept in VS Code’s secret storage.', origin)
      : t('Key for {0}. It is kept in VS Code’s secret storage and sent nowhere else.', origin),
  keyProblem: (problem: KeyProblem): string => {
    switch (problem) {
      case 'empty':
        return t('Enter a key.');
      case 'too-long':
        return t('This is too long for a key: at most 4096 characters.');
      case 'inner-space':
        return t('There is a space or line break inside. Copy the key alone.');
      case 'characters':
        return t('There are characters that no key has. Copy the key again.');
    }
  },
  addressPrompt: (): string => t('Base address of the API, as its documentation gives it'),
  addressProblem: (problem: AddressProblem): string => {
    switch (problem) {
      case 'not-a-url':
        return t('This is no address. It starts with https:// and names a host.');
      case 'scheme':
        return t('Only https:// is possible, and http:// for this machine.');
      case 'plain-http':
        return t('http:// is possible for this machine alone (127.0.0.1, [::1], localhost). Use https://.');
      case 'credentials':
        return t('Leave user and password out of the address. The key is asked for next.');
      case 'query':
        return t('Leave out what follows ? or #.');
    }
  },
  modelPrompt: (reason: string): string => t('{0} Name a model yourself, or press Escape to stop.', reason),
  modelPlaceholder: (): string => t('the model’s name as the API knows it'),
  modelProblem: (): string => t('A model’s name has no spaces and at most 200 characters.'),
  listing: (name: string): string => t('Asking {0} for its models…', plain(name)),
  storageLost: () => ({
    text: t('VS Code’s secret storage does not answer, so the key can’t be kept.'),
    detail: t(
      'The system’s keyring may be locked or missing. Unlock it and try again, or use the key until this window closes: then it is in memory alone.',
    ),
    button: t('Use It for This Window'),
  }),
  fromVault: (): string => t('Take a value of the vault'),
  connectionDetail: (models: number, key: KeyState | 'not-needed' | 'gone' | 'in-vault'): string =>
    models === 1 ? t('one model · {0}', keyWord(key)) : t('{0} models · {1}', models, keyWord(key)),
  act: (act: 'rename' | 'key' | 'address' | 'models' | 'remove'): string => {
    switch (act) {
      case 'rename':
        return t('Rename');
      case 'key':
        return t('Replace Key');
      case 'address':
        return t('Change Address (another host drops the key)');
      case 'models':
        return t('Ask for Models Again');
      case 'remove':
        return t('Remove, with its Key');
    }
  },
  namePrompt: (): string => t('Name of the connection'),
  nameProblem: (): string => t('A name has one to 80 characters.'),
  removeQuestion: (name: string) => ({
    text: t('Remove {0}?', plain(name)),
    detail: t('Its key is removed from VS Code’s secret storage. Conversations stay.'),
    button: t('Remove'),
  }),
};

function keyWord(key: KeyState | 'not-needed' | 'gone' | 'in-vault'): string {
  switch (key) {
    case 'saved':
      return t('key saved');
    case 'for-this-window':
      return t('key for this window alone');
    case 'none':
      return t('no key');
    case 'gone':
      return t('key gone from the secret storage: enter it again');
    case 'lost':
      return t('secret storage does not answer');
    case 'other-origin':
      return t('key dropped: it was for another address');
    case 'not-needed':
      return t('no key needed');
    case 'in-vault':
      return t('key in the vault');
  }
}

/** Words of what waits: approvals, questions, grants, Explain and Would This Ask? */
export const approvalWords = {
  title: (tool: string): string => t('Allow this? ({0})', plain(tool)),
  placeholder: (): string => t('Read what is asked. Your answers stand at the end of the list.'),
  listTitle: (count: number): string => t('What waits for you ({0})', count),
  listPlaceholder: (): string => t('Choose one to read it'),
  declineAll: (count: number): string => t('Decline all {0} acts', count),
  asker: (principal: Principal, conversation: string | null): string => {
    const who = principalWord(principal);
    return conversation === null || conversation === ''
      ? t('asked by {0}', who)
      : t('asked by {0} in “{1}”', who, short(conversation, 60));
  },
  headings: {
    act: (): string => t('What is asked'),
    wholeText: (): string => t('Whole text'),
    permissions: (): string => t('What it opens'),
    particulars: (): string => t('In detail'),
    targets: (): string => t('What it touches'),
    rule: (): string => t('Why you are asked'),
    answer: (): string => t('Your answer'),
    bound: (): string => t('What an answer is bound to'),
    grant: (): string => t('What would make asking unnecessary'),
    verdict: (): string => t('What the gate says'),
  },
  flagged: (): string => t('It holds invisible or control characters. They are shown escaped.'),
  openText: (): string => t('Open whole text'),
  readFirst: (): string => t('needed before you can allow'),
  allowOnce: (): string => t('Allow once'),
  allowOnceNote: (): string => t('exactly this, one time'),
  grant: (kind: GrantKind, isForConversation: boolean): string =>
    isForConversation
      ? t('Grant {0} for this conversation, and allow this', grantWord(kind))
      : t('Grant {0} in this project to every agent, and allow this', grantWord(kind)),
  decline: (): string => t('Decline'),
  declineNote: (): string => t('nothing is changed; the model is told'),
  explain: (): string => t('Explain'),
  explainTitle: (tool: string): string => t('Why {0} asks', plain(tool)),
  back: (): string => t('Back to the list'),
  documentTitle: (tool: string, id: string): string => t('Whole text of {0} ({1})', plain(tool), plain(id)),
  boundTo: (digest: string, expires: string): string =>
    t('Arguments with SHA-256 {0}. Without an answer by {1} it is declined.', digest, expires),
  targetKind: (kind: Target['kind']): string => {
    switch (kind) {
      case 'path':
        return t('file');
      case 'host':
        return t('host');
      case 'run':
        return t('run');
      case 'script':
        return t('script');
      case 'project':
        return t('project');
      case 'connection':
        return t('connection');
      case 'usage':
        return t('stored data');
      case 'storage':
        return t('storage of an app');
    }
  },
  isProtected: (): string => t('protected'),
  isOutside: (): string => t('outside the project'),
  isMissing: (): string => t('not there yet'),
  wholeProject: (): string => t('the project’s folder'),
  grantWould: (kind: GrantKind): string =>
    t('A grant of {0} for the conversation would cover it.', grantWord(kind)),
  noGrantWould: (): string => t('No grant covers this: it is asked for every time.'),
  verdict: (verdict: Decision['verdict']): string => {
    switch (verdict) {
      case 'allow':
        return t('It would be done without asking.');
      case 'ask':
        return t('It would ask you.');
      case 'deny':
        return t('It would be refused without asking.');
    }
  },
  tryOut: (): string => t('Would This Ask?'),
  tryOutTitle: (tool: string): string => t('Would {0} ask?', plain(tool)),
  tryOutTool: (): string => t('Choose a tool. Nothing is done.'),
  tryOutArguments: (tool: string): string => t('Arguments of {0}, as JSON. Nothing is done.', plain(tool)),
  notAnObject: (): string => t('This is no JSON object, such as {"path": "notes.md"}.'),
  asksEachTime: (): string => t('asks each time'),
  isQuestion: (): string => t('a question of the agent'),
  questionTitle: (conversation: string): string =>
    conversation === ''
      ? t('The agent asks (its own words)')
      : t('The agent asks in “{0}” (its own words)', conversation),
  ownAnswer: (text: string): string => t('Answer: {0}', text),
  noAnswer: (): string => t('Don’t answer'),
  grantsTitle: (project: string): string => t('Grants in {0}', plain(project)),
  grantsPlaceholder: (): string => t('Select what to revoke'),
  grantLabel: (kind: GrantKind, isForConversation: boolean): string =>
    isForConversation
      ? t('{0} for one conversation', grantWord(kind))
      : t('{0} for every conversation and agent', grantWord(kind)),
  grantedAt: (when: string): string => t('granted {0}', when),
};

function grantWord(kind: GrantKind): string {
  switch (kind) {
    case 'read':
      return t('Read');
    case 'write':
      return t('Write');
    case 'run':
      return t('Run');
    case 'shell':
      return t('Shell');
  }
}

/** Who asks, as a word. */
export function principalWord(principal: string): string {
  switch (principal) {
    case 'person':
      return t('you');
    case 'agent':
      return t('Sallyport’s agent');
    case 'external-agent':
      return t('an agent of VS Code');
    default:
      return plain(principal);
  }
}

/** Words of the timeline, its diffs and the preview of undo and redo. */
export const timelineWords = {
  changes: (count: number): string => (count === 1 ? t('one change') : t('{0} changes', count)),
  undoneOf: (undone: number, all: number): string =>
    undone === all ? t('undone') : t('{0} of {1} undone', undone, all),
  undone: (): string => t('undone'),
  untitled: (): string => t('Changes'),
  by: (principal: string): string => t('by {0}', principalWord(principal)),
  kind: (kind: Change['kind']): string => {
    switch (kind) {
      case 'create':
        return t('created');
      case 'edit':
        return t('edited');
      case 'delete':
        return t('deleted');
      case 'rename':
        return t('renamed');
      case 'mode':
        return t('permission bits changed');
    }
  },
  openChange: (): string => t('Open Change'),
  diffTitle: (path: string): string => t('{0} (before ↔ after)', path),
  tooLarge: (size: string): string => t('This side has {0}: too much for an editor.', size),
  binary: (size: string): string => t('Binary, {0}.', size),
  used: (used: string, limit: string): string => t('{0} of {1}', used, limit),
  more: (): string => t('Show older changes'),
  apply: (direction: Direction, count: number): string =>
    direction === 'undo'
      ? t('Undo {0}', timelineWords.changes(count))
      : t('Redo {0}', timelineWords.changes(count)),
  applyRest: (count: number): string => t('Leave these alone and look at the other {0}', count),
  previewTitle: (direction: Direction, count: number): string =>
    direction === 'undo'
      ? count === 1
        ? t('Undo: one file')
        : t('Undo: {0} files', count)
      : count === 1
        ? t('Redo: one file')
        : t('Redo: {0} files', count),
  previewPlaceholder: (): string => t('This is what would happen. Nothing was changed yet.'),
  action: (action: UndoStep['action']): string => {
    switch (action) {
      case 'restore':
        return t('gets its other content');
      case 'remove':
        return t('is removed');
      case 'recreate':
        return t('comes back');
      case 'mode':
        return t('gets its other permission bits');
      case 'nothing':
        return t('is so already');
    }
  },
  conflict: (conflict: UndoStep['conflict']): string => {
    switch (conflict) {
      case 'changed-since':
        return t('was changed since: left alone');
      case 'dirty-editor':
        return t('is open with unsaved changes: save or revert it first');
      case 'pruned':
        return t('its earlier content is no longer kept');
      case 'outside':
        return t('is outside the project now: left alone');
      case 'protected':
        return t('is protected: left alone');
      case null:
        return '';
    }
  },
};

/** Words of the view of what was sent. */
export const sentWords = {
  choose: (): string => t('Whose requests do you want to see?'),
  title: (conversation: string): string => t('Sent in “{0}”', conversation),
  head: (at: string, connection: string, path: string, status: number | null, received: string): string =>
    t('{0}  {1}  {2}  {3}  received {4}', at, connection, path, status ?? t('no answer'), received),
  nothing: (): string => t('Nothing was sent yet.'),
  cut: (shown: number): string => t('The newest {0} requests are shown.', shown),
};

/** Words for VS Code's own chat. `instructions` and `unknownTool` are for a model. */
export const chatWords = {
  running: (tool: string): string => t('Sallyport: {0}', plain(tool)),
  confirmTitle: (tool: string): string => t('Hand this to Sallyport? ({0})', plain(tool)),
  confirm: (): string =>
    t(
      'Continuing allows nothing yet: Sallyport’s own gate decides, and where its rules say so Sallyport asks you itself. What the agent wrote:',
    ),
  failed: (text: string): string => t('It was not done: {0}', text),
  noProject: (): string =>
    t(
      'No trusted Sallyport project is open in this window, so there is nothing to work on. Open a folder with a `sallyport.json`, or use **Sallyport: New Project**.',
    ),
  instructions: (): string =>
    'You work on a Sallyport project: a folder of cards, each with a _card.json, that run sealed. Use the sallyport tools alone. Some calls wait for a person; a refusal is final for that call, so say what you need and why.',
  unknownTool: (name: string): string => `There is no tool named ${JSON.stringify(name)}.`,
  tooManyRounds: (most: number): string =>
    t('Stopped after {0} rounds of tool calls. Say “go on” to continue.', most),
};

/** Words of the status bar. */
export const agentLabels = {
  waitingName: (): string => t('Sallyport: what waits'),
  waitingCount: (count: number): string => t('{0} waiting', count),
  waitingTooltip: (): string => t('Sallyport: review what waits for your decision'),
  waitingSpoken: (count: number): string =>
    count === 1
      ? t('Sallyport: one thing waits for your decision')
      : t('Sallyport: {0} things wait for your decision', count),
};
