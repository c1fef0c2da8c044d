import assert from 'node:assert/strict';
import { createGenerate } from '../../../../language-server/src/apps/generate/createGenerate.ts';
import { createModelList, kindOf } from '../../../../language-server/src/apps/generate/modelList.ts';
import { Gate } from '../../../../language-server/src/gate/gate.ts';
import { Ledger } from '../../../../language-server/src/gate/ledger.ts';
import { openDatabase } from '../../../../language-server/src/store/openDatabase.ts';
import type { PersonSide } from '../../../../language-server/src/agent/providers/personSide.ts';
import type { Connection } from '../../../../protocol/src/agent.ts';
import type { Principal } from '../../../../protocol/src/gate.ts';
import type { EgressRecord } from '../../../../protocol/src/runner.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { join } from 'node:path';

const model = (id: string) => ({
  id,
  name: id,
  contextTokens: null,
  inputPrice: null,
  outputPrice: null,
  images: false,
});
const connections: Connection[] = [
  {
    id: 'c1',
    kind: 'openai-compatible',
    name: 'Here',
    origin: 'https://models.example',
    models: ['chat', 'text-embedding-3-small', 'gpt-image-1', 'tts-1'].map(model),
  },
  {
    id: 'c2',
    kind: 'ollama',
    name: 'Own',
    origin: 'http://127.0.0.1:11434',
    models: ['llama', 'nomic-embed-text'].map(model),
  },
];
const never = new AbortController().signal;

