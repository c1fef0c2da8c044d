import assert from 'node:assert/strict';
import type { Item } from '../../../protocol/src/agent.ts';
import type { Engine } from '../../../extension/src/engine.ts';
import { ShownConversation } from '../../../extension/src/panels/shownConversation.ts';
import { Watchdog } from '../../../extension/src/panels/watchdog.ts';
import { workbenchActs, type ActParams, type ActScene } from '../../../extension/src/panels/workbenchActs.ts';
import {
  WorkbenchController,
  type WorkbenchWindow,
} from '../../../extension/src/panels/workbenchController.ts';
import type { WorkbenchPage } from '../../../extension/src/panels/workbenchPage.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import {
  answerItem,
  longConversation,
  noticeItem,
  sampleConnections,
  sampleItems,
  sampleSummary,
} from '../../support/sampleConversation.ts';
import { until } from '../../support/until.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

type Answers = Record<string, (params: Record<string, unknown>) => unknown>;

function fakeEngine(answers: Answers) {
  const calls: { method: string; params: Record<string, unknown> }[] = [];
  const listeners = new Map<string, (params: unknown) => void>();
  const engine = {
    call: async (method: string, params: Record<string, unknown>) => {
      calls.push({ method, params });
      const answer = answers[method];
      if (!answer) throw new UserError('closed', `no ${method}`);
      return answer(params);
    },
    on: (method: string, listener: (params: unknown) => void) => {
      listeners.set(method, listener);
      return { dispose: () => void listeners.delete(method) };
    },
  } as unknown as Engine;
  return { engine, calls, hear: (method: string, params: unknown) => listeners.get(method)?.(params) };
}

describe('the watchdog of a page', () => {
  function watched() {
    let now = 0;
    let look: (() => void) | undefined;
    let deaths = 0;
    let crowd = 0;
    const dog = new Watchdog({
      now: () => now,
      crowd: () => crowd,
      every: (_ms, run) => {
        look = run;
        return { dispose: () => (look = undefined) };
      },
      onDead: () => deaths++,
    });
    const pass = (ms: number, beats: boolean) => {
      for (let passed = 0; passed < ms; passed += 200) {
        now += 200;
        if (beats) dog.beat();
        look?.();
      }
    };
    return {
      dog,
      pass,
      skip: (ms: number) => (now += ms),
      share: (processes: number) => (crowd = processes),
      isLooking: () => look !== undefined,
      deaths: () => deaths,
    };
  }

  it('[WB-06] notices within a second that a page stopped', () => {
    const { dog, pass, deaths } = watched();
    dog.watch(true);
    pass(1000, true);
    assert.equal(deaths(), 0);
    pass(800, false);
    assert.equal(deaths(), 1);
  });

  it('[WB-06] gives a page that loads more time, and looks at nothing that is hidden', () => {
    const { dog, pass, isLooking, deaths } = watched();
    dog.watch(true);
    pass(14_000, false);
    assert.equal(deaths(), 0);
    dog.watch(false);
    assert.equal(isLooking(), false);
    dog.watch(true);
    pass(16_000, false);
    assert.equal(deaths(), 1);
  });

  it('[WB-06] does not count the time that this process was held up', () => {
    const { dog, pass, skip, deaths } = watched();
    dog.watch(true);
    pass(1000, true);
    skip(30_000);
    pass(400, false);
    assert.equal(deaths(), 0);
  });

  it('[WB-06] is patient with a page whose signs of life come late, and no longer than that', () => {
    const { dog, pass, deaths } = watched();
    dog.watch(true);
    pass(1000, true);
    for (let times = 0; times < 5; times++) {
      pass(400, false);
      pass(200, true);
    }
    pass(1600, false);
    assert.equal(deaths(), 0);
    pass(400, false);
    assert.equal(deaths(), 1);
    dog.watch(true);
    pass(90_000, true);
    pass(800, false);
    assert.equal(deaths(), 2, 'in good order it is as quick as before');
  });

  it('[WB-06] is patient where many processes share a core', () => {
    const { dog, pass, share, deaths } = watched();
    dog.watch(true);
    pass(1000, true);
    share(4);
    pass(2400, false);
    assert.equal(deaths(), 0);
    pass(400, false);
    assert.equal(deaths(), 1);
  });

  it('[WB-06] allows twice the silence after each death, until all was well for a while', () => {
    const { dog, pass, deaths } = watched();
    const dies = (ms: number) => {
      const before = deaths();
      dog.watch(true);
      pass(400, true);
      pass(ms, false);
      return deaths() > before;
    };
    assert.equal(dies(800), true);
    assert.equal(dies(1000), false);
    assert.equal(dies(1600), true);
    dog.watch(true);
    pass(70_000, true);
    assert.equal(dies(800), true);
  });
});

