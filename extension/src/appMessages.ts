import { l10n } from 'vscode';
import type { AppReview, AppSource, AppView } from '../../protocol/src/apps.ts';
import type { AddressProblem } from './apps/gitAddress.ts';
import { size, timestamp } from './figures.ts';
import type { Notice } from './messages.ts';
import type { SureQuestion } from './native/askSure.ts';
import { plain, short } from './plainText.ts';

/**
 * The texts around apps and plugins, by the rules of `messages.ts`: what failed, the value, what to do.
 * `test/unit/extension/appMessages.test.ts` renders them all.
 */
const t = l10n.t;

type Named = Pick<AppView, 'id' | 'name'>;
type PluginState = AppView['plugins'][number]['state'];

/** What happened, and why a command does nothing here, as notifications. */
export const appNotices = {
  noApps: (): Notice => ({
    severity: 'info',
    text: t('No app is installed yet.'),
    action: { title: t('Install App'), command: 'sallyport.installApp' },
  }),
  noDeleted: (): Notice => ({
    severity: 'info',
    text: t('No deleted app is kept. A deleted app can be brought back for 30 days.'),
  }),
  noSuchApp: (id: string): Notice => ({ severity: 'warning', text: t('There is no app {0}.', short(id)) }),
  installed: ({ id, name, appVersion }: Named & Pick<AppView, 'appVersion'>): Notice => ({
    severity: 'info',
    text: t('{0} {1} is installed.', short(name), plain(appVersion)),
    action: { title: t('Open App'), command: 'sallyport.openApp', args: [{ app: id }] },
  }),
  notInstalled: (name: string): Notice => ({
    severity: 'info',
    text: t('{0} was not installed. Nothing of it was kept.', short(name)),
  }),
  updateDeclined: (name: string, installed: string): Notice => ({
    severity: 'info',
    text: t('The update was removed. {0} stays at {1}.', short(name), plain(installed)),
  }),
  reviewOpen: (): Notice => ({
    severity: 'info',
    text: t('Another review is open. Answer it first.'),
  }),
  changedMeanwhile: (name: string): Notice => ({
    severity: 'warning',
    text: t('{0} changed while you were reading, so nothing was installed. Look at it again.', short(name)),
  }),
  nothingWaits: (): Notice => ({
    severity: 'info',
    text: t('No update waits for you.'),
    action: { title: t('Check for Updates'), command: 'sallyport.checkAppUpdates' },
  }),
  upToDate: (names: readonly string[]): Notice => ({
    severity: 'info',
    text:
      names.length === 1
        ? t('{0} has no update.', short(names[0] ?? ''))
        : t('None of {0} apps has an update.', names.length),
  }),
  updated: (name: string, text: string): Notice => ({
    severity: 'info',
    text: `${short(name)}: ${plain(text)}`,
  }),
  updateWaits: ({ id, name, appVersion }: Named & { readonly appVersion: string }): Notice => ({
    severity: 'warning',
    text: t(
      'An update of {0} to {1} asks for more, so it waits for your review. The installed version goes on working.',
      short(name),
      plain(appVersion),
    ),
    action: { title: t('Review'), command: 'sallyport.reviewAppUpdate', args: [{ app: id }] },
  }),
  updatesFailed: (names: readonly string[]): Notice => ({
    severity: 'error',
    text:
      names.length === 1
        ? t('The update of {0} could not be looked for. The log has the details.', short(names[0] ?? ''))
        : t('The updates of {0} apps could not be looked for. The log has the details.', names.length),
    action: { title: t('Show Log'), command: 'sallyport.showLog' },
  }),
  noPlugins: (name: string): Notice => ({
    severity: 'info',
    text: t('{0} has no plugin for which this could be done.', short(name)),
  }),
  pluginChanged: (plugin: string, name: string, state: 'on' | 'off' | 'removed'): Notice => ({
    severity: 'info',
    text:
      state === 'on'
        ? t('The plugin {0} of {1} is on.', short(plugin), short(name))
        : state === 'off'
          ? t('The plugin {0} of {1} is off. The app goes on without it.', short(plugin), short(name))
          : t('The plugin {0} of {1} was removed.', short(plugin), short(name)),
  }),
  deleted: ({ id, name }: Named, until: number): Notice => ({
    severity: 'info',
    text: t('{0} and its data were deleted. They can be brought back until {1}.', short(name), day(until)),
    action: { title: t('Undo'), command: 'sallyport.restoreApp', args: [{ app: id }] },
  }),
  restored: ({ id, name }: Named): Notice => ({
    severity: 'info',
    text: t('{0} and its data are back.', short(name)),
    action: { title: t('Open App'), command: 'sallyport.openApp', args: [{ app: id }] },
  }),
  exported: (name: string, path: string, sizeBytes: number): Notice => ({
    severity: 'info',
    text: t(
      '{0} with its data is in {1} ({2}). It holds what the app stores, and no key: treat it like that data.',
      short(name),
      plain(path),
      size(sizeBytes),
    ),
  }),
  exportExists: (path: string): Notice => ({
    severity: 'warning',
    text: t('{0} is there already and was left alone. Choose another name.', plain(path)),
  }),
  notAnApp: (path: string): Notice => ({
    severity: 'warning',
    text: t(
      '{0} is no app: drop a folder with an app.json, a .zip archive or a backup ({1}).',
      plain(path),
      `.${backupExtension}`,
    ),
  }),
  notOneApp: (count: number): Notice => ({
    severity: 'warning',
    text: t('{0} things were dropped. Each app is reviewed by itself: drop one.', count),
  }),
  notHere: (address: string): Notice => ({
    severity: 'warning',
    text: t('{0} is not on a disk of this machine.', plain(address)),
  }),
  storeEmpty: (index: string): Notice => ({
    severity: 'info',
    text: t('The app store {0} lists no app.', plain(index)),
  }),
};

