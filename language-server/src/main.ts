import { dirname } from 'node:path';
import { argv, exit, stdin, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { createProtocolConnection, createConnection, ProposedFeatures } from 'vscode-languageserver';
import { IPCMessageReader, IPCMessageWriter, StreamMessageWriter } from 'vscode-jsonrpc/node';
import { BoundedMessageReader } from './lsp/messageReader.ts';
import { startServer } from './lsp/server.ts';

/**
 * The engine process: LSP over standard streams, or over Node's channel with `--node-ipc`. It ends when it is told to
 * and when its parent goes, which closes the stream; nothing polls for either.
 */
const overIpc = argv.includes('--node-ipc');
const reader = overIpc ? new IPCMessageReader(process) : new BoundedMessageReader(stdin);
const writer = overIpc ? new IPCMessageWriter(process) : new StreamMessageWriter(stdout);

/** How long what runs may take to end before the process goes all the same. */
const longestEndMs = 5000;
let ending: Promise<void> | undefined;

const watchDog = {
  shutdownReceived: false,
  initialize: () => undefined,
  exit: (code: number) => void end(code),
};
const connection = createConnection(
  (logger) => createProtocolConnection(reader, writer, logger),
  watchDog,
  ProposedFeatures.all,
);
const programs = dirname(fileURLToPath(import.meta.url));
const server = startServer({
  connection,
  createServices: async (options) => {
    const { createEngineServices } = await import('./services.ts');
    return createEngineServices({ ...options, programs });
  },
});

connection.onShutdown(() => disposeOnce());
reader.onError((error) => connection.console.warn(`Failed to read: ${error.message}`));
reader.onClose(() => void end(watchDog.shutdownReceived ? 0 : 1));
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => void end(0));
if (overIpc) process.once('disconnect', () => void end(watchDog.shutdownReceived ? 0 : 1));

async function end(code: number): Promise<void> {
  setTimeout(() => exit(code), longestEndMs).unref();
  await disposeOnce();
  exit(code);
}

function disposeOnce(): Promise<void> {
  return (ending ??= server.dispose().catch(() => undefined));
}