describe('the shown conversation', () => {
  const all = longConversation(500);
  const { engine, calls } = fakeEngine({
    'conversation/read': ({ before, limit }) => ({
      summary: sampleSummary(),
      items: all
        .filter(({ seq }) => seq < ((before as number | undefined) ?? Infinity))
        .slice(-(limit as number)),
    }),
  });

  it('holds a window, takes deltas and says what is missing', async () => {
    const shown = new ShownConversation(engine);
    await shown.open('c-1');
    assert.equal(shown.items.length, 200);
    const delta = {
      id: 'c-1',
      summary: sampleSummary({ items: 501 }),
      items: [answerItem(501, 'a')],
      text: null,
    };
    assert.equal(shown.take(delta), 'taken');
    assert.equal(shown.items.length, 200);
    assert.equal(shown.summary?.items, 501);
    assert.equal(shown.take({ ...delta, id: 'c-2' }), 'other');
    assert.equal(shown.take({ ...delta, items: [], text: { seq: 501, at: 7, append: 'x' } }), 'torn');
  });

  it('reads a row that it does not hold from the engine', async () => {
    const shown = new ShownConversation(engine);
    await shown.open('c-1');
    calls.length = 0;
    assert.equal((await shown.row('c-1', 400))?.seq, 400);
    assert.equal(calls.length, 0);
    assert.equal((await shown.row('c-1', 3))?.seq, 3);
    assert.equal((await shown.row('c-1', 0))?.seq, undefined);
  });
});

describe('the acts of a page', () => {
  const ran: { id: string; target: unknown }[] = [];
  const { engine } = fakeEngine({});
  const act = workbenchActs({
    engine,
    commands: {
      run: async (id: string, target: unknown) => void ran.push({ id, target }),
      runBuiltin: async (id: string, ...args: unknown[]) => void ran.push({ id, target: args[0] }),
    } as never,
    changeDocuments: {
      openDiff: async (change: unknown) => void ran.push({ id: 'diff', target: change }),
    } as never,
  });
  const items: Item[] = [
    ...sampleItems(),
    noticeItem(20, { action: { command: 'workbench.action.terminal.new', title: 'x' } }),
    noticeItem(21, { action: { command: 'sallyport.connectModel', title: 'x' } }),
  ];
  const scene: ActScene = {
    root: '/project',
    conversation: 'c-1',
    title: () => 'A title',
    row: async (_id, seq) => items.find((item) => item.seq === seq),
    open: async () => undefined,
    forget: async () => undefined,
  };
  const run = (part: Partial<ActParams>) =>
    act({ act: 'review', id: null, seq: null, value: '', ...part }, scene);
  beforeEach(() => {
    ran.length = 0;
    resetStub();
  });

  for (const [part, id, target] of [
    [{ act: 'openDiff', seq: 7, value: 'x3' }, 'diff', { id: 'x3', path: 'cards/compare-years/_card.json' }],
    [
      { act: 'undoFile', seq: 6, value: 'x2' },
      'sallyport.undoChanges',
      { root: '/project', changeIds: ['x2'] },
    ],
    [{ act: 'undoTurn', seq: 9 }, 'sallyport.undoChanges', { root: '/project', group: 'c-1:turn:1' }],
    [{ act: 'redoTurn', seq: 9 }, 'sallyport.redoChanges', { root: '/project', group: 'c-1:turn:1' }],
    [{ act: 'openRun', seq: 8, value: 'other' }, 'sallyport.openRun', { root: '/project', runId: 'run-7' }],
    [{ act: 'review' }, 'sallyport.reviewWaiting', {}],
    [{ act: 'newProject' }, 'sallyport.newProject', {}],
    [{ act: 'trust' }, 'workbench.trust.manage', undefined],
    [{ act: 'notice', seq: 21 }, 'sallyport.connectModel', { root: '/project', conversation: 'c-1' }],
  ] as const) {
    it(`[WB-07] ${part.act} becomes ${id}`, async () => {
      await run(part);
      assert.deepEqual(ran, [{ id, target }]);
    });
  }

  for (const part of [
    { act: 'openDiff', seq: 7, value: 'x1' },
    { act: 'openFile', seq: 7, value: '../../etc/passwd' },
    { act: 'openFile', seq: 7, value: 'cards/monthly-means/main.py' },
    { act: 'openRun', seq: 7, value: 'run-7' },
    { act: 'undoFile', seq: null, value: 'x1' },
    { act: 'notice', seq: 20 },
    { act: 'notice', seq: 2 },
  ] as const) {
    it(`[WB-07] ${part.act} of what its row does not have is refused: ${JSON.stringify(part)}`, async () => {
      await assert.rejects(run(part), { code: 'not-found' });
      assert.deepEqual(ran, []);
    });
  }

  for (const value of ['command:x', 'file:///etc/passwd', 'javascript:x', 'vscode://x', 'x', 'data:,x']) {
    it(`[WB-02] ${value} is no link`, async () => {
      await run({ act: 'openLink', value });
      assert.deepEqual(stub.shown, []);
    });
  }

  it('[WB-02] a link is shown whole before it is opened, and stays closed without a press', async () => {
    await run({ act: 'openLink', value: 'https://evil.example/?key=1#x' });
    assert.equal(stub.shown.length, 1);
    assert.match(stub.shown[0]?.text ?? '', /evil\.example/);
  });
});

