import { join } from 'node:path';
import * as z from 'zod/mini';
import {
  CodeLensRefreshRequest,
  ErrorCodes,
  ResponseError,
  TextDocuments,
  type ClientCapabilities,
  type Connection,
  type InitializeParams,
} from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { engineOptions } from '../../../protocol/src/engine.ts';
import type { EngineServices, EngineServicesOptions, Notify } from '../services.ts';
import { projectFile } from '../project/findCards.ts';
import type { CardRecord } from '../manifests/codeLenses.ts';
import { Debounce } from './debounce.ts';
import { projectDiagnostics, toDiagnostic } from './diagnostics.ts';
import { DiagnosticsPublisher } from './diagnosticsPublisher.ts';
import { capabilities, registerFeatures } from './features.ts';
import { LazyServices } from './lazyServices.ts';
import { looseProblems } from './looseManifest.ts';
import { bindEngine } from './lspBinding.ts';
import { pathOf, uriOf } from './uris.ts';
import { Watchers } from './watchers.ts';
import { Workspace } from './workspace.ts';

/** What the services are made with, apart from where their programs are. */
export type ServicesOptions = Pick<
  EngineServicesOptions,
  'home' | 'trusted' | 'projects' | 'notify' | 'onProblem'
>;

export interface ServerOptions {
  readonly connection: Connection;
  readonly createServices: (options: ServicesOptions) => Promise<EngineServices>;
}

const editDelayMs = 120;
const lensDelayMs = 250;

/**
 * The engine behind one LSP connection: language features for manifests, and Sallyport's own requests. Resolves the
 * returned `dispose` when everything it started has ended.
 */
export function startServer({ connection, createServices }: ServerOptions): { dispose(): Promise<void> } {
  const workspace = new Workspace();
  const documents = new TextDocuments(TextDocument);
  const watchers = new Watchers(connection);
  const publisher = new DiagnosticsPublisher((path, diagnostics) => {
    const uri = workspace.documents.get(path)?.uri ?? uriOf(path);
    void connection.sendDiagnostics({ uri, diagnostics });
  });
  let client: ClientCapabilities = {};
  let services: LazyServices | undefined;
  let badMessages = 0;
  const log = (text: string) => connection.console.warn(text);

  const refreshLenses = new Debounce(() => {
    if (client.workspace?.codeLens?.refreshSupport && workspace.documents.size > 0) {
      connection.sendRequest(CodeLensRefreshRequest.type).catch(() => undefined);
    }
  }, lensDelayMs);

  const notify: Notify = (method, params) => {
    void connection.sendNotification(method, params);
    if (method === 'run/delta' || method === 'project/changed') refreshLenses.schedule();
  };

  const publishProject = (root: string) => {
    const state = workspace.edited.stateOf(join(root, projectFile));
    const project = state?.root === root ? state.loaded : undefined;
    publisher.publish(
      root,
      project && state ? projectDiagnostics(project, (path) => state.linesOf(path)) : new Map(),
    );
  };

  const publishLoose = (path: string): void => {
    const document = workspace.documents.get(path);
    const state = workspace.edited.stateOf(path);
    const known = state?.loaded?.manifestPath === path || state?.linesOf(path) !== undefined;
    if (!document || known) return publisher.publish(path, new Map());
    const { problems, lines } = looseProblems(path, document.getText());
    publisher.publish(
      path,
      new Map([[path, problems.map((each) => toDiagnostic(each, lines, () => undefined))]]),
    );
  };

  const checkEdits = new Debounce(() => workspace.flush().forEach(publishLoose), editDelayMs);

  workspace.edited.onDidChange((root) => {
    publishProject(root);
    for (const path of workspace.documents.keys()) publishLoose(path);
    if (client.workspace?.didChangeWatchedFiles?.dynamicRegistration)
      watchers.update(workspace.edited.list());
    refreshLenses.schedule();
  });
  workspace.saved.onDidChange((root) => notify('project/changed', { root }));

  connection.onInitialize((params: InitializeParams) => {
    const options = z.safeParse(engineOptions, params.initializationOptions);
    if (!options.success) {
      badMessages++;
      return new ResponseError(
        ErrorCodes.InvalidParams,
        `The engine was started with options that do not fit its contract: ${z.prettifyError(options.error)}`,
        { retry: false },
      );
    }
    client = params.capabilities;
    const { home, trusted } = options.data;
    services = new LazyServices(
      (isTrusted) =>
        createServices({ home, trusted: isTrusted, projects: workspace.saved, notify, onProblem: log }),
      trusted,
    );
    for (const folder of params.workspaceFolders ?? []) addFolder(folder.uri);
    return { capabilities, serverInfo: { name: 'sallyport' } };
  });

  connection.onInitialized(() => {
    for (const { root } of workspace.edited.list()) publishProject(root);
    if (client.workspace?.didChangeWatchedFiles?.dynamicRegistration)
      watchers.update(workspace.edited.list());
    if (client.workspace?.workspaceFolders) {
      connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
        for (const folder of added) addFolder(folder.uri);
        for (const { root } of workspace.edited.list()) {
          publishProject(root);
          notify('project/changed', { root });
        }
        for (const folder of removed) {
          const path = pathOf(folder.uri);
          if (path !== undefined) workspace.removeFolder(path);
        }
      });
    }
  });

  connection.onDidChangeWatchedFiles(({ changes }) => {
    workspace.filesChanged(changes.flatMap(({ uri }) => pathOf(uri) ?? []));
    for (const path of workspace.documents.keys()) publishLoose(path);
  });

  documents.onDidChangeContent(({ document }) => {
    if (workspace.setDocument(document) !== undefined) checkEdits.schedule();
  });
  documents.onDidSave(({ document }) => {
    const path = pathOf(document.uri);
    if (path !== undefined) workspace.saved.filesChanged([path]);
  });
  documents.onDidClose(({ document }) => {
    if (workspace.closeDocument(document.uri) !== undefined) checkEdits.schedule();
  });
  documents.listen(connection);

  const recordOf = async (root: string, card: string): Promise<CardRecord | undefined> => {
    try {
      const running = await services?.get();
      if (!running) return undefined;
      const review = await running.handlers['permissions/review']({ root }, new AbortController().signal);
      const asked = review.cards.find((each) => each.id === card)?.permissions ?? [];
      const waiting = asked.filter((permission) => permission.isNew).length;
      return { status: running.cardStatus(root, card), waiting };
    } catch {
      // A lens without records still runs the card; what is wrong is said by the request that needs them.
      return undefined;
    }
  };
  const canCreateFiles = () =>
    client.workspace?.workspaceEdit?.resourceOperations?.includes('create') ?? false;
  registerFeatures({ connection, workspace, canCreateFiles, recordOf });

  bindEngine({
    connection,
    requests: async () => {
      if (!services) throw new Error('a request came before initialize');
      return (await services.get()).handlers;
    },
    notifications: { 'trust/set': ({ trusted }) => services?.setTrusted(trusted) },
    onBadMessage: (method, problem) => log(`Bad message ${++badMessages}, ${method}: ${problem}`),
    onInternalError: (method, error) => {
      connection.console.error(
        `${method} failed: ${error instanceof Error ? (error.stack ?? '') : String(error)}`,
      );
    },
  });

  function addFolder(uri: string): void {
    const path = pathOf(uri);
    if (path !== undefined) workspace.addFolder(path);
  }

  connection.listen();
  return {
    dispose: async () => {
      checkEdits.dispose();
      refreshLenses.dispose();
      await services?.dispose();
    },
  };
}
