import assert from 'node:assert/strict';
import { PersonActs } from '../../../extension/src/appHost/personActs.ts';
import {
  createBridgeCalls,
  type BridgeOptions,
} from '../../../language-server/src/apps/bridge/bridgeCalls.ts';
import { bridgeValue } from '../../../protocol/src/bridge.ts';
import { AppBridge } from '../../../webviews/src/appHost/appBridge.ts';
import { CallLimits } from '../../../webviews/src/appHost/callLimits.ts';
import { judgeCall } from '../../../webviews/src/appHost/judgeCall.ts';
import { createFrequentActs } from '../../support/frequentActs.ts';

/** A call that no app may make, whatever it was permitted. */
interface Forbidden {
  readonly method: string;
  readonly params: unknown;
}

const never: readonly string[] = [
  'agent.send',
  'conversation/send',
  'settings.set',
  'settings/update',
  'connection/list',
  'keys.read',
  'vault.reveal',
  'approval.answer',
  'gate/answer',
  'run/start',
  'project/get',
  'app/install',
  'app/list',
  'app/delete',
  'bridge/call',
  'appPage/document',
  'app.call',
  'plugins.call',
  'generate.video',
  'generate',
  'files.get ',
  ' files.get',
  'files.get\u0000',
  'files.get\n',
  'Files.Get',
  'FILES.GET',
  'files/get',
  'files..get',
  'files.get/../../settings',
  'files.quota.toString',
  '%66iles.get',
  'ｆiles.get',
  'files.\u200bget',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '',
  'command:workbench.action.quit',
];
const paths: readonly string[] = [
  '../other/notes.json',
  'a/../../other',
  '/etc/passwd',
  'C:\\Windows\\x',
  'C:x',
  'a\\b',
  'a//b',
  'a/./b',
  './a',
  '.hidden',
  'a/.hidden',
  'a/',
  '%2e%2e/x',
  'a\u0000b',
  'a\nb',
  'ａ/b',
  'a b',
  '\u202Ea',
  '~',
  '',
  'a/'.repeat(40) + 'b',
  'x'.repeat(5000),
];
const links: readonly string[] = [
  'javascript:alert(1)',
  'command:workbench.action.quit',
  'vscode://x/y',
  'file:///etc/passwd',
  'data:text/html,x',
  'ftp://example.org/',
  'mailto:a@example.org',
  '//example.org/',
  'example.org',
  'http://',
  'https://example.com@evil.example.org/',
  'https://user:word@example.org/',
  'java\nscript:alert(1)',
  '',
  `https://example.org/${'x'.repeat(3000)}`,
];
const forbidden: readonly Forbidden[] = [
  ...never.map((method) => ({ method, params: {} })),
  ...paths.flatMap((path) => [
    { method: 'files.get', params: { path, encoding: 'text' } },
    { method: 'files.put', params: { path, content: 'x', encoding: 'text' } },
    { method: 'files.delete', params: { path } },
  ]),
  ...links.map((url) => ({ method: 'link.open', params: { url } })),
  // Whose call it is never stands in a message.
  { method: 'files.get', params: { path: 'a', encoding: 'text', app: 'other' } },
  { method: 'files.quota', params: { app: 'other' } },
  { method: 'files.list', params: { prefix: 'a', principal: 'person' } },
  { method: 'files.quota', params: JSON.parse('{"__proto__":{"app":"other"}}') as unknown },
  { method: 'plugin.call', params: { plugin: 'other/search', function: 'find', input: {} } },
  { method: 'plugin.call', params: { plugin: '../other', function: 'find', input: {} } },
  { method: 'plugin.call', params: { plugin: 'search', function: '__proto__', input: {} } },
  { method: 'plugin.call', params: { plugin: 'search', function: 'find', input: {}, app: 'other' } },
  { method: 'generate.text', params: { messages: [{ role: 'system', text: 'x' }] } },
  { method: 'generate.text', params: { messages: [{ role: 'user', text: 'x' }], tools: [] } },
  { method: 'generate.text', params: { messages: [{ role: 'user', text: 'x' }], connection: 'mine' } },
  { method: 'generate.text', params: { messages: [], model: 'm' } },
  { method: 'generate.image', params: { prompt: 'x', size: '1024x1024; rm' } },
  { method: 'generate.embedding', params: { texts: Array(1000).fill('x') } },
  { method: 'results.read', params: { project: 'p', card: 'c', port: 'o', encoding: 'text', root: '/' } },
  { method: 'download.save', params: { name: '../x', content: '', encoding: 'text' } },
  { method: 'download.save', params: { name: 'a/b', content: '', encoding: 'text' } },
  { method: 'download.save', params: { name: 'a', content: '', encoding: 'text', path: '/tmp/x' } },
  ...[null, [], 'text', 7, true].map((params) => ({ method: 'files.quota', params })),
];

