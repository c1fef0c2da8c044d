import { spawn, type ChildProcess } from 'node:child_process';
import { CancellationTokenSource, type CancellationToken, type LogOutputChannel } from 'vscode';
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  LSPErrorCodes,
  ResponseError,
  RevealOutputChannelOn,
  type LanguageClientOptions,
} from 'vscode-languageclient/node';
import type { EngineOptions } from '../../protocol/src/engine.ts';
import { appManifestNames } from '../../protocol/src/manifestLanguage.ts';
import type { ConnectionEvents, EngineConnection } from './engineClient.ts';
import { engineProgram } from './environment.ts';

export interface LanguageClientSettings {
  /** Absolute path of the engine's file. */
  readonly enginePath: string;
  readonly options: EngineOptions;
  /** The methods of the notifications to listen to. */
  readonly notifications: readonly string[];
  /** The methods of the requests that the engine may make. */
  readonly requests: readonly string[];
  readonly channel: LogOutputChannel;
  /** Milliseconds until a process that has not said hello is ended. */
  readonly startTimeoutMs: number;
}

/**
 * Starts the engine in its own Node process and opens LSP with it over its standard streams. One connection is one
 * process: starting again is `EngineClient`'s decision. This file is bundled apart and loaded when the engine is first
 * needed: no class is shared with the rest, so errors go out as they come.
 */
export async function openLanguageClient(
  settings: LanguageClientSettings,
  events: ConnectionEvents,
): Promise<EngineConnection> {
  let child: ChildProcess | undefined;
  let isUp = false;
  const clientOptions: LanguageClientOptions = {
    documentSelector: [
      { scheme: 'file', pattern: '**/sallyport.json' },
      { scheme: 'file', pattern: '**/_card.json' },
      // The engine leaves those of other programs alone.
      ...Object.keys(appManifestNames).map((name) => ({ scheme: 'file', pattern: `**/${name}` })),
    ],
    initializationOptions: settings.options,
    initializationFailedHandler: () => false,
    outputChannel: settings.channel,
    traceOutputChannel: settings.channel,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    markdown: { isTrusted: false, supportHtml: false },
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => {
        closing.abort();
        if (isUp) events.onClosed();
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
  };
  const client = new QuietLanguageClient(
    'sallyport',
    'Sallyport',
    () => {
      child = startEngine(settings.enginePath);
      return Promise.resolve(child);
    },
    clientOptions,
  );
  for (const method of settings.notifications) {
    client.onNotification(method, (params: unknown) => events.onNotification(method, params));
  }
  const closing = new AbortController();
  for (const method of settings.requests) {
    client.onRequest(method, (params: unknown, token: CancellationToken) =>
      answer(events, method, params, token, closing.signal),
    );
  }
  const timer = setTimeout(() => child?.kill('SIGKILL'), settings.startTimeoutMs);
  try {
    await client.start();
    isUp = true;
  } catch (error) {
    child?.kill('SIGKILL');
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return {
    request: (method, params, signal) => sendRequest(client, method, params, signal),
    notify: (method, params) => client.sendNotification(method, params),
    dispose: async () => {
      isUp = false;
      closing.abort();
      const gone = child && child.exitCode === null && child.signalCode === null ? exited(child) : undefined;
      await client.dispose().catch(() => undefined);
      const timeout = setTimeout(() => child?.kill('SIGKILL'), stopTimeoutMs);
      await gone;
      clearTimeout(timeout);
    },
  };
}

/** How long an engine that was asked to end may take to put its records away. */
const stopTimeoutMs = 6000;

/** Says what goes wrong in the log alone: the words for a person come from `messages.ts`. */
class QuietLanguageClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

function startEngine(enginePath: string): ChildProcess {
  const { program, env } = engineProgram();
  return spawn(program, [enginePath, '--stdio'], { env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true });
}

function exited(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

async function answer(
  events: ConnectionEvents,
  method: string,
  params: unknown,
  token: CancellationToken,
  closed: AbortSignal,
): Promise<unknown> {
  const cancelled = new AbortController();
  const subscription = token.onCancellationRequested(() => cancelled.abort());
  try {
    const result = await events.onRequest(method, params, AbortSignal.any([cancelled.signal, closed]));
    if (result.ok) return result.value ?? null;
    const { code, message, data } = result;
    return new ResponseError(LSPErrorCodes.RequestFailed, message, { code, data });
  } finally {
    subscription.dispose();
  }
}

async function sendRequest(
  client: LanguageClient,
  method: string,
  params: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  const source = new CancellationTokenSource();
  const onAbort = () => source.cancel();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await client.sendRequest(method, params, source.token);
  } finally {
    signal.removeEventListener('abort', onAbort);
    source.dispose();
  }
}
