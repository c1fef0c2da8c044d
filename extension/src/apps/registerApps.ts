import { join } from 'node:path';
import { window, workspace, ConfigurationTarget } from 'vscode';
import { appLabels } from '../appMessages.ts';
import { viewIds } from '../commandIds.ts';
import { together, type Disposable } from '../disposable.ts';
import type { Services } from '../services.ts';
import { NodeTree } from '../views/nodeTree.ts';
import { wishesOf } from '../vault/ui/pluginWishes.ts';
import { stateOf, unansweredOf } from '../vault/ui/registerWishes.ts';
import { appNodes, type WishStateOf } from './appNodes.ts';
import { NewApp } from './newApp/newApp.ts';
import { newAppFolder } from './newApp/newAppFolder.ts';
import { readTemplate } from './newApp/readTemplate.ts';
import { AppPicker } from './pickApp.ts';
import { AppProgress } from './appProgress.ts';
import { AppsList } from './appsList.ts';
import { AppStore } from './appStore.ts';
import { parseAppTarget } from './appTarget.ts';
import { createAppDrop } from './dropApp.ts';
import { InstallApp } from './installApp.ts';
import { ManageApps } from './manageApps.ts';
import { AppReviewer } from './reviewApp.ts';
import { UpdateApps } from './updateApps.ts';

/** The Apps view and every command about apps. */
export function registerApps(services: Services): Disposable {
  const { appPanels, commands, engine, log, notifier, reports, settings } = services;
  const list = new AppsList(engine, log);
  const picker = new AppPicker(list, notifier);
  const progress = new AppProgress(engine);
  const reviewer = new AppReviewer({
    engine,
    reports,
    notifier,
    progress,
    log,
    onInstalled: async (app) => {
      if (unansweredOf(app, services.vault).length > 0)
        await commands.run('sallyport.choosePluginValues', { app: app.id });
    },
  });
  const store = new AppStore({ engine, progress, notifier, settings: storeSettings(settings) });
  const install = new InstallApp({
    engine,
    progress,
    reviewer,
    notifier,
    chooseFromStore: () => store.choose(),
  });
  const newApp = new NewApp({
    readTemplate: () => readTemplate(join(services.extensionUri.fsPath, 'dist', 'newApp.json')),
    folder: newAppFolder,
    notifier,
  });
  const updates = new UpdateApps({ engine, progress, notifier, log });
  const manage = new ManageApps({ engine, progress, notifier, reports });

  const setPlugin =
    (state: 'on' | 'off' | 'removed', from: Parameters<typeof picker.plugin>[1]) =>
    async (...args: unknown[]): Promise<void> => {
      const found = await picker.plugin(parseAppTarget(args), from);
      if (found) await manage.setPlugin(found.app, found.plugin, state);
    };

  return together(
    list,
    progress,
    registerView(services, list, install, updates),
    commands.register('sallyport.newApp', () => newApp.run()),
    commands.register('sallyport.installApp', async (...args) => {
      const { folder } = parseAppTarget(args);
      if (folder !== undefined && newApp.hasWritten(folder))
        await install.from({ kind: 'folder', path: folder });
      else await install.run();
    }),
    commands.register('sallyport.importApp', () => install.importBackup()),
    commands.register('sallyport.openApp', async (...args) => {
      const app = await picker.app(parseAppTarget(args));
      if (app) await appPanels.open(app.id);
    }),
    commands.register('sallyport.browseApps', async () => {
      const source = await store.choose();
      if (source) await install.from(source);
    }),
    commands.register('sallyport.checkAppUpdates', async (...args) => {
      const { app: named } = parseAppTarget(args);
      const app = named === undefined ? undefined : await picker.app({ app: named });
      const apps = named === undefined ? await list.apps() : app ? [app] : [];
      if (apps.length > 0) await updates.check(apps);
      else if (named === undefined) await picker.app({});
    }),
    commands.register('sallyport.reviewAppUpdate', async (...args) => {
      const app = await picker.waiting(parseAppTarget(args));
      if (!app?.waiting) return;
      await reviewer.review(await engine.call('app/review', { stageId: app.waiting.stageId }));
    }),
    commands.register('sallyport.switchPluginOn', setPlugin('on', ['off', 'switched-off'])),
    commands.register('sallyport.switchPluginOff', setPlugin('off', ['on'])),
    commands.register('sallyport.removePlugin', setPlugin('removed', ['on', 'off', 'switched-off'])),
    commands.register('sallyport.deleteApp', async (...args) => {
      // The sizes that are shown are those of this moment.
      list.forget();
      const app = await picker.app(parseAppTarget(args));
      if (app) await manage.delete(app);
    }),
    commands.register('sallyport.restoreApp', async (...args) => {
      const app = await picker.deleted(parseAppTarget(args));
      if (app) await manage.restore(app);
    }),
    commands.register('sallyport.exportApp', async (...args) => {
      const app = await picker.app(parseAppTarget(args));
      if (app) await manage.export(app);
    }),
    commands.register('sallyport.openAppLog', async (...args) => {
      const app = await picker.app(parseAppTarget(args));
      if (app) await manage.openLog(app);
    }),
  );
}

/** The tree, its badge, what is dropped on it, and the one look for updates that the settings may ask for. */
function registerView(
  services: Services,
  list: AppsList,
  install: InstallApp,
  updates: UpdateApps,
): Disposable {
  const { engine, log, notifier, settings, vault } = services;
  const wishState: WishStateOf = (app, plugin, key) => {
    const wish = wishesOf([app]).find((each) => each.plugin === plugin && each.key === key);
    return wish ? stateOf(services, wish) : 'none';
  };
  const tree = new NodeTree(async () => {
    try {
      const all = await list.all();
      const waiting = all.filter((app) => app.waiting !== null && app.deletedUntil === null).length;
      view.badge = waiting === 0 ? undefined : { value: waiting, tooltip: appLabels.waitingCount(waiting) };
      return appNodes(all, wishState);
    } catch {
      // The list has logged it.
      isUnread = true;
      return [];
    }
  });
  let isUnread = false;
  const view = window.createTreeView(viewIds.apps, {
    treeDataProvider: tree,
    showCollapseAll: true,
    dragAndDropController: createAppDrop(notifier, (path) => install.dropped(path)),
  });
  let hasLooked = false;
  const lookOnce = async (): Promise<void> => {
    if (hasLooked || !view.visible || settings.checkForAppUpdates !== 'whenShown') return;
    hasLooked = true;
    await updates.checkQuietly(await list.apps());
  };
  return together(
    tree,
    view,
    list.onDidChange(() => tree.refresh()),
    vault.answers.onDidChange(() => tree.refresh()),
    vault.vaults.onDidChange(() => tree.refresh()),
    engine.onDidChangeState((state) => {
      if (state !== 'running' || !isUnread) return;
      isUnread = false;
      list.forget();
    }),
    view.onDidChangeVisibility(() => {
      lookOnce().catch((error: unknown) => log.error('Failed to look for updates of apps', error));
    }),
  );
}

function storeSettings(settings: Services['settings']) {
  return {
    get appStoreIndex() {
      return settings.appStoreIndex;
    },
    setAppStoreIndex: async (index: string) => {
      await workspace
        .getConfiguration('sallyport')
        .update('apps.storeIndex', index, ConfigurationTarget.Global);
    },
  };
}
