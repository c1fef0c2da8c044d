import { ThemeIcon, window } from 'vscode';
import type { AppView } from '../../../../protocol/src/apps.ts';
import type { Notifier } from '../../notifier.ts';
import { plain } from '../../plainText.ts';
import { askUse } from './askUse.ts';
import { chooseField, type ChosenItem } from './chooseItem.ts';
import { granteeOf, pluginTargets, type PluginTarget } from './pluginTargets.ts';
import { pluginWords as words } from './pluginWords.ts';
import { vaultNotices } from './vaultNotices.ts';

export interface LetPluginUseParts {
  readonly apps: () => Promise<readonly AppView[]>;
  /** Puts the request with this id to the person. */
  readonly review: (grant: string) => Promise<void>;
  readonly notifier: Notifier;
}

/** What a command may have named. */
export interface NamedPlugin {
  readonly field?: string | undefined;
  readonly app?: string | undefined;
  readonly plugin?: string | undefined;
}

/**
 * Lets a person choose a plugin, its hosts and how the value goes into its requests, and puts exactly that before them.
 * The answer is given there and nowhere else.
 */
export async function letPluginUse(
  { vault, item }: ChosenItem,
  named: NamedPlugin,
  { apps, review, notifier }: LetPluginUseParts,
): Promise<void> {
  const field = await chooseField(item, named.field);
  if (field === undefined) return;
  const title = words.title(field, item.title);
  const all = await apps();
  const targets = pluginTargets(all, item.hosts);
  if (targets.length === 0) {
    const isNone = all.every(({ plugins }) => plugins.length === 0);
    notifier.show(vaultNotices.failed(isNone ? words.noApps() : words.noHosts(item.title)));
    return;
  }
  const target =
    targets.find(({ app, plugin }) => app === named.app && plugin === named.plugin) ??
    (await choosePlugin(title, targets));
  const hosts = target && (await chooseHosts(title, target.hosts));
  if (!hosts || hosts.length === 0) return;
  const use = await askUse(title, hosts);
  if (!use) return;
  const { id } = await vault.ask({
    item: item.id,
    field,
    ...granteeOf(target),
    use,
    limits: { count: null, until: null },
    reason: '',
  });
  await review(id);
}

async function choosePlugin(
  title: string,
  targets: readonly PluginTarget[],
): Promise<PluginTarget | undefined> {
  const lines = targets.map((target) => ({
    label: words.plugin(target.plugin, target.appName),
    description: plain(`${target.app}/${target.plugin}`),
    detail: target.hosts.map(plain).join(', '),
    iconPath: new ThemeIcon('plug'),
    target,
  }));
  const chosen = await window.showQuickPick(lines, {
    title,
    placeHolder: words.choosePlugin(),
    matchOnDetail: true,
    ignoreFocusOut: true,
  });
  return chosen?.target;
}

async function chooseHosts(title: string, hosts: readonly string[]): Promise<string[] | undefined> {
  const [only, ...others] = hosts;
  if (only !== undefined && others.length === 0) return [only];
  const chosen = await window.showQuickPick(
    hosts.map((host) => ({ label: plain(host), host })),
    { title, placeHolder: words.chooseHosts(), canPickMany: true, ignoreFocusOut: true },
  );
  return chosen?.map(({ host }) => host);
}
