import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WebviewPanel } from 'vscode';
import { Channel, type Transport } from '../../../protocol/src/channel.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { canvasHost, canvasView, runHost, runWebview } from '../../../protocol/src/webview.ts';
import { CanvasPanel } from '../../../extension/src/panels/canvasPanel.ts';
import { OutputCopies } from '../../../extension/src/panels/outputCopies.ts';
import { PanelGroup } from '../../../extension/src/panels/panelGroup.ts';
import type { PanelServices } from '../../../extension/src/panels/panelServices.ts';
import { RunPanel } from '../../../extension/src/panels/runPanel.ts';
import {
  sampleCard,
  sampleCardRun,
  sampleOutput,
  sampleRun,
  sampleStatus,
} from '../../support/sampleViews.ts';
import { until } from '../../support/until.ts';

/** A panel with a page on its other end, as far as these panels use one. */
function fakePanel() {
  const toHost = new Set<(message: unknown) => void>();
  const viewState = new Set<() => void>();
  const closed = new Set<() => void>();
  let toPage: (message: unknown) => void = () => undefined;
  const listenable =
    <T>(listeners: Set<T>) =>
    (listener: T) => {
      listeners.add(listener);
      return { dispose: () => listeners.delete(listener) };
    };
  const panel = {
    title: '',
    visible: true,
    webview: {
      postMessage: (message: unknown) => {
        toPage(structuredClone(message));
        return Promise.resolve(true);
      },
      onDidReceiveMessage: listenable(toHost),
    },
    onDidChangeViewState: listenable(viewState),
    onDidDispose: listenable(closed),
    dispose: () => closed.forEach((listener) => listener()),
  };
  const page: Transport = {
    send: (message) => toHost.forEach((listener) => listener(structuredClone(message))),
    start: (onMessage) => (toPage = onMessage),
    close: () => undefined,
  };
  const show = (visible: boolean) => {
    panel.visible = visible;
    viewState.forEach((listener) => listener());
  };
  return { panel: panel as unknown as WebviewPanel, page, show, listeners: () => toHost.size };
}

/** An engine that answers from a table and keeps what it was asked. */
function fakeServices(answers: Record<string, (params: never) => unknown>) {
  const listeners = new Map<string, Set<(params: unknown) => void>>();
  const asked: string[] = [];
  const commands: unknown[][] = [];
  const warnings: string[] = [];
  const services = {
    engine: {
      call: async (method: string, params: unknown) => {
        asked.push(`${method} ${JSON.stringify(params)}`);
        const answer = answers[method];
        if (!answer) throw new UserError('not-found', method);
        return answer(params as never);
      },
      on: (method: string, listener: (params: unknown) => void) => {
        const known = listeners.get(method) ?? new Set();
        listeners.set(method, known.add(listener));
        return { dispose: () => known.delete(listener) };
      },
      onDidChangeState: (listener: (state: unknown) => void) => {
        const known = listeners.get('state') ?? new Set();
        listeners.set('state', known.add(listener));
        return { dispose: () => known.delete(listener) };
      },
    },
    commands: {
      run: async (...args: unknown[]) => void commands.push(args),
      runBuiltin: async (...args: unknown[]) => void commands.push(args),
    },
    log: { warn: (text: string) => warnings.push(text) },
  } as unknown as PanelServices;
  const fire = (method: string, params: unknown) =>
    listeners.get(method)?.forEach((listener) => listener(params));
  const listening = () => [...listeners.values()].reduce((sum, set) => sum + set.size, 0);
  return { services, fire, asked, commands, warnings, listening };
}

