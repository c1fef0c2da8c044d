import { l10n } from 'vscode';
import { vaultPlaceWords, vaultUseWords } from '../../../../protocol/src/vaultUse.ts';
import type { RequestUse } from '../../../../remote-agent/src/vault/injection.ts';
import type { Notice } from '../../messages.ts';
import { plain, short } from '../../plainText.ts';
import type { PluginWish } from './pluginWishes.ts';
import type { WishState } from './wishState.ts';

const t = l10n.t;

/** Words of answering what plugins wish for. What a plugin calls a value is shown as a name, never as a sentence. */
export const wishWords = {
  title: ({ plugin, appName }: Pick<PluginWish, 'plugin' | 'appName'>): string =>
    t('The plugin {0} of {1} would like a value', plain(plugin), short(appName, 60)),
  /** Two lines of the review of an install, each short enough for a list to show it whole. */
  review: (use: RequestUse): string => t('Would like a vault value for {0}', plain(use.hosts.join(', '))),
  reviewNote: (): string => t('you choose it'),
  reviewHow: ({ item, field, use }: Pick<PluginWish, 'item' | 'field' | 'use'>): string =>
    t('{0} of {1}, {2}', plain(field), plain(item), plain(vaultPlaceWords(use))),
  placeHolder: (): string => t('Choose a value for it, or none'),
  wished: (): string => t('What it would like'),
  called: ({ item, field }: Pick<PluginWish, 'item' | 'field'>): string =>
    t('It calls it “{0}” of “{1}”', plain(field), plain(item)),
  how: ({ use }: Pick<PluginWish, 'use'>): string => plain(vaultUseWords(use)),
  now: (title: string, field: string): string => t('Now: {0}', wishWords.value(title, field)),
  values: (): string => t('Your values'),
  value: (title: string, field: string): string => `${plain(title)} · ${plain(field)}`,
  sameName: (): string => t('has the name that it calls it by'),
  fitting: (): string => t('was saved for this host'),
  answer: (): string => t('Your answer'),
  unlock: (): string => t('Unlock the personal vault…'),
  add: (): string => t('Add a value to the vault…'),
  none: (): string => t('No value: it asks without one'),
  later: (): string => t('Decide later'),
  choose: (): string => t('Which wish?'),
  state: (state: WishState): string => {
    switch (state) {
      case 'given':
        return t('a value is given');
      case 'ended':
        return t('what was given has ended');
      case 'none':
        return t('no value');
      case 'waiting':
        return t('waits for your answer');
    }
  },
  /** What the grant is bound to. */
  forWish: (): string =>
    t(
      'For the app as it is installed and this wish of its plugin: deleting or changing one of them ends this',
    ),
  noneGiven: ({ plugin, appName }: Pick<PluginWish, 'plugin' | 'appName'>): Notice => ({
    severity: 'info',
    text: t('{0} of {1} asks without a value.', plain(plugin), short(appName, 60)),
  }),
  waits: ({ app, appName }: Pick<PluginWish, 'app' | 'appName'>): Notice => ({
    severity: 'info',
    text: t('{0} asks without a value until you choose one.', short(appName, 60)),
    action: { title: t('Choose'), command: 'sallyport.choosePluginValues', args: [{ app }] },
  }),
  noWishes: (): Notice => ({
    severity: 'info',
    text: t('No installed plugin wishes for a value.'),
  }),
} as const;
