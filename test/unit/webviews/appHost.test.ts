import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as z from 'zod/mini';
import { bridgeMethods, type BridgeAnswer, type BridgeMethodName } from '../../../protocol/src/bridge.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { AppBridge, type AppBridgeOptions } from '../../../webviews/src/appHost/appBridge.ts';
import { CallLimits } from '../../../webviews/src/appHost/callLimits.ts';
import { judgeCall } from '../../../webviews/src/appHost/judgeCall.ts';
import { shellTable } from '../../../webviews/src/appHost/shellTable.ts';
import { isBounded } from '../../../webviews/src/frame/isBounded.ts';

const theme = { kind: 'dark', reducedMotion: false, screenReader: false, variables: {} } as const;

/** One that fits for each method. */
const samples: Record<BridgeMethodName, unknown> = {
  'plugin.call': { plugin: 'search', function: 'find', input: null },
  'generate.text': {
    messages: [{ role: 'user', text: 'x' }],
    system: 's',
    model: 'm',
    maxTokens: 5,
    temperature: 0.5,
  },
  'generate.image': { prompt: 'x', size: '1024x768' },
  'generate.speech': { text: 'x', voice: 'v' },
  'generate.embedding': { texts: ['x', ''] },
  'files.get': { path: 'a/b-c_d.json', encoding: 'base64' },
  'files.put': { path: 'a', content: 'x', encoding: 'text' },
  'files.list': { prefix: 'a/' },
  'files.delete': { path: 'a' },
  'files.quota': {},
  'models.list': { kind: 'text' },
  'voices.list': {},
  'results.list': {},
  'results.read': { project: 'p', card: 'c', port: 'o', encoding: 'text' },
  'link.open': { url: 'https://example.org/' },
  'download.save': { name: 'a.txt', content: 'x', encoding: 'text' },
  'theme.get': {},
};