describe('The canvas panel', () => {
  const project = {
    root: '/p',
    name: 'weather',
    scope: null,
    trusted: true,
    problems: 0,
    cards: [sampleCard('one')],
    runId: 'run-1',
  };

  function open() {
    const fake = fakePanel();
    const host = fakeServices({
      'project/get': () => project,
      'run/get': () => ({ summary: sampleRun(), cards: [] }),
    });
    const held = new CanvasPanel('/p', fake.panel, host.services);
    const heard: string[] = [];
    const page = new Channel(fake.page, canvasHost, {
      local: canvasView,
      requestHandlers: {},
      notificationHandlers: {
        'canvas/project': ({ name, run }) => heard.push(`project ${name} ${run?.runId ?? ''}`),
        'canvas/delta': ({ cards }) => heard.push(`delta ${cards.map(({ id }) => id).join()}`),
        'canvas/message': ({ text }) => heard.push(`message ${text}`),
      },
    });
    return { ...fake, ...host, held, heard, page, raw: fake.page };
  }

  it('tells a page that is ready what the engine says, and forwards what is its own while it is seen', async () => {
    const { page, heard, fire, show, panel, held, listening } = open();
    await page.call('canvas/ready', {});
    await until(() => heard.length === 1);
    assert.deepEqual(heard, ['project weather run-1']);
    assert.match(panel.title, /weather/);
    const delta = (root: string) => ({
      summary: sampleRun({ root }),
      cards: [{ id: 'one', status: sampleStatus('done') }],
    });
    fire('run/delta', delta('/p'));
    fire('run/delta', delta('/other'));
    show(false);
    fire('run/delta', delta('/p'));
    assert.deepEqual(heard.slice(1), ['delta one']);
    held.dispose();
    assert.equal(listening(), 0);
  });

  it('asks the engine that was started in place of one that ended', async () => {
    const { page, heard, fire, show, held } = open();
    await page.call('canvas/ready', {});
    await until(() => heard.length === 1);
    fire('state', 'starting');
    fire('state', 'running');
    await until(() => heard.length === 2);
    assert.equal(heard[1], heard[0]);
    show(false);
    fire('state', 'running');
    assert.equal(heard.length, 2);
    held.dispose();
  });

  it('[VIEW-02] turns wishes into commands for its own project, and nothing else', async () => {
    const { page, commands, held } = open();
    await page.call('canvas/runCard', { card: 'one' });
    await page.call('canvas/reviewPermissions', {});
    assert.deepEqual(commands, [
      ['sallyport.runCard', { root: '/p', card: 'one' }],
      ['sallyport.reviewPermissions', { root: '/p' }],
    ]);
    await assert.rejects(
      page.call('canvas/runCard', { card: 'one', root: '/elsewhere' } as never),
      (error) => error instanceof UserError && error.code === 'bad-message',
    );
    assert.equal(commands.length, 2);
    held.dispose();
  });

  it('[VIEW-02] counts messages that do not fit, and says no more of them than a name', () => {
    const { raw, warnings, held } = open();
    for (let count = 0; count < 2000; count++)
      raw.send({ jsonrpc: '2.0', id: count, method: 'secret/text', params: 1 });
    assert.ok(warnings.length < 10);
    assert.doesNotMatch(warnings.join(), /params/);
    held.dispose();
  });
});

