import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WebviewPanel } from 'vscode';
import { AppPanel } from '../../../extension/src/appHost/appPanel.ts';
import { AppSlots, appViewTypes } from '../../../extension/src/appHost/appSlots.ts';
import { PersonActs, type PersonWindow } from '../../../extension/src/appHost/personActs.ts';
import { PluginCalls } from '../../../extension/src/vault/pluginCalls.ts';
import type { Engine } from '../../../extension/src/engine.ts';
import { appPageHost, appPageView } from '../../../protocol/src/appHost.ts';
import type { BridgeAnswer } from '../../../protocol/src/bridge.ts';
import { Channel } from '../../../protocol/src/channel.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';

function memento(kept: Record<string, unknown> = {}) {
  return {
    kept,
    get: (name: string) => kept[name],
    update: async (name: string, value: unknown) => void (kept[name] = structuredClone(value)),
  };
}

describe('the view types of apps', () => {
  it('[FRAME-07] are one for each app, which keeps it', async () => {
    const state = memento();
    const slots = new AppSlots(state);
    const first = await slots.take('notes');
    const second = await slots.take('board');
    assert.notEqual(first, second);
    assert.ok(appViewTypes.includes(first) && appViewTypes.includes(second));
    const later = new AppSlots(state);
    assert.equal(await later.take('notes'), first);
    assert.equal(later.appOf(second), 'board');
    assert.equal(later.appOf('sallyport.app64'), undefined);
  });

  it('run out after sixty-four: then the one that was used longest ago is taken over', async () => {
    const slots = new AppSlots(memento());
    const types: string[] = [];
    for (let n = 0; n < 64; n++) types.push(await slots.take(`app-${n}`));
    assert.equal(new Set(types).size, 64);
    await slots.take('app-0');
    const taken = await slots.take('one-more');
    assert.equal(taken, types[1]);
    assert.equal(slots.appOf(taken), 'one-more');
    assert.equal(slots.appOf(types[0] ?? ''), 'app-0');
  });

  for (const damaged of [
    'text',
    [{ app: 'notes' }],
    [{ app: '../x', viewType: 'sallyport.app1' }],
    [{ app: 'a', viewType: 'sallyport.canvas' }],
  ]) {
    it(`start anew where what was kept is damaged: ${JSON.stringify(damaged)}`, async () => {
      const slots = new AppSlots(memento({ 'sallyport.appSlots': damaged }));
      assert.equal(slots.appOf('sallyport.app1'), undefined);
      assert.equal(await slots.take('notes'), 'sallyport.app1');
    });
  }
});

describe('what an app asks a person for', () => {
  function acts(answers: Partial<PersonWindow> = {}) {
    const asked: string[] = [];
    let now = 0;
    const person = new PersonActs(
      'notes',
      {
        openLink: async (app, url) => {
          asked.push(`${app} ${url.href}`);
          return true;
        },
        save: async (app, name, bytes) => {
          asked.push(`${app} ${name} ${Buffer.from(bytes).toString('utf8')}`);
          return true;
        },
        ...answers,
      },
      () => now,
    );
    const ask = async (method: string, params: unknown) =>
      JSON.parse((await person.answer(method, JSON.stringify(params))) ?? 'null') as BridgeAnswer | null;
    return { ask, asked, pass: (ms: number) => (now += ms) };
  }
  const link = { url: 'https://example.org/a' };

  it('[FRAME-06] is shown whole and done when the person agrees', async () => {
    const { ask, asked } = acts();
    assert.deepEqual(await ask('link.open', link), { ok: true, value: { opened: true } });
    assert.deepEqual(await ask('download.save', { name: 'a b.md', content: 'eA==', encoding: 'base64' }), {
      ok: true,
      value: { saved: true },
    });
    assert.deepEqual(asked, ['notes https://example.org/a', 'notes a b.md x']);
    assert.equal(await ask('files.get', {}), null);
  });

  it('[FRAME-06] is one thing at a time', async () => {
    let agree: (opened: boolean) => void = () => undefined;
    const { ask } = acts({ openLink: () => new Promise((resolve) => (agree = resolve)) });
    const first = ask('link.open', link);
    assert.equal(codeOf(await ask('link.open', link)), 'declined');
    assert.equal(
      codeOf(await ask('download.save', { name: 'a', content: '', encoding: 'text' })),
      'declined',
    );
    agree(true);
    assert.equal((await first)?.ok, true);
  });

  it('[FRAME-06] rests for ten seconds after a no, and is asked ten times a minute at most', async () => {
    const refusing = acts({ openLink: async () => false });
    assert.deepEqual(await refusing.ask('link.open', link), { ok: true, value: { opened: false } });
    assert.equal(codeOf(await refusing.ask('link.open', link)), 'declined');
    refusing.pass(10_000);
    assert.equal((await refusing.ask('link.open', link))?.ok, true);

    const agreeing = acts();
    for (let n = 0; n < 10; n++) assert.equal((await agreeing.ask('link.open', link))?.ok, true);
    assert.equal(codeOf(await agreeing.ask('link.open', link)), 'declined');
    agreeing.pass(60_000);
    assert.equal((await agreeing.ask('link.open', link))?.ok, true);
  });

  for (const name of [
    'a/b',
    '..',
    '.',
    '',
    ' . ',
    'CON',
    'nul.txt',
    'a\u0000',
    'a\u202Eb',
    'a:b',
    'a\\b',
    'x'.repeat(101),
  ]) {
    it(`never names a file ${JSON.stringify(name.slice(0, 20))}`, async () => {
      const { ask, asked } = acts();
      assert.equal(codeOf(await ask('download.save', { name, content: '', encoding: 'text' })), 'bad-params');
      assert.deepEqual(asked, []);
    });
  }

  it('loses leading dots of a name, so that no hidden file is made', async () => {
    const { ask, asked } = acts();
    await ask('download.save', { name: '.bashrc', content: 'x', encoding: 'text' });
    assert.deepEqual(asked, ['notes bashrc x']);
  });

  it('fails without telling why the window failed', async () => {
    const { ask } = acts({ save: () => Promise.reject(new Error('/home/someone is read-only')) });
    const answer = await ask('download.save', { name: 'a', content: '', encoding: 'text' });
    assert.deepEqual(answer, { ok: false, code: 'internal', message: 'It could not be done' });
  });
});

