import { l10n } from 'vscode';
import { plain } from '../../plainText.ts';

const t = l10n.t;

/** Words of choosing a value of the vault as the key of a connection. */
export const keyValueWords = {
  title: (origin: string): string => t('A value of the vault as the key for {0}', plain(origin)),
  choose: (): string => t('Which value?'),
  unlock: (): string => t('Unlock the personal vault…'),
  none: (origin: string): string =>
    t(
      'No open vault has a value that may be sent to {0}. Add one, or add the host to its item, in the Vault view.',
      plain(origin),
    ),
} as const;