describe('The run panel', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'panels-'));
    await writeFile(join(folder, 'blob'), '{"a":1}');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  function open() {
    const fake = fakePanel();
    const cards = [sampleCardRun('one', { outputs: [sampleOutput('out', 'json')], logLines: 3 })];
    const host = fakeServices({
      'project/get': () => ({ name: 'weather', runId: 'run-1' }),
      'run/get': ({ runId }: { runId: string }) => ({ summary: sampleRun({ runId }), cards }),
      'log/read': () => ({ lines: [], totalLines: 3, cutBytes: 0 }),
      'artifact/locate': () => ({ path: join(folder, 'blob'), sizeBytes: 7 }),
    });
    const copies = new OutputCopies(host.services.engine);
    const pages: string[] = [];
    const held = new RunPanel('/project', fake.panel, host.services, {
      files: { source: async (name) => name, frameScriptHash: async () => '' },
      copies,
      openPage: (root, card, output) => pages.push(`${root} ${card} ${output.port}`),
    });
    const shown: string[] = [];
    const page = new Channel(fake.page, runHost, {
      local: runWebview,
      requestHandlers: {},
      notificationHandlers: {
        'run/state': ({ run, selected }) => shown.push(`${run.runId} ${selected ?? '-'}`),
        'run/cards': ({ cards: changed }) => shown.push(`changed ${changed.map(({ id }) => id).join()}`),
        'run/logGrew': ({ totalLines }) => shown.push(`log ${totalLines}`),
        'run/message': ({ text }) => shown.push(text),
      },
    });
    return { ...fake, ...host, held, page, shown, copies, pages };
  }

  it('shows the run and the card that it was opened for, as soon as the page is there', async () => {
    const { held, page, shown } = open();
    held.show('run-7', 'one');
    assert.deepEqual(shown, []);
    await page.call('run/ready', {});
    await until(() => shown.length === 1);
    assert.deepEqual(shown, ['run-7 one']);
    held.dispose();
  });

  it('[VIEW-02] reads logs and outputs of the shown run only', async () => {
    const { held, page, shown, asked } = open();
    await page.call('run/ready', {});
    await until(() => shown.length === 1);
    const { base64 } = await page.call('run/readOutput', { card: 'one', port: 'out' });
    assert.equal(Buffer.from(base64, 'base64').toString(), '{"a":1}');
    await page.call('run/readLog', { cardRunId: 'run-1-one', fromLine: 0, count: 1e9 });
    assert.match(asked.at(-1) ?? '', /"count":2000/);
    const before = asked.length;
    await assert.rejects(
      page.call('run/readLog', { cardRunId: 'other', fromLine: 0, count: 1 }),
      /shown run/,
    );
    await assert.rejects(page.call('run/readOutput', { card: 'one', port: '../../etc/passwd' }), /no output/);
    await assert.rejects(page.call('run/openPage', { card: 'two', port: 'out' }), /no output/);
    assert.equal(asked.length, before);
    held.dispose();
  });

  it('opens a read-only copy, never the stored blob', async () => {
    const { held, page, shown, commands, copies } = open();
    await page.call('run/ready', {});
    await until(() => shown.length === 1);
    await page.call('run/openOutput', { card: 'one', port: 'out' });
    const [[command, uri] = []] = commands as [string, { fsPath: string }][];
    assert.equal(command, 'vscode.open');
    assert.ok(uri && uri.fsPath !== join(folder, 'blob'));
    assert.equal(await readFile(uri.fsPath, 'utf8'), '{"a":1}');
    assert.equal((await stat(uri.fsPath)).mode & 0o777, 0o444);
    held.dispose();
    copies.dispose();
    await until(() =>
      stat(uri.fsPath).then(
        () => false,
        () => true,
      ),
    );
  });

  it('takes the run that was started from it, and reads again when a card ends', async () => {
    const { held, page, shown, fire, commands } = open();
    await page.call('run/ready', {});
    await until(() => shown.length === 1);
    fire('run/delta', { summary: sampleRun(), cards: [{ id: 'one', status: sampleStatus('running') }] });
    assert.equal(shown.at(-1), 'changed one');
    fire('run/delta', { summary: sampleRun(), cards: [{ id: 'one', status: sampleStatus('done') }] });
    await until(() => shown.at(-1) === 'run-1 -');
    await page.call('run/again', {});
    assert.deepEqual(commands, [['sallyport.runProject', { root: '/project' }]]);
    fire('run/delta', { summary: sampleRun({ runId: 'run-2' }), cards: [] });
    await until(() => shown.at(-1) === 'run-2 -');
    fire('run/delta', { summary: sampleRun({ runId: 'run-3' }), cards: [] });
    assert.equal(shown.at(-1), 'run-2 -');
    held.dispose();
  });

  it('says so where there is no run', async () => {
    const { held, page, shown, services } = open();
    Object.assign(services.engine, { call: async () => ({ name: 'weather', runId: null }) });
    await page.call('run/ready', {});
    await until(() => shown.length === 1);
    assert.match(shown[0] ?? '', /Nothing of weather has run yet/);
    held.dispose();
  });
});

describe('Panels', () => {
  it('are one for each project, and free what they hold when they are closed', () => {
    const disposed: string[] = [];
    const group = new PanelGroup((root) => ({ dispose: () => void disposed.push(root) }));
    const first = fakePanel().panel;
    assert.equal(group.open('/a', () => first).isNew, true);
    assert.equal(group.open('/a', () => assert.fail('made twice')).panel, first);
    const restored = fakePanel().panel;
    assert.equal(group.adopt('/a', restored), undefined);
    assert.ok(group.adopt('/b', restored));
    first.dispose();
    assert.deepEqual(disposed, ['/a']);
    group.dispose();
    assert.deepEqual(disposed, ['/a', '/b']);
  });
});