/** The ending of a backup's name. */
export const backupExtension = 'sallyport-app';

/** Words of the install review. */
export const reviewWords = {
  title: ({ name, appVersion, installed }: AppReview): string =>
    installed
      ? t('Update {0} to {1}?', short(name, 40), plain(appVersion))
      : t('Install {0} {1}?', short(name, 40), plain(appVersion)),
  documentTitle: ({ app, appVersion, digest }: AppReview): string =>
    t('Review of {0} {1} ({2})', plain(app), plain(appVersion), digest.slice(0, 8)),
  placeholder: (): string => t('Read what it may do. Your answers stand at the end of the list.'),
  headings: {
    about: (): string => t('What it is'),
    reasons: (): string => t('Why you are asked'),
    page: (): string => t('What its page may do'),
    plugin: (id: string): string => t('Plugin {0}', plain(id)),
    packages: (): string => t('Packages of others that are built in'),
    offers: (id: string): string => t('What the plugin {0} offers to the page', plain(id)),
    integrity: (): string => t('Hashes of the packages'),
    same: (): string => t('What stays as it is'),
    bound: (): string => t('What an answer is bound to'),
    answer: (): string => t('Your answer'),
  },
  version: (name: string, version: string, installed: string | undefined): string =>
    installed === undefined
      ? `${plain(name)} ${plain(version)}`
      : `${plain(name)} ${plain(installed)} → ${plain(version)}`,
  official: (): string => t('by Sallyport’s maintainers'),
  notOfficial: (): string => t('not by Sallyport’s maintainers'),
  source: (source: AppSource): string => sourceText(source),
  sourceWas: (source: AppSource): string => t('the installed one is from {0}', sourceText(source)),
  commit: (commit: string): string => t('Commit {0}', plain(commit)),
  measure: (files: number, bytes: number): string =>
    files === 1 ? t('One file, {0}', size(bytes)) : t('{0} files, {1}', files, size(bytes)),
  data: (bytes: number): string => t('Brings {0} of data with it', size(bytes)),
  flagged: (): string => t('It holds invisible or control characters. They are shown escaped.'),
  local: (): string => t('on your machine or local network'),
  asksNew: (): string => t('new'),
  dropped: (sentence: string): string => t('No longer: {0}', plain(sentence)),
  closedPage: (): string => t('Nothing beyond showing itself: no network, no storage, no model'),
  closedPlugin: (): string => t('Nothing beyond computing: no network, no storage, no model'),
  pluginNew: (): string => t('This plugin is new'),
  pluginChanged: (): string => t('Its code changed'),
  pluginRemoved: (): string => t('This plugin is gone'),
  offers: (name: string, description: string): string =>
    description === '' ? plain(name) : t('{0}: {1}', plain(name), plain(description)),
  package: (name: string, version: string): string => `${plain(name)} ${plain(version)}`,
  packageState: (state: 'new' | 'changed' | 'removed' | 'same'): string => {
    switch (state) {
      case 'new':
        return t('new');
      case 'changed':
        return t('changed');
      case 'removed':
        return t('gone');
      case 'same':
        return t('as before');
    }
  },
  more: (count: number): string => t('… and {0} more: read the whole review', count),
  nothingNew: (): string => t('It asks for nothing that it has not already'),
  neverKeys: (): string => t('No app and no plugin ever gets a key or another app’s data'),
  unfold: (count: number): string =>
    count === 1 ? t('Show what stays as it is (one line)') : t('Show what stays as it is ({0} lines)', count),
  install: (review: AppReview): string =>
    review.installed
      ? t('Update to {0}', plain(review.appVersion))
      : t('Install {0} {1}', short(review.name, 40), plain(review.appVersion)),
  installNote: (): string => t('exactly what was shown'),
  read: (): string => t('Read the whole review'),
  readFirst: (): string => t('needed before you can install'),
  decline: (review: AppReview): string => (review.installed ? t('Decline this update') : t('Don’t install')),
  declineNote: (review: AppReview): string =>
    review.installed ? t('the installed version stays') : t('nothing of it is kept'),
  later: (): string => t('Decide later'),
  laterNote: (): string => t('the update waits; the installed version goes on working'),
  reading: (name: string): string =>
    t('{0} waits for your decision. Decide when you have read the review.', short(name)),
  decide: (): string => t('Decide'),
  bound: (digest: string, tree: string): string[] => [
    t('This review, with all that it says, by its SHA-256:'),
    `    ${digest}`,
    t('The files that are installed, by their SHA-256:'),
    `    ${tree}`,
    t('If anything is different when you answer, nothing is installed and you are shown the difference.'),
  ],
};

