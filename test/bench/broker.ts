import { PassThrough } from 'node:stream';
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';
import { openHttp } from '../../extension/src/connections/httpRequest.ts';
import type { ProviderBroker } from '../../extension/src/connections/providerBroker.ts';
import { KeyVault } from '../../extension/src/keys/keyVault.ts';
import '../support/vscodeHooks.ts';
import { openLoopback } from '../support/loopbackServer.ts';
import { noVaultKeys } from '../support/vaultKeys.ts';
import { limitRow, measureInTurns, type BenchRow } from './benchRow.ts';

const rounds = 300;
const key = 'sk-bench-0123456789abcdefghij';
const body = JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(200_000) }] });

/** What the key's way costs until the first byte: JSON-RPC, the broker and the key against a bare request. */
export async function brokerBench(): Promise<BenchRow[]> {
  const { ProviderBroker } = await import('../../extension/src/connections/providerBroker.ts');
  const { ConnectionKeys } = await import('../../extension/src/connections/connectionKeys.ts');
  const server = await openLoopback((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('data: {"text":"hello"}\n\n');
  });
  const base = `${server.base}/v1`;
  const kept = new Map<string, string>();
  const keys = new KeyVault({
    secrets: {
      get: async (name) => kept.get(name),
      store: async (name, value) => void kept.set(name, value),
      delete: async (name) => void kept.delete(name),
    },
    timeoutMs: 5000,
  });
  await keys.save('c', server.base, key);
  let count = 0;
  const broker = new ProviderBroker({
    find: () => ({ id: 'c', kind: 'openai-compatible', name: 'Bench', base, hasKey: true, models: [] }),
    keys: new ConnectionKeys(keys, noVaultKeys),
    openHttp,
    createId: () => `s${++count}`,
  });
  const { engine, close } = connect(broker);
  try {
    const { ours, peer } = await measureInTurns(rounds, {
      ours: async () => {
        const { stream } = await engine.sendRequest<{ stream: string }>('provider/open', {
          connection: 'c',
          path: 'chat/completions',
          headers: { 'content-type': 'application/json' },
          body,
        });
        const { base64 } = await engine.sendRequest<{ base64: string }>('provider/read', { stream });
        if (base64 === '') throw new Error('No first byte');
        broker.close(stream);
      },
      peer: async () => {
        const answer = await openHttp({
          url: `${base}/chat/completions`,
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
          signal: new AbortController().signal,
          silenceMs: 10_000,
        });
        const { done } = await answer.body[Symbol.asyncIterator]().next();
        if (done === true) throw new Error('No first byte');
        answer.body.destroy();
      },
    });
    const added = {
      group: 'workbench',
      name: 'key broker, added to the first byte (200 KB request)',
      unit: 'ms',
    };
    return [limitRow({ ...added, ours: ours - peer }, 3)];
  } finally {
    close();
    broker.closeAll();
    await server.close();
  }
}

/** The engine's end of a JSON-RPC connection whose other end is the broker. */
function connect(broker: ProviderBroker) {
  const [there, back] = [new PassThrough(), new PassThrough()];
  const engine = createMessageConnection(new StreamMessageReader(back), new StreamMessageWriter(there));
  const person = createMessageConnection(new StreamMessageReader(there), new StreamMessageWriter(back));
  const never = new AbortController().signal;
  person.onRequest('provider/open', (params: Parameters<ProviderBroker['open']>[0]) =>
    broker.open(params, never),
  );
  person.onRequest('provider/read', (params: { stream: string }) => broker.read(params, never));
  engine.listen();
  person.listen();
  return {
    engine,
    close: () => {
      engine.dispose();
      person.dispose();
    },
  };
}
