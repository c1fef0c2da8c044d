import { timestamp } from '../../figures.ts';
import { plain } from '../../plainText.ts';
import type { TreeNode } from '../../views/treeNode.ts';
import type { ItemKind, ItemSummary } from '../core/items.ts';
import type { Vault } from '../core/vaultContract.ts';
import type { VaultKind } from '../core/vaultState.ts';
import type { VaultStatus } from '../life/vaultLife.ts';
import {
  fieldKindWord,
  itemKindWord,
  statusExplanation,
  statusWord,
  vaultName,
  vaultWords,
} from './vaultWords.ts';

const dayMs = 24 * 60 * 60 * 1000;
/** From this long before it an expiry is warned of. */
const expiryWarningMs = 14 * dayMs;

const icons: Readonly<Record<ItemKind, string>> = {
  login: 'account',
  token: 'key',
  keyPair: 'gist-secret',
  certificate: 'verified',
  note: 'note',
  database: 'database',
};

/** The Vault view: what waits, then each vault with its items. Names and kinds only: no value comes near it. */
export function vaultNodes(
  statuses: { readonly agents: VaultStatus; readonly personal: VaultStatus },
  now: number,
): TreeNode[] {
  const waiting = [statuses.agents, statuses.personal].reduce(
    (count, status) =>
      status.state === 'open'
        ? count + status.vault.grants().filter(({ state }) => state === 'pending').length
        : count,
    0,
  );
  return [
    ...(waiting === 0 ? [] : [waitingNode(waiting)]),
    vaultNode('agents', statuses.agents, now),
    vaultNode('personal', statuses.personal, now),
  ];
}

function waitingNode(count: number): TreeNode {
  return {
    id: 'vault.waiting',
    label: vaultWords.waits(count),
    description: vaultWords.waitsHint(),
    kind: 'vault.waiting',
    icon: { name: 'bell-dot', color: 'list.warningForeground' },
    command: { id: 'sallyport.reviewVaultRequests', title: vaultWords.waitsHint() },
  };
}

function vaultNode(kind: VaultKind, status: VaultStatus, now: number): TreeNode {
  const name = vaultName(kind);
  const word = statusWord(status);
  const items = status.state === 'open' ? status.vault.list() : [];
  const description = word ?? vaultWords.items(items.length);
  const explanation = statusExplanation(status);
  const isUnguarded = status.state === 'open' && !status.vault.isRollbackGuarded;
  const tooltip = isUnguarded ? vaultWords.unguarded() : explanation;
  return {
    id: `vault.${kind}`,
    label: name,
    description,
    ...(tooltip !== '' && { tooltip: `${name}: ${description}. ${tooltip}` }),
    spoken: vaultWords.spokenVault(name, description),
    kind: `vault.${status.state === 'open' ? 'open' : 'closed'}.${kind}`,
    icon: vaultIcon(status),
    isExpanded: true,
    vault: { kind },
    children:
      status.state === 'open'
        ? [
            ...items.map((item) => itemNode(kind, status.vault, item, now)),
            ...(items.length === 0 ? [wayOut(kind, 'addFirst', 'sallyport.addVaultItem')] : []),
          ]
        : wayOuts(kind, status),
  };
}

function vaultIcon({ state }: VaultStatus): NonNullable<TreeNode['icon']> {
  switch (state) {
    case 'open':
      return { name: 'unlock' };
    case 'locked':
    case 'unknown':
      return { name: 'lock' };
    case 'absent':
      return { name: 'circle-outline' };
    default:
      return { name: 'warning', color: 'list.warningForeground' };
  }
}

/** What a person can do about a vault that is not open, as lines below it. */
function wayOuts(kind: VaultKind, status: VaultStatus): TreeNode[] {
  const restore = wayOut(kind, 'restore', 'sallyport.restoreVault');
  const retry = wayOut(kind, 'retry', 'sallyport.openVault');
  const recover = wayOut(kind, 'recover', 'sallyport.recoverVault');
  switch (status.state) {
    case 'open':
      return [];
    case 'unknown':
      return [wayOut(kind, 'look', 'sallyport.openVault')];
    case 'locked':
      return [wayOut(kind, 'unlock', 'sallyport.openVault')];
    case 'absent':
      return [
        wayOut(kind, kind === 'agents' ? 'create' : 'createPersonal', 'sallyport.createVault'),
        restore,
      ];
    case 'keyring-silent':
      return [retry];
    case 'not-kept':
    case 'device-key-lost':
      return [recover, retry, restore];
    case 'rolled-back':
      return [wayOut(kind, 'openOlder', 'sallyport.openOlderVault'), restore];
    case 'counter-unavailable':
      return [retry, wayOut(kind, 'openOlder', 'sallyport.openOlderVault')];
    case 'tampered':
    case 'other-vault':
      return [restore, retry];
    case 'unsupported':
    case 'unreadable':
      return [retry];
  }
}

function wayOut(
  kind: VaultKind,
  words: keyof typeof vaultWords.wayOut,
  id: NonNullable<TreeNode['command']>['id'],
): TreeNode {
  const label = vaultWords.wayOut[words]();
  return {
    id: `vault.${kind}.way.${words}`,
    label,
    kind: 'vault.way',
    icon: { name: 'arrow-right' },
    command: { id, title: label },
    vault: { kind },
  };
}

function itemNode(kind: VaultKind, vault: Vault, item: ItemSummary, now: number): TreeNode {
  const id = `vault.${kind}.item.${item.id}`;
  const target = { kind, item: item.id };
  const expiry = expiryOf(item, now);
  const parts = [
    itemKindWord(item.kind),
    ...(expiry ? [expiry.text] : []),
    ...item.tags.map((tag) => `#${plain(tag)}`),
  ];
  const granted = vault
    .grants()
    .filter((grant) => grant.item === item.id && grant.state === 'accepted').length;
  return {
    id,
    label: plain(item.title),
    description: parts.join(' · '),
    tooltip: [
      plain(item.title),
      `${itemKindWord(item.kind)}, ${item.id}`,
      vaultWords.savedAt(item.version, timestamp(item.savedAt)),
      vaultWords.sentTo(item.hosts),
      ...(expiry ? [expiry.text] : []),
    ].join('\n'),
    kind: granted > 0 ? 'vault.item.granted' : 'vault.item',
    icon: { name: icons[item.kind], ...(expiry && { color: 'list.warningForeground' }) },
    vault: target,
    children: [
      ...item.fields.map((field): TreeNode => ({
        id: `${id}.field.${field.name}`,
        label: plain(field.name),
        description: `${fieldKindWord(field.kind)} · ${vaultWords.sealed()}`,
        kind: 'vault.field',
        icon: { name: 'lock-small' },
        command: { id: 'sallyport.revealVaultField', title: vaultWords.reveal() },
        vault: { ...target, field: field.name },
      })),
      {
        id: `${id}.hosts`,
        label: vaultWords.sentTo(item.hosts),
        kind: 'vault.hosts',
        icon: { name: 'globe' },
        vault: target,
      },
    ],
  };
}

/** Undefined where there is none to speak of yet. */
function expiryOf(
  { expiresAt }: Pick<ItemSummary, 'expiresAt'>,
  now: number,
): { readonly text: string; readonly isOver: boolean } | undefined {
  if (expiresAt === null || expiresAt > now + expiryWarningMs) return undefined;
  const day = timestamp(expiresAt).slice(0, 10);
  const isOver = expiresAt <= now;
  return { text: isOver ? vaultWords.expired(day) : vaultWords.expires(day), isOver };
}