type Judge = typeof judgeCall;
const letThrough: Judge = (_method, params) => ({ ok: true, lane: 'quick', isOwn: false, params });

type Behind = (method: string, params: string) => Promise<string>;

/** The engine with an app that was permitted everything, and the person's window, as the extension joins them. */
function realBehind(reached: string[]): Behind {
  const everything = [
    ...['text', 'image', 'speech', 'embedding'].map((kind) => ({ name: 'generate', kind }) as const),
    { name: 'storage', megabytes: 16 } as const,
    { name: 'models' } as const,
    { name: 'results' } as const,
  ];
  const effect = (name: string) => () => {
    reached.push(name);
    return undefined as never;
  };
  const running = {
    app: { id: 'notes' },
    content: { plugins: new Map([['search', {}]]) },
    rights: { app: everything, plugins: {} },
  };
  const calls = createBridgeCalls({
    library: { open: () => running },
    storage: {
      get: effect('get'),
      put: effect('put'),
      list: effect('list'),
      delete: effect('delete'),
      usage: effect('usage'),
    },
    acts: createFrequentActs().acts,
    generate: effect('generate'),
    models: { list: effect('models'), voices: effect('voices') },
    results: { list: effect('results'), read: effect('result') },
    callPlugin: effect('plugin'),
    onChunk: () => undefined,
    onProblem: () => undefined,
    monotonic: () => 0,
    setTimer: () => () => undefined,
  } as unknown as BridgeOptions);
  return (method, params) => {
    const person = new PersonActs(
      'notes',
      {
        openLink: async () => (reached.push('link'), true),
        save: async () => (reached.push('save'), true),
      },
      () => 0,
    );
    return (
      person.answer(method, params) ?? calls({ app: 'notes', method, params }, new AbortController().signal)
    );
  };
}

async function outcomes(judge: Judge, behind: Behind) {
  const answers = new Map<string, string>();
  for (const { method, params } of forbidden) {
    let now = 0;
    const bridge = new AppBridge({
      judge,
      limits: new CallLimits(() => (now += 60_000)),
      forward: async (call) => ({ answer: await behind(call.method, call.params) }),
      theme: () => ({ kind: 'dark', reducedMotion: false, screenReader: false, variables: {} }),
      onRefused: () => undefined,
    });
    const call = { method, params: JSON.stringify(params) };
    const answer = await bridge.answer(call, new AbortController().signal, () => undefined);
    answers.set(`${method} ${call.params.slice(0, 200)}`, answer);
  }
  return answers;
}

const granted = (answers: Map<string, string>) =>
  [...answers].filter(([, answer]) => (JSON.parse(answer) as { ok: boolean }).ok).map(([call]) => call);

describe('The two checks of the bridge', () => {
  const openDoor: Behind = () => Promise.resolve(bridgeValue('reached'));

  it('[FRAME-05] refuse together what no app may ask for', async () => {
    const reached: string[] = [];
    assert.deepEqual(granted(await outcomes(judgeCall, realBehind(reached))), []);
    assert.deepEqual(reached, []);
  });

  it('[FRAME-05] without the shell’s check, the engine and the extension refuse all of it', async () => {
    const reached: string[] = [];
    assert.deepEqual(granted(await outcomes(letThrough, realBehind(reached))), []);
    assert.deepEqual(reached, []);
  });

  it('[FRAME-05] without the check behind it, the shell refuses all of it', async () => {
    assert.deepEqual(granted(await outcomes(judgeCall, openDoor)), []);
  });

  it('the control: without both, all of it is done', async () => {
    assert.equal(
      granted(await outcomes(letThrough, openDoor)).length,
      (await outcomes(letThrough, openDoor)).size,
    );
  });

  it('the control: what an app may ask for passes both', async () => {
    const reached: string[] = [];
    const behind = realBehind(reached);
    const asked: readonly [string, unknown, string][] = [
      ['files.list', { prefix: 'notes/' }, 'list'],
      ['models.list', { kind: 'text' }, 'models'],
      ['plugin.call', { plugin: 'search', function: 'find', input: { words: 'x' } }, 'plugin'],
      ['results.list', {}, 'results'],
      ['link.open', { url: 'https://example.org/a?b#c' }, 'link'],
      ['download.save', { name: 'notes.md', content: 'eA==', encoding: 'base64' }, 'save'],
      ['generate.text', { messages: [{ role: 'user', text: 'x' }] }, 'generate'],
    ];
    for (const [method, params, effect] of asked) {
      const judged = judgeCall(method, JSON.stringify(params));
      assert.ok(judged.ok, method);
      await behind(method, judged.params);
      assert.equal(reached.at(-1), effect);
    }
  });
});
