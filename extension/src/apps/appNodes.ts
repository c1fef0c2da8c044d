import type { AppView, PermissionLine } from '../../../protocol/src/apps.ts';
import { appLabels as labels } from '../appMessages.ts';
import { plain, short } from '../plainText.ts';
import type { WishState } from '../vault/ui/wishState.ts';
import { wishWords } from '../vault/ui/wishWords.ts';
import type { TreeNode } from '../views/treeNode.ts';

type PluginView = AppView['plugins'][number];

/** What became of a wish of a plugin, by the key of its permission. */
export type WishStateOf = (app: AppView, plugin: string, key: string) => WishState;

/** The Apps view: each app with what it may do, its plugins and its disk; then the deleted ones that are kept. */
export function appNodes(all: readonly AppView[], wishState: WishStateOf = () => 'waiting'): TreeNode[] {
  const apps = all.filter(({ deletedUntil }) => deletedUntil === null);
  const deleted = all.filter(({ deletedUntil }) => deletedUntil !== null);
  const nodes = apps.map((app) => appNode(app, wishState));
  if (deleted.length === 0) return nodes;
  return [
    ...nodes,
    {
      id: 'deleted',
      label: labels.deleted(deleted.length),
      icon: { name: 'trash' },
      kind: 'deletedApps',
      children: deleted.map(deletedNode),
    },
  ];
}

function appNode(app: AppView, wishState: WishStateOf): TreeNode {
  const off = app.plugins.filter(({ state }) => state === 'off' || state === 'switched-off').length;
  const hasError = app.lastError !== null || app.plugins.some(({ lastError }) => lastError !== null);
  const description = [
    labels.version(app.appVersion),
    ...(app.waiting ? [labels.waitingShort()] : []),
    ...(off > 0 ? [labels.pluginsOff(off)] : []),
    ...(hasError ? [labels.hasError()] : []),
  ].join(' · ');
  const name = plain(app.name);
  return {
    id: app.id,
    label: name,
    description,
    tooltip: `${name}\n${description}\n${labels.from(app.source)}`,
    spoken: `${name}, ${description}`,
    icon: app.waiting
      ? { name: 'bell-dot', color: 'problemsWarningIcon.foreground' }
      : hasError
        ? { name: 'warning', color: 'problemsWarningIcon.foreground' }
        : { name: 'window' },
    kind: app.waiting ? 'app.waiting' : 'app',
    app: app.id,
    children: appDetails(app, wishState),
  };
}

function appDetails(app: AppView, wishState: WishStateOf): TreeNode[] {
  const about = { app: app.id };
  const id = (part: string): string => `${app.id}\n${part}`;
  const details: TreeNode[] = [];
  if (app.waiting) {
    details.push({
      ...about,
      id: id('waiting'),
      label: labels.waiting(app.waiting.appVersion),
      icon: { name: 'bell-dot', color: 'problemsWarningIcon.foreground' },
      kind: 'appUpdate',
      command: { id: 'sallyport.reviewAppUpdate', title: labels.review() },
    });
  }
  if (app.lastError !== null) details.push(errorNode(id('error'), app.lastError, about));
  details.push(...permissionNodes(app.permissions, id('page'), about, true));
  details.push(...app.plugins.map((plugin) => pluginNode(app, plugin, wishState)));
  const usage =
    app.quotaBytes === 0
      ? labels.usageWithoutQuota(app.codeBytes)
      : labels.usage(app.codeBytes, app.dataBytes, app.quotaBytes);
  const from = labels.from(app.source);
  details.push(
    { ...about, id: id('disk'), label: usage, icon: { name: 'database' }, kind: 'appFact' },
    {
      ...about,
      id: id('source'),
      label: short(from, 120),
      description: [
        ...(app.commit === null ? [] : [labels.commit(app.commit)]),
        ...(app.isOfficial ? [labels.official()] : []),
      ].join(' · '),
      tooltip: [from, app.commit ?? ''].filter((line) => line !== '').join('\n'),
      icon: { name: app.isOfficial ? 'verified' : 'source-control' },
      kind: 'appFact',
    },
  );
  return details;
}

const pluginIcons: Readonly<Record<PluginView['state'], TreeNode['icon']>> = {
  on: { name: 'extensions' },
  off: { name: 'circle-slash' },
  'switched-off': { name: 'error', color: 'problemsErrorIcon.foreground' },
  removed: { name: 'trash' },
};

