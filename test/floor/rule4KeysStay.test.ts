import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SavedConnection } from '../../extension/src/connections/connectionStore.ts';
import { openHttp } from '../../extension/src/connections/httpRequest.ts';
import { ProviderBroker } from '../../extension/src/connections/providerBroker.ts';
import { ConnectionKeys } from '../../extension/src/connections/connectionKeys.ts';
import { KeyVault } from '../../extension/src/keys/keyVault.ts';
import type { PersonSide } from '../../language-server/src/agent/providers/personSide.ts';
import { errorMessage } from '../../protocol/src/errors.ts';
import { Canary } from '../hostile/agent/canary.ts';
import { AgentEngine } from '../support/agentEngine.ts';
import { writeProject } from '../support/projectFolder.ts';
import type { ScriptedTurn } from '../support/providers/script.ts';
import { useTemporaryFolder } from '../support/temporaryFolder.ts';
import { noVaultKeys } from '../support/vaultKeys.ts';

/** Rule 4: keys stay with the person's side. A whole session, and then a search in everything that is left of it. */
describe('floor 4: keys stay with the person’s side', () => {
  const folder = useTemporaryFolder();
  const echoes: readonly ((key: string) => ScriptedTurn)[] = [
    (key) => ({ text: ['It is ', key, ` ${Buffer.from(key).toString('base64')}`] }),
    (key) => ({ failure: { status: 401, body: JSON.stringify({ error: { message: `Bad key ${key}` } }) } }),
    (key) => ({ failure: { status: 400, body: `<b>${encodeURIComponent(key)}</b>` } }),
    (key) => ({ failure: { status: 307, headers: { location: `https://example.org/?k=${key}` } } }),
    (key) => ({ text: [`Cut at ${key}`], cut: 'reset' }),
    () => ({ calls: [{ name: 'list', args: {} }] }),
    () => ({ text: ['Done.'] }),
  ];

  async function session(canary: Canary, leak: boolean): Promise<string[]> {
    const home = join(folder(), 'home');
    mkdirSync(home);
    const root = writeProject(join(folder(), 'project'), { first: {} });
    const keys = new KeyVault({
      secrets: {
        get: () => Promise.resolve(undefined),
        store: () => Promise.resolve(),
        delete: () => Promise.resolve(),
      },
      timeoutMs: 5_000,
    });
    let saved: SavedConnection | undefined;
    let streams = 0;
    const broker = new ProviderBroker({
      find: () => saved,
      keys: new ConnectionKeys(keys, noVaultKeys),
      openHttp,
      createId: () => `s${++streams}`,
    });
    const crossed: string[] = [];
    const never = new AbortController().signal;
    const ask = async (method: string, params: never, signal: AbortSignal = never): Promise<unknown> => {
      switch (method) {
        case 'provider/open':
          return broker.open(params, signal);
        case 'provider/read':
          return broker.read(params, signal);
        case 'provider/close':
          broker.close((params as { stream: string }).stream);
          return null;
        default:
          return method === 'editor/dirty' ? [] : { answer: null };
      }
    };
    const person = {
      ask: async (method: string, params: never, signal?: AbortSignal) => {
        try {
          const answer = await ask(method, params, signal);
          const { base64 } = answer as { base64?: string };
          crossed.push(
            JSON.stringify([method, params, answer]),
            Buffer.from(base64 ?? '', 'base64').toString(),
          );
          return answer;
        } catch (error) {
          crossed.push(errorMessage(error));
          throw error;
        }
      },
    } as PersonSide;
    const agent = new AgentEngine(home, root, { person });
    try {
      let turn = 0;
      const server = await agent.connect('anthropic', () => echoes[turn++ % echoes.length]?.(canary.value));
      const { address } = agent.person.connections.get('anthropic') ?? assert.fail('no connection');
      saved = { id: 'anthropic', kind: 'anthropic', name: 'Mine', base: address, hasKey: true, models: [] };
      assert.equal(await keys.save('anthropic', new URL(address).origin, canary.value), true);
      const { id } = await agent.create('anthropic');
      await agent.call('grant/give', { root, kind: 'read', conversation: id, folder: '' });
      for (let asked = 0; asked < echoes.length; asked++)
        await agent.ask(id, leak ? `My key is ${canary.value}` : 'Go on.');
      assert.ok(
        server.seen.some(({ headers }) => headers['x-api-key'] === canary.value),
        'the key was used',
      );
      const sent = await agent.call('conversation/sent', { id, limit: 100 });
      return [
        ...canary.in(JSON.stringify(agent.engine.told)).map((spelling) => `event: ${spelling}`),
        ...canary.in(JSON.stringify(await agent.items(id))).map((spelling) => `row: ${spelling}`),
        ...canary.in(JSON.stringify(sent)).map((spelling) => `sent request: ${spelling}`),
        ...canary.in(JSON.stringify(agent.engine.problems)).map((spelling) => `problem: ${spelling}`),
        ...crossed.flatMap((text) => canary.in(text).map((spelling) => `crossed to the engine: ${spelling}`)),
        ...server.seen.flatMap(({ text }) => canary.in(text).map((spelling) => `request body: ${spelling}`)),
        ...canary.below(home),
      ];
    } finally {
      await agent.dispose();
    }
  }

  it('[FLOOR-04] a whole session, with a provider that says the key back in every way, leaves it nowhere', async () => {
    assert.deepEqual(await session(new Canary(), false), []);
  });

  it('[FLOOR-04] a key that the person typed into a message is found by the same search (control)', async () => {
    const found = (await session(new Canary(), true)).join('\n');
    for (const place of ['event: raw', 'row: raw', 'sent request: raw', 'request body: raw', 'home'])
      assert.ok(found.includes(place), `${place} is not among ${found}`);
  });
});
