import * as z from 'zod/mini';
import {
  CodeLensRefreshRequest,
  ErrorCodes,
  ResponseError,
  TextDocuments,
  type ClientCapabilities,
  type Connection,
} from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { engineOptions } from '../../../protocol/src/engine.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import type { Notify } from '../engine/engineContext.ts';
import type { EngineServices, EngineServicesOptions } from '../services.ts';
import { cardRecord } from './cardRecords.ts';
import { Debounce } from './debounce.ts';
import { capabilitiesFor, registerFeatures } from './features.ts';
import { LazyServices } from './lazyServices.ts';
import { bindEngine } from './lspBinding.ts';
import { ManifestDiagnostics } from './manifestDiagnostics.ts';
import { createPersonSide } from './personSide.ts';
import { pathOf } from './uris.ts';
import { Watchers } from './watchers.ts';
import { Workspace } from './workspace.ts';

/** What the services are made with, apart from where their programs are. */
export type ServicesOptions = Pick<
  EngineServicesOptions,
  'home' | 'trusted' | 'projects' | 'notify' | 'person' | 'onProblem' | 'apps'
>;

export interface ServerOptions {
  readonly connection: Connection;
  /** Called at the first request that needs them. */
  readonly createServices: (options: ServicesOptions) => Promise<EngineServices>;
}

const editDelayMs = 120;
const lensDelayMs = 250;

/**
 * The engine behind one LSP connection: language features for manifests, and Sallyport's own requests. The promise of
 * `dispose` resolves when everything that was started has ended.
 */
export function startServer({ connection, createServices }: ServerOptions): { dispose(): Promise<void> } {
  const workspace = new Workspace();
  const documents = new TextDocuments(TextDocument);
  const watchers = new Watchers(connection);
  const diagnostics = new ManifestDiagnostics(workspace, (params) => void connection.sendDiagnostics(params));
  let client: ClientCapabilities['workspace'];
  let services: LazyServices | undefined;
  let badMessages = 0;
  const log = (text: string) => connection.console.warn(text);

  /** The manifests whose problems are to be told: a request may have brought the workspace up to date before. */
  const untold = new Set<string>();
  const checkEdits = new Debounce(() => {
    workspace.flush();
    diagnostics.publishLoose(untold);
    untold.clear();
    watch();
  }, editDelayMs);
  const edited = (path: string | undefined) => {
    if (path === undefined) return;
    untold.add(path);
    checkEdits.schedule();
  };
  const refreshLenses = new Debounce(() => {
    if (!client?.codeLens?.refreshSupport || workspace.documents.size === 0) return;
    connection.sendRequest(CodeLensRefreshRequest.type).catch(() => undefined);
  }, lensDelayMs);
  const watch = () => {
    if (client?.didChangeWatchedFiles?.dynamicRegistration)
      watchers.update(workspace.edited.list(), workspace.appFolders);
  };
  const notify: Notify = (method, params) => {
    void connection.sendNotification(method, params);
    if (method === 'run/delta' || method === 'project/changed') refreshLenses.schedule();
  };
  const person = createPersonSide(connection);
  const addFolders = (folders: readonly { readonly uri: string }[]): string[] => {
    const known = new Set(workspace.edited.roots);
    for (const path of folders.flatMap(({ uri }) => pathOf(uri) ?? [])) workspace.addFolder(path);
    const added = workspace.edited.roots.filter((root) => !known.has(root));
    for (const { root } of workspace.edited.list())
      if (added.includes(root)) diagnostics.publishProject(root);
    watch();
    return added;
  };

  workspace.edited.onDidChange((root) => {
    diagnostics.publishProject(root);
    watch();
    refreshLenses.schedule();
  });
  workspace.saved.onDidChange((root) => notify('project/changed', { root }));

  connection.onInitialize(({ initializationOptions, capabilities: theirs, workspaceFolders }) => {
    const options = z.safeParse(engineOptions, initializationOptions);
    if (!options.success) {
      const problem = z.prettifyError(options.error);
      const message = `The engine was started with options that do not fit its contract: ${problem}`;
      return new ResponseError(ErrorCodes.InvalidParams, message, { retry: false });
    }
    client = theirs.workspace;
    const { capabilities, registerLater } = capabilitiesFor(theirs);
    const { home, trusted: atStart, packageRegistry: registry } = options.data;
    services = new LazyServices(
      (trusted) =>
        createServices({
          home,
          trusted,
          projects: workspace.saved,
          notify,
          person,
          onProblem: log,
          apps: { registry },
        }),
      atStart,
    );
    // Looking for projects waits until the answer is out: it takes as long as the folders are large.
    connection.onInitialized(() => {
      registerLater(connection).catch((error: unknown) => log(`Failed to register: ${errorMessage(error)}`));
      addFolders(workspaceFolders ?? []);
      if (!client?.workspaceFolders) return;
      connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
        for (const path of removed.flatMap(({ uri }) => pathOf(uri) ?? [])) workspace.removeFolder(path);
        for (const root of addFolders(added)) notify('project/changed', { root });
        services?.findHeld();
      });
    });
    return { capabilities, serverInfo: { name: 'sallyport' } };
  });

  connection.onDidChangeWatchedFiles(({ changes }) => {
    workspace.filesChanged(changes.flatMap(({ uri }) => pathOf(uri) ?? []));
    diagnostics.publishLoose(workspace.documents.keys());
  });
  documents.onDidChangeContent(({ document }) => edited(workspace.setDocument(document)));
  documents.onDidSave(({ document }) => {
    const path = pathOf(document.uri);
    if (path !== undefined) workspace.saved.filesChanged([path]);
  });
  documents.onDidClose(({ document }) => edited(workspace.closeDocument(document.uri)));
  documents.listen(connection);

  registerFeatures({
    connection,
    workspace,
    canCreateFiles: () => client?.workspaceEdit?.resourceOperations?.includes('create') ?? false,
    recordOf: (root, card) => cardRecord(services, root, card),
  });
  bindEngine({
    connection,
    requests: async () => {
      if (!services) throw new Error('a request came before initialize');
      return (await services.get()).handlers;
    },
    notifications: {
      'trust/set': ({ trusted }) => services?.setTrusted(trusted),
      'connections/set': (connections) => services?.setConnections(connections),
      'vault/changed': () => services?.vaultChanged(),
    },
    onBadMessage: (method, problem) => log(`Bad message ${++badMessages}, ${method}: ${problem}`),
    onInternalError: (method, error) => {
      const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
      connection.console.error(`${method} failed: ${detail}`);
    },
  });

  connection.listen();
  return {
    dispose: async () => {
      checkEdits.dispose();
      refreshLenses.dispose();
      await services?.dispose();
    },
  };
}