describe('what apps ask models', () => {
  const folder = useTemporaryFolder();
  const open = (
    answer: (path: string, body: unknown) => { status?: number; type?: string; bytes: string | Buffer },
    isTrusted = true,
  ) => {
    const asked: { path: string; body: Record<string, unknown> }[] = [];
    const egress: [Principal, EgressRecord][] = [];
    const { database } = openDatabase(join(folder(), 'x.sqlite'));
    let left = Buffer.alloc(0);
    const person: PersonSide = {
      ask: (async (method: string, params: { path: string; body: string }) => {
        if (method === 'provider/open') {
          const body = JSON.parse(params.body) as Record<string, unknown>;
          asked.push({ path: params.path, body });
          const { status = 200, type = 'application/json', bytes } = answer(params.path, body);
          left = Buffer.from(bytes);
          return { stream: 's', status, headers: { 'content-type': type } };
        }
        if (method === 'provider/read') return { base64: left.toString('base64'), done: true };
        return null;
      }) as unknown as PersonSide['ask'],
    };
    let ids = 0;
    const ledger = new Ledger(database, 'e');
    const gate = new Gate({
      ledger,
      world: { isTrusted: () => isTrusted, modeOf: () => 'act', titleOf: () => null },
      createId: () => `g${++ids}`,
      now: () => 0,
      monotonic: () => 0,
      setTimer: () => () => undefined,
      onWaitingChanged: () => undefined,
    });
    const generate = createGenerate({
      models: createModelList(() => connections),
      person,
      gate: async () => gate,
      recordEgress: (by, record) => void egress.push([by, record]),
      createId: () => `r${++ids}`,
      now: () => 5,
    });
    return { generate, asked, egress, ledger, close: () => database.close() };
  };

  it('[APPS-15] lists models by what they make, without an address or a key', () => {
    const models = createModelList(() => connections);
    assert.deepEqual(
      models.list().map(({ id, kind }) => `${kind} ${id}`),
      [
        'text c1/chat',
        'embedding c1/text-embedding-3-small',
        'image c1/gpt-image-1',
        'speech c1/tts-1',
        'text c2/llama',
        'embedding c2/nomic-embed-text',
      ],
    );
    assert.doesNotMatch(JSON.stringify(models.list()), /example|127\.0\.0\.1/);
    assert.equal(models.choose('text', undefined).id, 'c1/chat');
    assert.equal(models.choose('text', 'c2/llama').connection.id, 'c2');
    assert.throws(() => models.choose('text', 'c1/tts-1'), { code: 'no-model' });
    assert.throws(() => createModelList(() => []).choose('image', undefined), { code: 'no-model' });
    assert.ok(models.voices().length > 0);
    assert.deepEqual(createModelList(() => []).voices(), []);
    assert.equal(kindOf({ kind: 'anthropic' }, 'text-embedding'), 'text');
  });

  it('[APPS-15] text comes in pieces and whole, as an act of the app with a line in the egress log', async () => {
    const events = [
      { choices: [{ index: 0, delta: { role: 'assistant', content: 'Hel' } }] },
      { choices: [{ index: 0, delta: { content: 'lo' } }] },
      {
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      },
    ];
    const wire = [
      ...events.map(
        (event) => `data: ${JSON.stringify({ id: 'x', created: 0, model: 'chat', ...event })}\n\n`,
      ),
      'data: [DONE]\n\n',
    ].join('');
    const { generate, asked, egress, ledger, close } = open(() => ({
      type: 'text/event-stream',
      bytes: wire,
    }));
    const pieces: string[] = [];
    const result = await generate(
      'app:notes',
      'text',
      { messages: [{ role: 'user', text: 'hi' }], system: 's', maxTokens: 7, temperature: 0.5 },
      { signal: never, onText: (piece) => void pieces.push(piece) },
    );
    assert.deepEqual(result, { text: 'Hello', model: 'c1/chat', stop: 'end' });
    assert.deepEqual(pieces, ['Hel', 'lo']);
    assert.equal(asked[0]?.path, 'chat/completions');
    assert.equal(asked[0].body['max_tokens'], 7);
    assert.equal(asked[0].body['temperature'], 0.5);
    assert.deepEqual(
      [egress[0]?.[0], egress[0]?.[1].host, egress[0]?.[1].verdict],
      ['app:notes', 'models.example', 'allowed'],
    );
    assert.equal(ledger.receipt('provider:r1')?.state, 'done');
    close();
  });

  it('[APPS-15] embeddings, images and speech speak their wire formats', async () => {
    const { generate, asked, close } = open((path) =>
      path === 'embeddings'
        ? {
            bytes: JSON.stringify({
              data: [
                { index: 1, embedding: [2] },
                { index: 0, embedding: [1] },
              ],
            }),
          }
        : path === 'embed'
          ? { bytes: JSON.stringify({ embeddings: [[3], [4]] }) }
          : path === 'images/generations'
            ? {
                bytes: JSON.stringify({
                  data: [{ b64_json: Buffer.from('\x89PNG\r\n').toString('base64') }],
                }),
              }
            : { type: 'audio/mpeg', bytes: 'mp3' },
    );
    const texts = ['a', 'b'];
    assert.deepEqual((await generate('plugin:a/b', 'embedding', { texts }, { signal: never })).vectors, [
      [1],
      [2],
    ]);
    assert.deepEqual(
      (await generate('plugin:a/b', 'embedding', { texts, model: 'c2/nomic-embed-text' }, { signal: never }))
        .vectors,
      [[3], [4]],
    );
    const image = await generate('app:notes', 'image', { prompt: 'x', size: '64x64' }, { signal: never });
    assert.equal(image.base64.length > 0 && image.model, 'c1/gpt-image-1');
    const speech = await generate('app:notes', 'speech', { text: 'x', voice: 'nova' }, { signal: never });
    assert.deepEqual(speech, {
      mime: 'audio/mpeg',
      base64: Buffer.from('mp3').toString('base64'),
      model: 'c1/tts-1',
    });
    assert.deepEqual(
      asked.map(({ path }) => path),
      ['embeddings', 'embed', 'images/generations', 'audio/speech'],
    );
    close();
  });

  const failures: readonly (readonly [string, { status?: number; type?: string; bytes: string }, string])[] =
    [
      ['a refused key', { status: 401, bytes: '{"error":{"message":"secret-detail"}}' }, 'no-model'],
      ['too many requests', { status: 429, bytes: '{}' }, 'too-many'],
      ['a bad request', { status: 400, bytes: '{"error":{"message":"secret-detail"}}' }, 'bad-params'],
      ['a failure of the server', { status: 500, bytes: 'secret-detail' }, 'unavailable'],
      ['a web page', { type: 'text/html', bytes: '<p>secret-detail' }, 'unavailable'],
      ['nonsense', { bytes: 'secret-detail' }, 'unavailable'],
      ['too few vectors', { bytes: '{"data":[]}' }, 'unavailable'],
      ['too much', { bytes: 'x'.repeat(6 * 1024 * 1024) }, 'too-large'],
    ];
  for (const [name, answer, code] of failures)
    it(`[APPS-15] tells an app of ${name} in words that hold nothing of it`, async () => {
      const { generate, close } = open(() => answer);
      await assert.rejects(
        generate('app:notes', 'embedding', { texts: ['a'] }, { signal: never }),
        (error: { code?: string; message?: string }) => {
          assert.equal(error.code, code);
          assert.doesNotMatch(error.message ?? '', /secret-detail|models\.example|Here/);
          return true;
        },
      );
      close();
    });

  it('[APPS-15] nothing is sent for a card, in an untrusted workspace, or after a cancel', async () => {
    const { generate, asked, close } = open(() => ({ bytes: '{}' }));
    await assert.rejects(generate('card:x', 'embedding', { texts: ['a'] }, { signal: never }), {
      code: 'not-allowed',
    });
    await assert.rejects(
      generate('app:notes', 'embedding', { texts: ['a'] }, { signal: AbortSignal.abort() }),
      { code: 'cancelled' },
    );
    close();
    assert.deepEqual(asked, []);
    const untrusted = open(() => ({ bytes: '{}' }), false);
    await assert.rejects(untrusted.generate('app:notes', 'embedding', { texts: ['a'] }, { signal: never }), {
      code: 'not-allowed',
    });
    assert.deepEqual(untrusted.asked, []);
    untrusted.close();
  });
});
