import type {
  Decision,
  EffectKind,
  Grant,
  GrantKind,
  Principal,
  Target,
} from '../../../protocol/src/gate.ts';

/** Everything a decision may look at. It holds no text of the one who asks. */
export interface Facts {
  readonly principal: Principal;
  readonly effect: EffectKind;
  readonly targets: readonly Target[];
  /** Number of permissions that would widen. */
  readonly widens: number;
  readonly trusted: boolean;
  readonly mode: 'plan' | 'act';
  /** Grants of this scope that are in force. */
  readonly grants: readonly Grant[];
  readonly conversation: string | null;
}

interface Row {
  readonly id: string;
  /** For people, both where it decided and where it nearly did. */
  readonly text: string;
  readonly verdict: Decision['verdict'];
  readonly when: (facts: Facts) => boolean;
  /** A grant of this kind would have made asking unnecessary. */
  readonly grantable?: (facts: Facts) => GrantKind | null;
}

/** What a grant of each kind can cover. An effect that is in none of them is never covered by a grant. */
export const grantFor: Readonly<Partial<Record<EffectKind, GrantKind>>> = {
  read: 'read',
  search: 'read',
  shell: 'read',
  write: 'write',
  delete: 'write',
  rename: 'write',
  saveCard: 'write',
  run: 'run',
  projectShell: 'shell',
};

const changing: ReadonlySet<EffectKind> = new Set([
  'write',
  'delete',
  'rename',
  'saveCard',
  'run',
  'projectShell',
  'undo',
  'deleteHistory',
  'clearCache',
]);
const writing: ReadonlySet<EffectKind> = new Set(['write', 'delete', 'rename', 'saveCard', 'undo']);
const eachTime: ReadonlySet<EffectKind> = new Set(['deleteHistory', 'clearCache', 'fetch']);

/** True for what changes files, runs code or takes something away: what plan mode refuses. */
export function changesWorld(effect: EffectKind): boolean {
  return changing.has(effect);
}

/** The app whose page or plugin it is. */
const appOf = (principal: Principal): string | undefined =>
  /^(?:app:|plugin:)([a-z0-9-]+)(?:\/[a-z0-9-]+)?$/.exec(principal)?.[1];
const isAgent = ({ principal }: Facts) => principal === 'agent' || principal === 'external-agent';
const isPerson = ({ principal }: Facts) => principal === 'person';

/**
 * The decision table. The first row whose condition holds decides; the last one denies. Order is the rule: what no
 * grant can lift stands above the grants.
 */
