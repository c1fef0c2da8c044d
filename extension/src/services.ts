import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { workspace, type ExtensionContext, type Uri } from 'vscode';
import { AppPanels } from './appHost/appPanels.ts';
import { PermissionReviewer } from './approvals/reviewPermissions.ts';
import { WaitingList } from './approvals/waitingList.ts';
import { CommandRegistry } from './commandRegistry.ts';
import { Reports } from './documents/reports.ts';
import { EngineClient, type OpenConnection } from './engineClient.ts';
import { engineHeard, personRequests } from '../../protocol/src/engineContract.ts';
import { ConnectedModels } from './connections/connectedModels.ts';
import { ConnectionStore } from './connections/connectionStore.ts';
import { ChangeDocuments } from './history/changeDocuments.ts';
import { KeyVault } from './keys/keyVault.ts';
import { createLog, type Log } from './log.ts';
import { createNotifier, type Notifier } from './notifier.ts';
import { ProjectPicker } from './project/pickProject.ts';
import { ProjectPresence } from './project/projectPresence.ts';
import { ProjectStore } from './project/projectStore.ts';
import { FactorStore } from './presence/factorStore.ts';
import { SettingConfirmations } from './presence/guardedSettings.ts';
import { Presence } from './presence/presence.ts';
import { presenceWindow } from './presence/presenceWindow.ts';
import { ProofDesk } from './presence/proofDesk.ts';
import { createWebviewFiles } from './panels/webviewFiles.ts';
import { createRestartPolicy } from './restartPolicy.ts';
import { RunStarter } from './runs/runStarter.ts';
import { Selection } from './selection.ts';
import { WorkerIdentity } from './places/workerIdentity.ts';
import { createSettings, type Settings } from './settings.ts';
import { createVaults, type VaultParts } from './vault/life/createVaults.ts';
import { PluginCalls } from './vault/pluginCalls.ts';
import { ReleasedValues } from './vault/releasedValues.ts';
import type { Disposable } from './disposable.ts';

/** What features are wired from. A class never takes this: it takes the few services that it names. */
export interface Services {
  readonly extensionUri: Uri;
  /** The extension's own package.json, not parsed. */
  readonly manifest: unknown;
  readonly log: Log;
  readonly commands: CommandRegistry;
  readonly notifier: Notifier;
  readonly engine: EngineClient;
  readonly presence: ProjectPresence;
  readonly projects: ProjectStore;
  readonly picker: ProjectPicker;
  readonly runs: RunStarter;
  readonly reports: Reports;
  readonly reviewer: PermissionReviewer;
  readonly selection: Selection;
  readonly settings: Settings;
  /** Proof that a person is here, for one act. */
  readonly person: Presence;
  readonly confirmations: SettingConfirmations;
  readonly vault: VaultParts;
  /** The values that left the vault in this window: what is shown, logged or sent to a model is freed of them. */
  readonly released: ReleasedValues;
  /** The calls of plugins that pages of this window wait for. */
  readonly pluginCalls: PluginCalls;
  /** The connections that a person made, as they are kept. */
  readonly connections: ConnectionStore;
  readonly keys: KeyVault;
  /** By which pinned workers know this computer. */
  readonly workerIdentity: WorkerIdentity;
  /** The connections as the engine and the workbench see them. */
  readonly models: ConnectedModels;
  readonly waiting: WaitingList;
  readonly changeDocuments: ChangeDocuments;
  /** The tabs of apps: `open` shows one. */
  readonly appPanels: AppPanels;
}

/** A feature: registers itself and answers with what undoes that. */
export type Register = (services: Services) => Disposable;

/** Creates every service, in order. Starts nothing: the engine comes with the first call. */
export function createServices(context: ExtensionContext): { services: Services; owned: Disposable[] } {
  const released = new ReleasedValues();
  const scrub = (text: string): string => released.scrubber.text(text);
  const log = createLog(scrub);
  const commands: CommandRegistry = new CommandRegistry((id, error) => {
    log.info(`${id} did not finish`);
    notifier.showError(error);
  });
  const notifier = createNotifier(log, (id, ...args) => commands.runBuiltin(id, ...args), scrub);
  const open: OpenConnection = async (events) => {
    const { openLanguageClient } = await import('./languageClientConnection.ts');
    return openLanguageClient(
      {
        enginePath: join(context.extensionPath, 'dist', 'engine.mjs'),
        options: {
          home: context.globalStorageUri.fsPath,
          trusted: workspace.isTrusted,
          packageRegistry: settings.packageRegistry,
        },
        notifications: Object.keys(engineHeard),
        requests: Object.keys(personRequests),
        channel: log.channel,
        startTimeoutMs: 30_000,
      },
      events,
    );
  };
  const engine = new EngineClient({
    open,
    policy: createRestartPolicy(),
    log,
    now: () => performance.now(),
    wait: (ms) => wait(ms),
  });
  const presence = new ProjectPresence((error) => log.error('A listener failed', error));
  const projects = new ProjectStore(engine, log);
  const onListenerError = (error: unknown) => log.error('A listener failed', error);
  const factors = new FactorStore(join(context.globalStorageUri.fsPath, 'presence', 'factors.json'));
  const confirmations = new SettingConfirmations(factors, onListenerError);
  const settings = createSettings((name) => confirmations.of(name));
  const webviewFiles = createWebviewFiles(join(context.extensionPath, 'dist', 'webviews'));
  const person = new Presence({
    store: factors,
    desk: new ProofDesk(() => performance.now()),
    window: presenceWindow,
    notifier,
    now: () => performance.now(),
    today: () => Date.now(),
    script: () => webviewFiles.source('presence'),
    verifier: () => import('./presence/verifyPasskey.ts'),
  });
  const vault = createVaults(context, settings, onListenerError);
  const connections = new ConnectionStore(context.globalState, onListenerError);
  const keys = new KeyVault({ secrets: context.secrets, timeoutMs: 10_000 });
  const models = new ConnectedModels(connections, settings, onListenerError);
  const waiting = new WaitingList(engine, log);
  const changeDocuments = new ChangeDocuments(engine, commands);
  const reports = new Reports();
  const pluginCalls = new PluginCalls();
  const appPanels = new AppPanels({
    extensionUri: context.extensionUri,
    state: context.globalState,
    engine,
    log,
    notifier,
    pluginCalls,
    now: () => performance.now(),
  });
  const services: Services = {
    extensionUri: context.extensionUri,
    manifest: context.extension.packageJSON,
    log,
    commands,
    notifier,
    engine,
    presence,
    projects,
    picker: new ProjectPicker(projects, presence),
    runs: new RunStarter(engine, projects, commands, notifier, settings),
    reports,
    reviewer: new PermissionReviewer(engine, reports, notifier),
    selection: new Selection(),
    settings,
    person,
    confirmations,
    vault,
    released,
    pluginCalls,
    connections,
    keys,
    workerIdentity: new WorkerIdentity(context.secrets),
    models,
    waiting,
    changeDocuments,
    appPanels,
  };
  return {
    services,
    owned: [
      log.channel,
      presence,
      projects,
      reports,
      person,
      confirmations,
      vault.vaults,
      vault.answers,
      connections,
      models,
      waiting,
      changeDocuments,
      appPanels,
      context.secrets.onDidChange(() => keys.forgetRead()),
    ],
  };
}
