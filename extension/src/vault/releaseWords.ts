import { l10n } from 'vscode';
import type { VaultWish } from '../../../protocol/src/vault.ts';
import { vaultUseWords } from '../../../protocol/src/vaultUse.ts';
import { plain } from '../plainText.ts';

const t = l10n.t;

/** Why a card, plugin or command does not get a value, and what a person can do. They end in the reason of a run. */
export const releaseWords = {
  noGrant: ({ item, field, use }: VaultWish): string =>
    t(
      'there is no grant for {0} of the vault item {1} {2}',
      plain(field),
      plain(item),
      plain(vaultUseWords(use)),
    ),
  onlyCards: (): string => t('vault values are given to cards alone in this way'),
  answerIt: (): string => t('It waits in the Vault view for your answer.'),
  notFound: (item: string, field: string): string =>
    t('there is no field {0} of a vault item {1}', plain(field), plain(item)),
  saveIt: (): string => t('Save it in the Vault view.'),
  unlockOrSave: (): string => t('Unlock the personal vault if it is there, or save it in the Vault view.'),
  strayHost: ({ item }: Pick<VaultWish, 'item'>, host: string): string =>
    t('the vault item {0} was not saved for {1}', plain(item), plain(host)),
  addHost: (): string => t('Add the host to the item if the value belongs there.'),
  tooShort: ({ item, field }: VaultWish): string =>
    t(
      '{0} of the vault item {1} is shorter than six characters, so it could not be kept out of logs',
      plain(field),
      plain(item),
    ),
  useLonger: (): string => t('Use a longer value.'),
  refused: ({ item, field }: Pick<VaultWish, 'item' | 'field'>, code: string): string =>
    t('the vault does not give {0} of {1} ({2})', plain(field), plain(item), plain(code)),
  lookAtVault: (): string => t('Look at it in the Vault view.'),
} as const;

/** Why a request of a plugin is not made with a value. The plugin is told, and so is the network log. */
export const fetchWords = {
  noGrant: (host: string): string => t('no grant of the vault is in force for {0}', plain(host)),
  locked: (host: string): string => t('the vault with the value for {0} is locked', plain(host)),
  notCalled: (): string => t('no page of this window waits for that plugin'),
  noRule: (host: string): string => t('no rule of the plugin names {0}', plain(host)),
  notSecure: (host: string): string => t('a vault value is sent to {0} over https only', plain(host)),
  unfit: (label: string): string =>
    t('the value {0} can’t be used in this way, or could not be kept out of the answer', plain(label)),
  late: (): string => t('No whole answer came in time'),
  cancelled: (): string => t('The request was cancelled'),
  remedy: (what: 'grant' | 'host' | 'unlock' | 'value' | 'vault'): string => {
    switch (what) {
      case 'grant':
        return t('Let the plugin use a value with “Sallyport: Let a Plugin Use a Value”.');
      case 'host':
        return releaseWords.addHost();
      case 'unlock':
        return t('Unlock the vault.');
      case 'value':
        return t('Look at the value in the Vault view.');
      case 'vault':
        return releaseWords.lookAtVault();
    }
  },
} as const;

/** Why a key of the vault does not sign in to a place. */
export const sshWords = {
  noSignIn: (): string => t('What was to be signed is no request to sign in over SSH with that key'),
  noPlace: (): string => t('That is no place over SSH'),
  noKey: (host: string): string => t('no open vault has that key for {0}', plain(host)),
  noGrant: (title: string, place: string): string =>
    t('“{0}” of the vault was not allowed to sign in to {1}', plain(title), plain(place)),
  twoKeys: (title: string): string =>
    t('the private and the public key of “{0}” in the vault do not belong together', plain(title)),
  refused: (title: string, code: string): string =>
    t('the vault does not sign with “{0}” ({1})', plain(title), plain(code)),
  cancelled: (): string => t('The connection was given up'),
} as const;
