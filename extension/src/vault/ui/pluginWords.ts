import { l10n } from 'vscode';
import { plain } from '../../plainText.ts';

const t = l10n.t;

/** How a value can go into requests. */
export type UseKind = 'bearer' | 'header' | 'basic' | 'query';

/** Words of the steps by which a person lets a plugin use a value. */
export const pluginWords = {
  title: (field: string, title: string): string =>
    t('Let a plugin use “{0}” of “{1}”', plain(field), plain(title)),
  choosePlugin: (): string => t('Which plugin?'),
  plugin: (plugin: string, app: string): string => t('{0} of {1}', plain(plugin), plain(app)),
  chooseHosts: (): string => t('For which of the hosts that the plugin may reach?'),
  chooseUse: (): string => t('How does the host want it?'),
  use: (kind: UseKind): string => {
    switch (kind) {
      case 'bearer':
        return t('As a bearer token');
      case 'header':
        return t('In another header…');
      case 'basic':
        return t('As the password of Basic sign-in…');
      case 'query':
        return t('In the address…');
    }
  },
  useDetail: (kind: UseKind): string => {
    switch (kind) {
      case 'bearer':
        return t('Authorization: Bearer VALUE');
      case 'header':
        return t('X-Api-Key: VALUE');
      case 'basic':
        return t('Authorization: Basic, with a user name of yours');
      case 'query':
        return t('…?key=VALUE; servers often write addresses into their logs');
    }
  },
  headerPrompt: (): string => t('Name of the header'),
  headerProblem: (): string => t('That is no header that a value can go into.'),
  userPrompt: (): string => t('User name; empty for none'),
  userProblem: (): string => t('Letters, digits and signs of ASCII, without a colon.'),
  queryPrompt: (): string => t('Name in the address, such as key'),
  queryProblem: (): string => t('Letters, digits and . _ ~ -'),
  noApps: (): string => t('No app with a plugin is installed.'),
  noHosts: (title: string): string =>
    t(
      'No installed plugin may reach a host that “{0}” was saved for. A host that stands for many, such as *.example.org, can’t be chosen. Add the host to the item if the value belongs there.',
      plain(title),
    ),
} as const;