function codeOf(answer: BridgeAnswer | null): string | undefined {
  return answer && !answer.ok ? answer.code : undefined;
}

describe('the panel of an app', () => {
  const folder = useTemporaryFolder();

  /** A panel with a shell on its other end, and an engine that keeps what it was asked. */
  function opened(answer: (method: string, params: Record<string, unknown>) => unknown) {
    const asked: { method: string; params: Record<string, unknown> }[] = [];
    const heard = new Map<string, (params: never) => void>();
    const engine = {
      call: async (method: string, params: Record<string, unknown>) => {
        asked.push({ method, params });
        return answer(method, params);
      },
      on: (method: string, listener: (params: never) => void) => {
        heard.set(method, listener);
        return { dispose: () => heard.delete(method) };
      },
    };
    let toHost: (message: unknown) => void = () => undefined;
    let toShell: (message: unknown) => void = () => undefined;
    let isDisposed = false;
    const vscodePanel = {
      title: '',
      dispose: () => (isDisposed = true),
      webview: {
        postMessage: (message: unknown) => {
          toShell(structuredClone(message));
          return Promise.resolve(true);
        },
        onDidReceiveMessage: (listener: (message: unknown) => void) => {
          toHost = listener;
          return { dispose: () => undefined };
        },
      },
    };
    const logged: string[] = [];
    const log = (text: string) => void logged.push(text);
    const pluginCalls = new PluginCalls();
    const panel = new AppPanel('notes', vscodePanel as unknown as WebviewPanel, {
      engine: engine as unknown as Engine,
      log: { info: log, warn: log, error: log, show: () => undefined },
      files: { source: async (name) => `source of ${name}`, frameScriptHash: async () => '' },
      window: { openLink: async () => true, save: async () => true },
      pluginCalls,
      now: () => 0,
    });
    const chunks: string[] = [];
    const updates: unknown[] = [];
    const shell = new Channel(
      {
        send: (message) => toHost(structuredClone(message)),
        start: (onMessage) => (toShell = onMessage),
        close: () => undefined,
      },
      appPageHost,
      {
        local: appPageView,
        requestHandlers: {},
        notificationHandlers: {
          'appPage/chunk': ({ callId, text }) => void chunks.push(`${callId} ${text}`),
          'appPage/updated': () => void updates.push(1),
          'appPage/reload': () => undefined,
        },
      },
    );
    const tell = (method: string, params: unknown) => heard.get(method)?.(params as never);
    return {
      panel,
      shell,
      asked,
      tell,
      chunks,
      updates,
      logged,
      vscodePanel,
      pluginCalls,
      isDisposed: () => isDisposed,
    };
  }

  function page(treeDigest = 'a'.repeat(64)) {
    const documentPath = join(folder(), 'page.html');
    writeFileSync(documentPath, '<p>ä');
    return { app: 'notes', name: 'Notes', treeDigest, documentPath, documentBytes: 5 };
  }

  it('[FRAME-05] says whose call it is, whatever the page says', async () => {
    const { shell, asked } = opened((method) => (method === 'app/page' ? page() : { result: '{"ok":true}' }));
    const params = JSON.stringify({ path: 'a', encoding: 'text', app: 'other' });
    assert.deepEqual(await shell.call('appPage/call', { method: 'files.get', params }), {
      answer: '{"ok":true}',
    });
    assert.deepEqual(asked.at(-1), {
      method: 'bridge/call',
      params: { app: 'notes', method: 'files.get', params },
    });
  });

  it('[VAULTUSE-28] knows which plugin a page waits for, from its own webview, until the call has ended', async () => {
    const { promise, resolve } = Promise.withResolvers<{ result: string }>();
    const { shell, pluginCalls } = opened((method) => (method === 'app/page' ? page() : promise));
    const isUnderWay = (): boolean[] =>
      ['plugin:notes/search', 'plugin:notes/other', 'plugin:other/search'].map((each) =>
        pluginCalls.isUnderWay(each),
      );
    const call = (method: string) =>
      shell.call('appPage/call', { method, params: '{"plugin":"search","function":"find","input":1}' });
    const other = call('files.get');
    await until(() => !isUnderWay().includes(true));
    const called = call('plugin.call');
    await until(() => isUnderWay()[0] === true);
    assert.deepEqual(isUnderWay(), [true, false, false]);
    resolve({ result: '{"ok":true}' });
    await Promise.all([other, called]);
    assert.deepEqual(isUnderWay(), [false, false, false]);
  });

  it('[FRAME-06] keeps links and files from the engine', async () => {
    const { shell, asked } = opened(() => page());
    const before = asked.length;
    const { answer } = await shell.call('appPage/call', {
      method: 'link.open',
      params: '{"url":"https://example.org/"}',
    });
    assert.deepEqual(JSON.parse(answer), { ok: true, value: { opened: true } });
    assert.equal(asked.length, before);
  });

  it('gives the page once it is there, asked for before the shell asks', async () => {
    const { shell, asked, vscodePanel } = opened(() => page());
    assert.deepEqual(
      asked.map(({ method }) => method),
      ['app/page'],
    );
    assert.deepEqual(await shell.call('appPage/frame', {}), {
      app: 'notes',
      frameScript: 'source of appFrame',
    });
    const shown = await shell.call('appPage/document', {});
    assert.equal(new TextDecoder().decode(shown.document), '<p>ä');
    assert.equal(vscodePanel.title, 'Notes');
    assert.equal(asked.length, 1);
    await shell.call('appPage/document', {});
    assert.equal(asked.length, 2, 'a reload asks anew');
  });

  it('passes on the pieces of its own calls, of the page that is loaded', async () => {
    const parts = opened((method) => (method === 'app/page' ? page() : { result: '{}' }));
    const { shell, asked, tell, chunks } = parts;
    await shell.call('appPage/document', {});
    await shell.call('appPage/call', { method: 'generate.text', params: '{}', callId: '7' });
    const callId = String(asked.at(-1)?.params['callId']);
    tell('bridge/chunk', { app: 'notes', callId, text: 'one' });
    tell('bridge/chunk', { app: 'other', callId, text: 'lost' });
    await shell.call('appPage/document', {});
    tell('bridge/chunk', { app: 'notes', callId, text: 'late' });
    assert.deepEqual(chunks, ['7 one']);
  });

  it('refuses a call that would not fit one message to the engine', async () => {
    const { shell, asked } = opened((method) => (method === 'app/page' ? page() : { result: '{"ok":true}' }));
    const call = async (params: string) =>
      JSON.parse((await shell.call('appPage/call', { method: 'files.put', params })).answer) as BridgeAnswer;
    // Three bytes of UTF-8 each.
    assert.equal(codeOf(await call('語'.repeat(3 * 1024 * 1024))), 'too-large');
    assert.equal((await call('x'.repeat(3 * 1024 * 1024))).ok, true);
    assert.equal(asked.filter(({ method }) => method === 'bridge/call').length, 1);
  });

  it('says in the page that another version is there, and closes for an app that is gone', async () => {
    let answer: () => unknown = () => page();
    const { shell, tell, updates, isDisposed } = opened(() => answer());
    await shell.call('appPage/document', {});
    tell('app/changed', { app: 'notes' });
    await until(() => true);
    assert.deepEqual(updates, []);
    answer = () => page('b'.repeat(64));
    tell('app/changed', { app: 'notes' });
    await until(() => updates.length === 1);
    answer = () => {
      throw new UserError('not-found', 'gone');
    };
    tell('app/changed', { app: 'notes' });
    await until(isDisposed);
  });

  it('tells the person’s words of an app that does not open, and logs what an app said escaped', async () => {
    const { shell, logged } = opened(() => {
      throw new UserError('not-found', 'There is no app notes.', { app: 'notes' });
    });
    await assert.rejects(shell.call('appPage/document', {}), { code: 'not-found' });
    shell.notify('appPage/problem', { kind: 'error', text: 'a\u202Eb\nc' });
    assert.match(logged.at(-1) ?? '', /a\\u\{202E\}b\\u\{A\}c/);
  });
});