function sourceText(source: AppSource): string {
  switch (source.kind) {
    case 'git':
      return source.ref === undefined ? plain(source.url) : `${plain(source.url)} (${plain(source.ref)})`;
    case 'folder':
      return t('the folder {0}', plain(source.path));
    case 'zip':
      return t('the archive {0}', plain(source.path));
    case 'backup':
      return t('the backup {0}', plain(source.path));
  }
}

/** Words of the Apps view. */
export const appLabels = {
  version: (version: string): string => plain(version),
  waiting: (version: string): string => t('Review the update to {0}', plain(version)),
  waitingShort: (): string => t('update waits'),
  waitingCount: (count: number): string =>
    count === 1 ? t('One update waits for your review') : t('{0} updates wait for your review', count),
  reachesNothing: (): string => t('Its page only shows itself'),
  reachesNothingTooltip: (): string => t('No network, no storage, no model. This is the default.'),
  pluginReachesNothing: (): string => t('Only computes'),
  plugin: (id: string): string => t('Plugin {0}', plain(id)),
  pluginState: (state: PluginState): string => {
    switch (state) {
      case 'on':
        return t('on');
      case 'off':
        return t('off');
      case 'switched-off':
        return t('switched off by Sallyport');
      case 'removed':
        return t('removed');
    }
  },
  pluginsOff: (count: number): string => (count === 1 ? t('one plugin off') : t('{0} plugins off', count)),
  lastError: (text: string): string => t('Last error: {0}', text),
  hasError: (): string => t('had an error'),
  local: (): string => t('on your machine or local network'),
  usage: (code: number, data: number, quota: number): string =>
    t('{0} of code, {1} of {2} of data', size(code), size(data), size(quota)),
  usageWithoutQuota: (code: number): string => t('{0} of code, no data', size(code)),
  from: (source: AppSource): string => t('From {0}', sourceText(source)),
  commit: (commit: string): string => t('commit {0}', plain(commit).slice(0, 12)),
  official: (): string => t('by Sallyport’s maintainers'),
  deleted: (count: number): string => t('Deleted ({0})', count),
  deletedUntil: (until: number): string => t('kept until {0}', day(until)),
  review: (): string => t('Review Waiting Update'),
  openLog: (): string => t('Open App Log'),
};

