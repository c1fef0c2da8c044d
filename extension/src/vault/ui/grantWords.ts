import { l10n } from 'vscode';
import { vaultUseWords } from '../../../../protocol/src/vaultUse.ts';
import { principalWord } from '../../agentMessages.ts';
import { timestamp } from '../../figures.ts';
import { plain, short } from '../../plainText.ts';
import type { Grant, GrantLimits, GrantRefusal } from '../core/grants.ts';

const t = l10n.t;

/** Who gets what and how, in Sallyport's words from parsed fields; `title` is the item's. */
export function grantSentence(
  grant: Pick<Grant, 'principal' | 'field' | 'item' | 'use'>,
  title: string,
): string {
  return t(
    '{0} uses “{1}” of “{2}” {3}',
    grantee(grant.principal),
    plain(grant.field),
    plain(title),
    plain(vaultUseWords(grant.use)),
  );
}

export function grantee(principal: string): string {
  const [, card] = /^card:(.+)$/.exec(principal) ?? [];
  if (card !== undefined) return t('The card {0}', plain(card));
  const [, place] = /^place:(.+)$/.exec(principal) ?? [];
  if (place !== undefined) return t('The place {0}', plain(place));
  const [, app, plugin] = /^plugin:([^/]+)\/(.+)$/.exec(principal) ?? [];
  if (app !== undefined) return t('The plugin {0} of the app {1}', plain(plugin ?? ''), plain(app));
  if (principal.startsWith('connection:')) return t('A model connection of yours');
  const [, command] = /^command:(.+)$/.exec(principal) ?? [];
  return command === undefined ? principalWord(principal) : t('The command {0}', plain(command));
}

export function limitsWord({ count, until }: GrantLimits): string {
  if (count === null && until === null) return t('until you revoke it');
  const parts = [
    ...(count === null ? [] : [count === 1 ? t('once') : t('{0} times', count)]),
    ...(until === null ? [] : [t('until {0}', timestamp(until))]),
  ];
  return parts.join(', ');
}

export function refusalWord(refusal: GrantRefusal | undefined): string {
  switch (refusal) {
    case undefined:
      return t('in force');
    case 'pending':
      return t('waits for you');
    case 'declined':
      return t('declined');
    case 'revoked':
      return t('revoked');
    case 'expired':
      return t('expired');
    case 'used-up':
      return t('used up');
    case 'item-removed':
      return t('the item was removed');
    case 'item-changed':
      return t('the item was changed since');
    case 'unknown':
      return t('gone');
  }
}

export const grantWords = {
  title: (left: number): string =>
    left === 0 ? t('A value is asked for') : t('A value is asked for ({0} more wait)', left),
  asked: (): string => t('What is asked'),
  what: (field: string, title: string): string => t('“{0}” of “{1}”', plain(field), plain(title)),
  how: (grant: Pick<Grant, 'use'>): string => plain(vaultUseWords(grant.use)),
  openText: (): string => t('Open whole text'),
  readFirst: (): string => t('needed before you can allow'),
  textTitle: (): string => t('A request for a vault value'),
  answer: (): string => t('Your answer'),
  inPersonal: (): string => t('It is in your personal vault: allowing it needs presence.'),
  inAgents: (): string => t('It is in the agents’ vault.'),
  project: (name: string): string => t('For the project {0}', plain(name)),
  otherProject: (): string => t('For a project that is not open in this window'),
  noProject: (): string => t('For no project'),
  forInstallation: (): string => t('For the app as it is installed: deleting it ends this'),
  reason: (reason: string): string => t('It says: {0}', short(reason, 300)),
  asWished: (limits: GrantLimits): string => t('Allow {0}', limitsWord(limits)),
  once: (): string => t('Allow once'),
  hour: (): string => t('Allow for an hour'),
  decline: (): string => t('Decline'),
  later: (): string => t('Decide later'),
  waiting: (count: number) => ({
    text:
      count === 1
        ? t('Somebody asks for a value of the vault.')
        : t('{0} requests for values of the vault wait.', count),
    button: t('Review'),
  }),
  list: (): string => t('Grants of the open vaults: choose one to revoke it'),
  used: (count: number): string => (count === 1 ? t('used once') : t('used {0} times', count)),
  revokeQuestion: (sentence: string) => ({
    text: t('Revoke this? {0}', sentence),
    button: t('Revoke'),
  }),
  usesTitle: (): string => t('Uses of vault values'),
  usesEmpty: (): string => t('No value was used yet.'),
  usesHead: (): string[] => [t('time'), t('who'), t('item'), t('field'), t('host')],
  person: (): string => t('you'),
  notInVault: (item: string): string =>
    t(
      'The permission was accepted, but no open vault has the item “{0}”. Add it, or unlock your personal vault, and review the permissions again.',
      plain(item),
    ),
};
