import { l10n } from 'vscode';
import { plain } from './plainText.ts';

/**
 * The texts around places, by the rules of `messages.ts`: what it is about, the value, what to do. Names, fingerprints
 * and prompts come from configurations and hosts, and are shown escaped.
 */
const t = l10n.t;

const at = (host: string, port: number): string => (port === 22 ? plain(host) : `${plain(host)}:${port}`);
const through = (via: readonly string[]): string =>
  via.length === 0 ? '' : ` ${t('It is reached through {0}.', via.map(plain).join(', '))}`;

export const placeWords = {
  firstUse: (place: string, host: string, port: number): string =>
    t('Connect to {0} ({1}) for the first time?', plain(place), at(host, port)),
  firstUseDetail: (keyType: string, fingerprint: string, via: readonly string[]): string =>
    t(
      'Its key is {0}\n{1}\n\nCompare this with what whoever runs the host tells you. Nothing has been sent to it yet.{2}',
      plain(keyType),
      plain(fingerprint),
      through(via),
    ),
  firstUseYes: (): string => t('Connect and Remember the Key'),
  changed: (place: string, host: string, port: number): string =>
    t(
      '{0} ({1}) shows another key than the one that is known. It was not connected to.',
      plain(place),
      at(host, port),
    ),
  changedDetail: (
    shown: { readonly keyType: string; readonly fingerprint: string },
    known: readonly { readonly keyType: string; readonly fingerprint: string; readonly where: string }[],
    via: readonly string[],
  ): string =>
    t(
      'Shown now:\n{0} {1}\n\nKnown:\n{2}\n\nSomeone may be in between, or the host was set up anew. Ask whoever runs it. Only when they confirm the key that is shown now, remove the known line.{3}',
      plain(shown.keyType),
      plain(shown.fingerprint),
      known
        .map((each) => `${plain(each.keyType)} ${plain(each.fingerprint)} (${plain(each.where)})`)
        .join('\n'),
      through(via),
    ),
  secretTitle: (place: string, from: string): string => t('{0}: {1} asks', plain(place), plain(from)),
  noChoice: (host: string): string =>
    t(
      'The setting sallyport.slurm for {0} holds something that can’t be asked of Slurm, so nothing is sent there',
      plain(host),
    ),
  mendChoice: (): string =>
    t(
      'It takes partition, account, qos, constraint and reservation, each one word without blanks and quotes.',
    ),
  passphraseTitle: (place: string): string => t('{0}: a key is locked', plain(place)),
} as const;