/** Words of installing, updating, deleting and the store. */
export const appWords = {
  installTitle: (): string => t('Install App'),
  importTitle: (): string => t('Import App Backup'),
  whereFrom: (): string => t('Where is the app? Nothing of it runs before you have reviewed it.'),
  from: (kind: AppSource['kind'] | 'store'): string => {
    switch (kind) {
      case 'git':
        return t('Git repository');
      case 'folder':
        return t('Folder');
      case 'zip':
        return t('Zip archive');
      case 'backup':
        return t('Backup of an app');
      case 'store':
        return t('App store');
    }
  },
  fromDetail: (kind: AppSource['kind'] | 'store'): string => {
    switch (kind) {
      case 'git':
        return t('An https:// or ssh:// address, with #tag or #commit where you want a certain one');
      case 'folder':
        return t('A folder of this machine with an app.json. It is copied.');
      case 'zip':
        return t('A .zip file of such a folder');
      case 'backup':
        return t('A file that Export App wrote, with the app’s data');
      case 'store':
        return t('Choose from the list that you named in the settings');
    }
  },
  addressPrompt: (): string => t('Address of the git repository'),
  addressPlaceholder: (): string => 'https://example.org/notes.git#v1.2.0',
  addressProblem: (problem: AddressProblem): string => {
    switch (problem) {
      case 'not-an-address':
        return t('This is no address of a git repository. It starts with https:// or ssh://.');
      case 'scheme':
        return t('Only https:// and ssh:// are possible.');
      case 'credentials':
        return t('Leave user and password out of the address: it is kept and shown.');
      case 'query':
        return t('Leave out what follows ?.');
      case 'ref':
        return t('What follows # is no name of a branch, tag or commit.');
    }
  },
  openFolder: (): string => t('Review This Folder'),
  openFile: (): string => t('Review This File'),
  zipFiles: (): string => t('Zip archives'),
  backupFiles: (): string => t('App backups'),
  staging: (): string => t('Reading the app. Nothing of it runs'),
  installing: (name: string): string => t('Installing {0}', short(name)),
  checking: (name: string): string => t('Looking for an update of {0}', short(name)),
  exporting: (name: string): string => t('Exporting {0}', short(name)),
  readingStore: (): string => t('Reading the app store'),
  chooseApp: (): string => t('Choose an app'),
  choosePlugin: (name: string): string => t('Choose a plugin of {0}', short(name)),
  chooseDeleted: (): string => t('Which app is brought back?'),
  chooseWaiting: (): string => t('Which update do you want to review?'),
  storeTitle: (index: string): string => t('App store {0}', plain(index)),
  storePlaceholder: (): string => t('Choose an app to review. Its words are its author’s.'),
  storeInstalled: (): string => t('installed'),
  storeAddressPrompt: (): string =>
    t('Address of the git repository that lists apps. It is kept in your settings.'),
  storeQuestion: ({
    index,
    commit,
    apps,
  }: {
    readonly index: string;
    readonly commit: string;
    readonly apps: number;
  }): SureQuestion => ({
    title: t('Take apps from the list at {0}?', plain(index)),
    placeholder: t('It only names addresses. Each app is reviewed before anything of it is installed.'),
    act: {
      label: t('Use this list'),
      detail:
        apps === 1
          ? t('It names one app. Commit {0}', plain(commit))
          : t('It names {0} apps. Commit {1}', apps, plain(commit)),
      icon: 'check',
    },
    leave: t('Don’t use it'),
  }),
  exportTitle: (name: string): string => t('Export {0} to a new file', short(name)),
  exportLabel: (): string => t('Export'),
  deleteQuestion: ({ name, codeBytes, dataBytes }: AppView): SureQuestion => ({
    title: t('Delete {0} with its data?', short(name)),
    placeholder: t('Restore Deleted App brings it back for 30 days; then it is gone.'),
    act: {
      label: t('Delete {0}', short(name)),
      detail: t('{0} of code, {1} of data', size(codeBytes), size(dataBytes)),
      icon: 'trash',
    },
    leave: t('Keep it'),
  }),
  removeQuestion: (plugin: string, name: string): SureQuestion => ({
    title: t('Remove the plugin {0} of {1}?', short(plugin), short(name)),
    placeholder: t('What the app asks of it fails from then on.'),
    act: {
      label: t('Remove {0}', short(plugin)),
      detail: t('Installing the app anew brings it back'),
      icon: 'trash',
    },
    leave: t('Keep it'),
  }),
  logTitle: (name: string): string => t('Log of {0}', plain(name)),
  logEmpty: (): string => t('Nothing was logged yet.'),
};

function day(epochMs: number): string {
  return timestamp(epochMs).slice(0, 10);
}