describe('the controller of the workbench', () => {
  const told: { method: string; params: unknown }[] = [];
  const page = {
    tell: (method: string, params: unknown) => void told.push({ method, params }),
  } as unknown as WorkbenchPage;
  const last = (method: string) =>
    told.findLast((each) => each.method === method)?.params as Record<string, unknown>;
  const windowOf = (engine: Engine, part: Partial<WorkbenchWindow> = {}): WorkbenchWindow => ({
    engine,
    picker: { project: async () => ({ root: '/project', name: 'p' }) as never },
    isTrusted: () => true,
    hasProject: () => true,
    projects: async () => [{ root: '/project', name: 'p' }],
    connections: () => sampleConnections,
    waiting: () => 0,
    act: async () => undefined,
    ...part,
  });
  const signal = new AbortController().signal;
  beforeEach(() => void (told.length = 0));

  it('says that there is no project without starting the engine', async () => {
    const { engine, calls } = fakeEngine({});
    const controller = new WorkbenchController(windowOf(engine, { hasProject: () => false }));
    controller.add(page);
    controller.refresh();
    await until(() => told.length > 0);
    assert.equal(last('workbench/state')['projectName'], null);
    assert.deepEqual(calls, []);
    controller.dispose();
  });

  it('says what went wrong where the engine is down, and comes back', async () => {
    const answers: Answers = {};
    const { engine } = fakeEngine(answers);
    const controller = new WorkbenchController(windowOf(engine));
    controller.add(page);
    controller.refresh();
    await until(() => told.length > 0);
    assert.equal(told[0]?.method, 'workbench/message');
    answers['conversation/list'] = () => ({ conversations: [sampleSummary()] });
    answers['conversation/read'] = () => ({ summary: sampleSummary(), items: sampleItems() });
    controller.refresh();
    await until(() => told.some(({ method }) => method === 'workbench/state'));
    assert.equal((last('workbench/state')['items'] as unknown[]).length, sampleItems().length);
    controller.dispose();
  });

  it('makes one conversation for a first message, however often it is asked', async () => {
    const { engine, calls, hear } = fakeEngine({
      'conversation/list': () => ({ conversations: [] }),
      'conversation/create': () => sampleSummary({ id: 'new' }),
      'conversation/read': () => ({ summary: sampleSummary({ id: 'new' }), items: [] }),
      'conversation/send': () => ({ seq: 1 }),
    });
    const controller = new WorkbenchController(windowOf(engine));
    controller.add(page);
    controller.refresh();
    await until(() => told.length > 0);
    const send = controller.handlers()['workbench/send'];
    const message = { id: '', text: 'x', mentions: [], images: [] };
    await Promise.all([send(message, signal), send(message, signal)]);
    assert.equal(calls.filter(({ method }) => method === 'conversation/create').length, 1);
    assert.deepEqual(
      calls.filter(({ method }) => method === 'conversation/send').map(({ params }) => params['id']),
      ['new', 'new'],
    );
    const delta = {
      id: 'new',
      summary: sampleSummary({ id: 'new' }),
      items: [answerItem(2, 'a')],
      text: null,
    };
    hear('conversation/delta', delta);
    assert.deepEqual(last('workbench/delta')['items'], delta.items);
    hear('conversation/delta', { ...delta, id: 'other' });
    assert.equal(told.filter(({ method }) => method === 'workbench/delta').length, 1);
    controller.dispose();
  });
});