export const decisionTable: readonly Row[] = [
  {
    id: 'own-storage',
    text: 'A person accepted that this app stores files of its own. They lie outside of every workspace.',
    verdict: 'allow',
    when: ({ principal, effect, widens, targets }) =>
      effect === 'store' &&
      widens === 0 &&
      targets.length === 1 &&
      targets.every(
        ({ kind, name, isOutside, measure }) =>
          kind === 'storage' && name === appOf(principal) && !isOutside && measure !== null,
      ),
  },
  {
    id: 'untrusted',
    text: 'This workspace is not trusted: nothing is done in it.',
    verdict: 'deny',
    when: ({ trusted, effect, widens }) => !trusted && (effect !== 'ask' || widens > 0),
  },
  {
    id: 'person',
    text: 'A person asked for this in Sallyport’s own interface.',
    verdict: 'allow',
    when: isPerson,
  },
  {
    id: 'app-provider',
    text: 'A person accepted that this app or plugin asks connected models.',
    verdict: 'allow',
    when: ({ principal, effect, widens, targets }) =>
      /^(app|plugin):/.test(principal) &&
      effect === 'provider' &&
      widens === 0 &&
      targets.every(({ kind, isOutside }) => kind === 'connection' && !isOutside),
  },
  {
    id: 'plugin-value',
    text: 'A person let this plugin use this vault value for this host; the vault looks at the grant again.',
    verdict: 'allow',
    when: ({ principal, effect, widens, targets }) =>
      principal.startsWith('plugin:') &&
      effect === 'fetch' &&
      widens === 0 &&
      targets.length > 0 &&
      targets.every(({ kind, isOutside, measure }) => kind === 'host' && !isOutside && measure !== null),
  },
  {
    id: 'not-an-agent',
    text: 'Only an agent may ask for this; apps, plugins and cards have their own permissions.',
    verdict: 'deny',
    when: (facts) => !isAgent(facts),
  },
  {
    id: 'plan-mode',
    text: 'In plan mode nothing is changed and nothing is run. Switch the conversation to act mode.',
    verdict: 'deny',
    when: ({ mode, effect }) => mode === 'plan' && changing.has(effect),
  },
  {
    id: 'undo',
    text: 'Only a person undoes and redoes.',
    verdict: 'deny',
    when: ({ effect }) => effect === 'undo',
  },
  {
    id: 'write-outside',
    text: 'An agent changes nothing outside the project’s folder, links included.',
    verdict: 'deny',
    when: ({ effect, targets }) => writing.has(effect) && targets.some(({ isOutside }) => isOutside),
  },
  {
    id: 'external-provider',
    text: 'An external agent has a model of its own and does not use the connections of Sallyport.',
    verdict: 'deny',
    when: ({ principal, effect }) => principal === 'external-agent' && effect === 'provider',
  },
  {
    id: 'widening',
    text: 'It would open a permission. No grant covers that.',
    verdict: 'ask',
    when: ({ widens }) => widens > 0,
  },
  {
    id: 'protected',
    text: 'It touches a protected file. Those are asked for every time.',
    verdict: 'ask',
    when: ({ effect, targets }) =>
      (writing.has(effect) || effect === 'projectShell') &&
      effect !== 'saveCard' &&
      targets.some(({ isProtected }) => isProtected),
  },
  {
    id: 'read-outside',
    text: 'It reads outside the project’s folder. No grant covers that.',
    verdict: 'ask',
    when: ({ targets }) => targets.some(({ isOutside }) => isOutside),
  },
  {
    id: 'shell-internet',
    text: 'This shell could send what it reads to the internet. No grant covers that.',
    verdict: 'ask',
    when: ({ effect, targets }) => effect === 'shell' && targets.some(({ kind }) => kind === 'host'),
  },
  {
    id: 'each-time',
    text: 'This is asked for every time; no grant covers it.',
    verdict: 'ask',
    when: ({ effect }) => eachTime.has(effect),
  },
  {
    id: 'question',
    text: 'Asking a person a question changes nothing.',
    verdict: 'allow',
    when: ({ effect }) => effect === 'ask',
  },
  {
    id: 'vault-question',
    text: 'The vault puts this question to the person itself; no other answer releases a value.',
    verdict: 'allow',
    when: ({ effect }) => effect === 'askVault',
  },
  {
    id: 'provider',
    text: 'The person chose this connection for the conversation.',
    verdict: 'allow',
    when: ({ principal, effect, conversation }) =>
      principal === 'agent' && effect === 'provider' && conversation !== null,
  },
  {
    id: 'granted',
    text: 'A grant that a person gave covers this.',
    verdict: 'allow',
    when: (facts) => coveringGrant(facts) !== undefined,
  },
  {
    id: 'no-grant',
    text: 'No grant covers this yet.',
    verdict: 'ask',
    when: ({ effect }) => grantFor[effect] !== undefined,
    grantable: ({ effect }) => grantFor[effect] ?? null,
  },
];

const otherwise = { id: 'otherwise', text: 'No rule allows this.' };

/** Decides one act. Pure: the same facts give the same answer. Anything thrown inside a row is a no. */
export function decide(facts: Facts): Decision {
  try {
    const row = decisionTable.find(({ when }) => when(facts));
    if (!row) return { verdict: 'deny', rule: otherwise, grantable: null };
    return {
      verdict: row.verdict,
      rule: { id: row.id, text: row.text },
      grantable: row.grantable?.(facts) ?? null,
    };
  } catch {
    return {
      verdict: 'deny',
      rule: { id: 'check-failed', text: 'The check itself failed, and that means no.' },
      grantable: null,
    };
  }
}

/** The grant that covers every target of the act, if one does. */
export function coveringGrant(facts: Facts): Grant | undefined {
  const wanted = grantFor[facts.effect];
  if (wanted === undefined) return undefined;
  return facts.grants.find(
    (grant) =>
      grant.kind === wanted &&
      (grant.conversation === null || grant.conversation === facts.conversation) &&
      (grant.folder === '' || facts.targets.every((each) => isBelow(grant.folder, each))),
  );
}

function isBelow(folder: string, { kind, name }: Target): boolean {
  return kind === 'path' && (name === folder || name.startsWith(`${folder}/`));
}