function pluginNode(app: AppView, plugin: PluginView, wishState: WishStateOf): TreeNode {
  const about = { app: app.id, plugin: plugin.id };
  const id = (part: string): string => `${app.id}\nplugin ${plugin.id}\n${part}`;
  const label = labels.plugin(plugin.id);
  const state = labels.pluginState(plugin.state);
  const description = plugin.lastError === null ? state : `${state} · ${labels.hasError()}`;
  const reason: TreeNode[] =
    plugin.reason === null
      ? []
      : [
          {
            ...about,
            id: id('reason'),
            label: short(plugin.reason, 200),
            tooltip: plain(plugin.reason),
            icon: { name: 'info' },
            kind: 'appFact',
          },
        ];
  return {
    ...about,
    id: id(''),
    label,
    description,
    tooltip: [label, description, plugin.reason ?? '']
      .filter((line) => line !== '')
      .map(plain)
      .join('\n'),
    spoken: `${label}, ${description}`,
    icon: pluginIcons[plugin.state] ?? { name: 'extensions' },
    kind: plugin.state === 'switched-off' ? 'plugin.off' : `plugin.${plugin.state}`,
    isExpanded: plugin.state === 'switched-off',
    children: [
      ...reason,
      ...(plugin.lastError === null ? [] : [errorNode(id('error'), plugin.lastError, about)]),
      ...permissionNodes(plugin.permissions, id('permissions'), about, false),
      ...plugin.permissions
        .filter(({ permission }) => permission.name === 'vaultWish')
        .map((line) => wishNode(line, id('permissions'), about, wishState(app, plugin.id, line.key))),
    ],
  };
}

type About = Pick<TreeNode, 'app' | 'plugin'>;

function errorNode(id: string, text: string, about: About): TreeNode {
  return {
    ...about,
    id,
    label: short(labels.lastError(text), 200),
    tooltip: plain(text),
    icon: { name: 'warning', color: 'problemsWarningIcon.foreground' },
    kind: 'appError',
    command: { id: 'sallyport.openAppLog', title: labels.openLog() },
  };
}

function permissionNodes(
  permissions: readonly PermissionLine[],
  id: string,
  about: About,
  isPage: boolean,
): TreeNode[] {
  if (permissions.length === 0) {
    return [
      {
        ...about,
        id: `${id}\nnone`,
        label: isPage ? labels.reachesNothing() : labels.pluginReachesNothing(),
        tooltip: labels.reachesNothingTooltip(),
        icon: { name: 'shield' },
        kind: 'appFact',
      },
    ];
  }
  const rights = permissions.filter(({ permission }) => permission.name !== 'vaultWish');
  return rights.map(({ key, sentence, isLocal }) => ({
    ...about,
    id: `${id}\n${key}`,
    label: plain(sentence),
    ...(isLocal && { description: labels.local() }),
    icon: isLocal
      ? { name: 'warning', color: 'problemsWarningIcon.foreground' }
      : { name: 'workspace-trusted', color: 'testing.iconPassed' },
    kind: 'appFact',
  }));
}

function wishNode({ key, sentence }: PermissionLine, id: string, about: About, state: WishState): TreeNode {
  const description = wishWords.state(state);
  return {
    ...about,
    id: `${id}\n${key}`,
    label: plain(sentence),
    description,
    tooltip: `${plain(sentence)}\n${description}`,
    icon:
      state === 'waiting' || state === 'ended'
        ? { name: 'bell-dot', color: 'problemsWarningIcon.foreground' }
        : { name: state === 'given' ? 'key' : 'circle-slash' },
    kind: 'plugin.wish',
    wish: key,
    command: { id: 'sallyport.choosePluginValues', title: wishWords.placeHolder() },
  };
}

function deletedNode(app: AppView): TreeNode {
  const name = plain(app.name);
  const kept = labels.deletedUntil(app.deletedUntil ?? 0);
  return {
    id: `deleted\n${app.id}`,
    label: name,
    description: kept,
    tooltip: `${name}\n${kept}\n${labels.usage(app.codeBytes, app.dataBytes, app.quotaBytes)}`,
    icon: { name: 'window' },
    kind: 'deletedApp',
    app: app.id,
  };
}