describe('the shell’s table', () => {
  it('names exactly the methods of the contract', () => {
    assert.deepEqual([...shellTable.keys()].sort(), Object.keys(bridgeMethods).sort());
  });

  for (const [method, params] of Object.entries(samples)) {
    it(`passes ${method} on as it was checked`, () => {
      const judged = judgeCall(method, JSON.stringify(params));
      assert.ok(judged.ok);
      assert.deepEqual(JSON.parse(judged.params), params);
    });
  }

  it('lets nothing through that the contract refuses', () => {
    const pieces = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom(
        '..',
        'a/../b',
        '/',
        'https://x.org',
        'javascript:1',
        'text',
        'base64',
        'user',
        '1024x1',
        '__proto__',
      ),
      fc.integer(),
      fc.double(),
      fc.constantFrom(null, true, [], {}, [null], ['x'], [{ role: 'user', text: 'x' }]),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...(Object.keys(samples) as BridgeMethodName[])),
        fc.array(
          fc.tuple(
            fc.constantFrom(
              'path',
              'encoding',
              'content',
              'name',
              'url',
              'messages',
              'kind',
              'plugin',
              'function',
              'input',
              'prefix',
              'size',
              'texts',
              'temperature',
              'maxTokens',
              'extra',
            ),
            pieces,
          ),
          { maxLength: 2 },
        ),
        (method, changes) => {
          const params = { ...(samples[method] as object), ...Object.fromEntries(changes) };
          const judged = judgeCall(method, JSON.stringify(params));
          if (!judged.ok || method === 'link.open' || method === 'download.save') return;
          const parsed = z.safeParse(bridgeMethods[method].params, JSON.parse(judged.params));
          assert.ok(parsed.success, judged.params);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('looks at no text that is too long, and reads none that is not JSON', () => {
    assert.deepEqual(codeOf(judgeCall('files.put', 'x'.repeat(3 * 1024 * 1024 + 1))), 'too-large');
    assert.deepEqual(codeOf(judgeCall('files.quota', '{')), 'bad-params');
    assert.deepEqual(codeOf(judgeCall('files.quota', '{"__proto__":1}')), 'bad-params');
    assert.deepEqual(codeOf(judgeCall('constructor', '{}')), 'not-allowed');
  });
});

describe('the limits of an app’s calls', () => {
  it('count what runs at once and what began in ten seconds, lane by lane', () => {
    let now = 0;
    const limits = new CallLimits(() => now);
    for (let n = 0; n < 4; n++) assert.equal(limits.enter('model'), true);
    assert.equal(limits.enter('model'), false);
    assert.equal(limits.enter('plugin'), true);
    limits.leave('model');
    assert.equal(limits.enter('model'), true);
    for (let n = 0; n < 55; n++) {
      limits.leave('model');
      assert.equal(limits.enter('model'), true);
    }
    limits.leave('model');
    assert.equal(limits.enter('model'), false, 'the sixty-first in the window');
    now = 10_000;
    assert.equal(limits.enter('model'), true);
  });

  it('let a person be asked one thing at a time', () => {
    const limits = new CallLimits(() => 0);
    assert.equal(limits.enter('person'), true);
    assert.equal(limits.enter('person'), false);
  });
});

describe('the shell’s half of the bridge', () => {
  function bridge(options: Partial<AppBridgeOptions> = {}) {
    const refused: string[] = [];
    const made = new AppBridge({
      judge: judgeCall,
      limits: new CallLimits(() => 0),
      forward: async ({ method }) => ({ answer: JSON.stringify({ ok: true, value: method }) }),
      theme: () => theme,
      onRefused: (method, code) => void refused.push(`${method}: ${code}`),
      ...options,
    });
    const ask = async (method: string, params: unknown, stream?: string, pieces: string[] = []) =>
      JSON.parse(
        await made.answer(
          { method, params: JSON.stringify(params), ...(stream === undefined ? {} : { stream }) },
          new AbortController().signal,
          (text) => void pieces.push(text),
        ),
      ) as BridgeAnswer;
    return { made, ask, refused };
  }

  it('answers the theme itself, passes the rest on, and names what it refused', async () => {
    const { ask, refused } = bridge();
    assert.deepEqual(await ask('theme.get', {}), { ok: true, value: theme });
    assert.deepEqual(await ask('files.quota', {}), { ok: true, value: 'files.quota' });
    assert.equal((await ask('settings.set', {})).ok, false);
    assert.deepEqual(refused, ['settings.set: not-allowed']);
  });

  it('hands the pieces of a text to the call that asked for them, and none after its end', async () => {
    const ids: (string | undefined)[] = [];
    const parts = bridge({
      forward: async ({ callId }) => {
        ids.push(callId);
        parts.made.hear(callId ?? '', 'one ');
        parts.made.hear('another', 'lost');
        return { answer: '{"ok":true,"value":null}' };
      },
    });
    const pieces: string[] = [];
    await parts.ask('generate.text', samples['generate.text'], 'mine', pieces);
    parts.made.hear(ids[0] ?? '', 'late');
    assert.deepEqual(pieces, ['one ']);
    await parts.ask('generate.text', samples['generate.text']);
    assert.deepEqual(ids, ['1', undefined]);
  });

  it('tells an app of a failure between our own processes in general words', async () => {
    const table: readonly (readonly [Error, string])[] = [
      [new UserError('closed', 'pipe /home/someone/.secret'), 'unavailable'],
      [new UserError('timeout', 'x'), 'timeout'],
      [new UserError('cancelled', 'x'), 'cancelled'],
      [new Error('/home/someone'), 'internal'],
    ];
    for (const [error, code] of table) {
      const { ask } = bridge({ forward: () => Promise.reject(error) });
      const answer = await ask('files.quota', {});
      assert.ok(!answer.ok);
      assert.equal(answer.code, code);
      assert.doesNotMatch(answer.message, /someone/);
    }
  });

  it('frees the place of a call that failed', async () => {
    const { ask } = bridge({ forward: () => Promise.reject(new Error('x')) });
    for (let n = 0; n < 40; n++) assert.equal(codeOf(await ask('files.quota', {})), 'internal');
  });
});

describe('a bounded message', () => {
  it('has so much text and so many values', () => {
    assert.equal(isBounded({ a: 'x'.repeat(10), b: [1, { c: 'y' }] }, 14), true);
    assert.equal(isBounded({ a: 'x'.repeat(15) }, 15), false);
    assert.equal(isBounded({ ['k'.repeat(20)]: 1 }, 15), false);
    assert.equal(isBounded(Array(1001).fill(0), 15), false);
    assert.equal(isBounded(Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [n, 0])), 1e6), false);
    assert.equal(isBounded(new ArrayBuffer(1e6), 1), true);
    const circle: unknown[] = [];
    circle.push(circle);
    assert.equal(isBounded(circle, 10), false);
  });
});

function codeOf(judged: { ok: boolean; code?: string }): string | undefined {
  return judged.ok ? undefined : judged.code;
}
