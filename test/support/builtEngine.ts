import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type BuildOptions } from 'esbuild';
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import type { InitializeResult, PublishDiagnosticsParams } from 'vscode-languageserver';

const repository = resolve(import.meta.dirname, '../..');

/** Builds the engine with the options of scripts/build.mjs into a folder of its own. */
export async function buildEngine(): Promise<{ readonly file: string; dispose(): void }> {
  const { targets } = (await import(pathToFileURL(join(repository, 'scripts/build.mjs')).href)) as {
    targets: readonly BuildOptions[];
  };
  const target = targets.find((each) => each.entryPoints && 'engine' in each.entryPoints);
  if (!target) throw new Error('scripts/build.mjs has no target named engine');
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-engine-'));
  const providers = targets.find((each) => each.entryPoints && 'providers' in each.entryPoints);
  const common = { absWorkingDir: repository, outdir: folder, sourcemap: false } as const;
  await build({ ...target, ...common, entryPoints: { engine: 'language-server/src/main.ts' } });
  if (providers) await build({ ...providers, ...common });
  return {
    file: join(folder, 'engine.mjs'),
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface EngineClientOptions {
  readonly file: string;
  readonly home: string;
  readonly folder: string;
  readonly trusted?: boolean;
}

/** A bare LSP client of one engine process over its standard streams. */
export class EngineProcess {
  readonly child: ChildProcessWithoutNullStreams;
  readonly connection: MessageConnection;
  /** The latest diagnostics by URI. */
  readonly diagnostics = new Map<string, PublishDiagnosticsParams['diagnostics']>();
  readonly logged: string[] = [];
  readonly exited: Promise<number | null>;
  #onChange: (() => void)[] = [];

  constructor(file: string) {
    this.child = spawn(process.execPath, [file, '--stdio'], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.exited = new Promise((done) => this.child.once('exit', (code) => done(code)));
    this.child.stderr.on('data', (chunk: Buffer) => this.logged.push(chunk.toString()));
    this.child.stdin.on('error', () => undefined);
    const reader = new StreamMessageReader(this.child.stdout);
    // It would look every ten seconds, for ever, for the rest of a message that a killed engine began.
    reader.partialMessageTimeout = 0;
    this.connection = createMessageConnection(reader, new StreamMessageWriter(this.child.stdin));
    this.connection.onNotification('textDocument/publishDiagnostics', (params: PublishDiagnosticsParams) => {
      this.diagnostics.set(params.uri, params.diagnostics);
      this.#tell();
    });
    this.connection.onNotification('window/logMessage', ({ message }: { message: string }) => {
      this.logged.push(message);
      this.#tell();
    });
    this.connection.onRequest('client/registerCapability', () => null);
    this.connection.onRequest('client/unregisterCapability', () => null);
    this.connection.onRequest('workspace/codeLens/refresh', () => null);
    this.connection.onError(() => undefined);
    this.connection.listen();
  }

  static async start(options: EngineClientOptions): Promise<EngineProcess> {
    const engine = new EngineProcess(options.file);
    await engine.initialize(options);
    return engine;
  }

  async initialize({ home, folder, trusted = false }: EngineClientOptions): Promise<InitializeResult> {
    const result = await this.connection.sendRequest<InitializeResult>('initialize', {
      processId: process.pid,
      rootUri: null,
      workspaceFolders: [{ uri: pathToFileURL(folder).href, name: 'folder' }],
      initializationOptions: { home, trusted },
      capabilities: {
        workspace: {
          workspaceFolders: true,
          didChangeWatchedFiles: { dynamicRegistration: true },
          workspaceEdit: { documentChanges: true, resourceOperations: ['create'] },
          codeLens: { refreshSupport: true },
        },
      },
    });
    await this.connection.sendNotification('initialized', {});
    return result;
  }

  async open(path: string, text: string, languageId = 'sallyport-manifest'): Promise<string> {
    const uri = pathToFileURL(path).href;
    await this.connection.sendNotification('textDocument/didOpen', {
      textDocument: { uri, languageId, version: 1, text },
    });
    return uri;
  }

  /** Resolves when `holds` does, looking again at each message; rejects after a minute. */
  async until(what: string, holds: () => boolean): Promise<void> {
    await new Promise<void>((done, fail) => {
      const timer = setTimeout(
        () => fail(new Error(`Not within a minute: ${what}\n${this.logged.join('\n')}`)),
        60_000,
      );
      const look = () => {
        if (!holds()) return false;
        clearTimeout(timer);
        done();
        return true;
      };
      if (look()) return;
      const listener = () => {
        if (look()) this.#onChange = this.#onChange.filter((each) => each !== listener);
      };
      this.#onChange.push(listener);
    });
  }

  /** Ends the process the polite way and resolves with its exit code. */
  async stop(): Promise<number | null> {
    await this.connection.sendRequest('shutdown');
    await this.connection.sendNotification('exit');
    return this.exited;
  }

  /** Ends the process in any state. */
  async kill(): Promise<void> {
    this.connection.dispose();
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
    await this.exited;
  }

  #tell(): void {
    for (const listener of [...this.#onChange]) listener();
  }
}
