import assert from 'node:assert/strict';
import { approvalLines, mustRead, offeredGrant } from '../../../extension/src/approvals/approvalLines.ts';
import {
  approvalReport,
  explanationReport,
  tryOutReport,
} from '../../../extension/src/approvals/approvalText.ts';
import { reviewGrants } from '../../../extension/src/approvals/grants.ts';
import { PersonQuestions } from '../../../extension/src/approvals/personQuestions.ts';
import { registerWaiting } from '../../../extension/src/approvals/registerWaiting.ts';
import { WaitingReviewer } from '../../../extension/src/approvals/reviewWaiting.ts';
import { WaitingList } from '../../../extension/src/approvals/waitingList.ts';
import { wouldThisAsk } from '../../../extension/src/approvals/wouldThisAsk.ts';
import { CommandRegistry } from '../../../extension/src/commandRegistry.ts';
import type { Reports } from '../../../extension/src/documents/reports.ts';
import type { Log } from '../../../extension/src/log.ts';
import type { Notice } from '../../../extension/src/messages.ts';
import type { Services } from '../../../extension/src/services.ts';
import type { Approval } from '../../../protocol/src/gate.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { FakeEngine } from '../../support/fakeEngine.ts';
import { makeProject } from '../../support/sampleViews.ts';
import { until } from '../../support/until.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

const never = new AbortController().signal;
const log: Log = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  show: () => undefined,
};

function makeApproval(over: Partial<Approval> = {}): Approval {
  return {
    id: 'a1',
    principal: 'agent',
    conversation: 'conv',
    conversationTitle: 'Compare years',
    root: '/p',
    scope: 's',
    callId: 'call',
    tool: 'edit',
    argumentDigest: 'a'.repeat(64),
    reviewDigest: 'b'.repeat(64),
    title: 'Change 3 lines of .vscode/settings.json',
    lines: ['+ "a": true'],
    fullText: null,
    isFlagged: false,
    permissions: [],
    targets: [
      {
        kind: 'path',
        name: '.vscode/settings.json',
        measure: 'c'.repeat(64),
        isProtected: true,
        isOutside: false,
      },
    ],
    rule: { id: 'protected', text: 'It touches a protected file.' },
    grantable: null,
    createdAt: 0,
    expiresAt: 600_000,
    ...over,
  };
}

/** A reviewer over an engine in which these approvals wait. */
function make(waiting: Approval[] = [makeApproval()]) {
  resetStub();
  const shown: Notice[] = [];
  const opened: { title: string; text: string }[] = [];
  const errors: unknown[] = [];
  const fake = new FakeEngine({
    'approval/list': () => structuredClone(waiting),
    'approval/answer': ({ id }: { id: string }) => {
      waiting.splice(0, waiting.length, ...waiting.filter((each) => each.id !== id));
      return { taken: true };
    },
    'approval/declineAll': () => ({ declined: waiting.splice(0).length }),
    'grant/give': () => ({}),
    'grant/list': () => [],
  });
  const reports = {
    show: async (title: string, text: string) => void opened.push({ title, text }),
  } as unknown as Reports;
  const notifier = {
    show: (notice: Notice) => void shown.push(notice),
    showError: (error: unknown) => void errors.push(error),
  };
  const { engine } = fake;
  const list = new WaitingList(engine, log);
  const reviewer = new WaitingReviewer({ engine, list, reports, notifier, log });
  return { fake, engine, list, reviewer, reports, notifier, shown, opened, errors, waiting };
}

const pick = async (label?: string) => {
  await until(
    () =>
      stub.picks.at(-1)?.isShown === true &&
      (!label || stub.picks.at(-1)!.items.some((i) => i.label === label)),
  );
  return stub.picks.at(-1)!;
};
const labels = (lines: readonly { kind: string; text: string }[], kind: string) =>
  lines.filter((line) => line.kind === kind).map((line) => line.text);

describe('one approval', () => {
  it('is shown whole: act, permissions one line each, targets, rule, answers last', () => {
    const approval = makeApproval({
      permissions: [
        {
          key: 'network:a',
          permission: { name: 'unsandboxed' },
          sentence: 'Reach a.example over the network',
        },
        {
          key: 'network:b',
          permission: { name: 'unsandboxed' },
          sentence: 'Reach b.example over the network',
        },
      ],
      isFlagged: true,
    });
    const lines = approvalLines(approval, { isRead: false, hasList: true });
    assert.equal(lines[1]?.kind, 'fact');
    assert.deepEqual(labels(lines, 'fact'), [
      'Change 3 lines of .vscode/settings.json',
      'It holds invisible or control characters. They are shown escaped.',
      'Reach a.example over the network',
      'Reach b.example over the network',
      '+ "a": true',
      '.vscode/settings.json',
      'It touches a protected file.',
    ]);
    assert.deepEqual(labels(lines, 'act'), [
      'Open whole text',
      'Allow once',
      'Decline',
      'Explain',
      'Back to the list',
    ]);
    const firstAct = lines.findIndex((line) => line.kind === 'act');
    assert.ok(
      lines.slice(firstAct).every((line) => line.kind === 'act'),
      'no fact stands below an answer',
    );
  });

  it('calls the project’s own folder by what it is', () => {
    const target = { kind: 'path', name: '.', measure: 'x', isProtected: false, isOutside: false } as const;
    const lines = approvalLines(makeApproval({ targets: [target] }), { isRead: true, hasList: false });
    assert.deepEqual(
      lines.find((line) => line.text === 'the project’s folder'),
      { kind: 'fact', text: 'the project’s folder', note: '' },
    );
    assert.ok(!lines.some((line) => line.text === '.'));
  });

  it('breaks icon and link syntax of what it shows', () => {
    const lines = approvalLines(makeApproval({ title: '$(check) [Allowed](command:x)' }), {
      isRead: false,
      hasList: false,
    });
    assert.ok(!JSON.stringify(lines).includes('$(check)'));
    assert.ok(!JSON.stringify(lines).includes(']('));
  });

  for (const [name, over] of [
    ['a text beside it', { fullText: 'x\n'.repeat(500) }],
    ['a long command', { lines: [`echo ${'a'.repeat(80)}`] }],
    ['a title with leading spaces', { title: `${' '.repeat(300)}rm -rf` }],
    ['a long path', { targets: [{ ...makeApproval().targets[0]!, name: 'd/'.repeat(40) }] }],
  ] as const) {
    it(`[WAIT-02] can be allowed only after the whole text was opened: ${name}`, () => {
      const approval = makeApproval({ grantable: 'write', ...structuredClone(over) } as Partial<Approval>);
      assert.ok(mustRead(approval));
      const before = labels(approvalLines(approval, { isRead: false, hasList: false }), 'act');
      assert.deepEqual(before, ['Open whole text', 'Decline', 'Explain']);
      const after = labels(approvalLines(approval, { isRead: true, hasList: false }), 'act');
      assert.ok(after.includes('Allow once') && after.some((text) => text.startsWith('Grant')));
    });
  }

  it('[WAIT-03] offers a grant only where one would cover it', () => {
    const offered = (over: Partial<Approval>) => offeredGrant(makeApproval(over));
    assert.equal(offered({}), undefined);
    assert.deepEqual(offered({ grantable: 'write' }), { kind: 'write', conversation: 'conv' });
    assert.deepEqual(offered({ grantable: 'read', conversation: null }), {
      kind: 'read',
      conversation: null,
    });
    for (const kind of ['write', 'run', 'shell'] as const)
      assert.equal(offered({ grantable: kind, conversation: null }), undefined);
  });

  it('is written out whole, with nothing hidden', () => {
    const text = `a\u202eb${'x'.repeat(5000)}`;
    const { text: document } = approvalReport(makeApproval({ fullText: text }));
    assert.ok(document.includes(`a\\u{202E}b${'x'.repeat(5000)}`));
    assert.ok(document.includes('.vscode/settings.json') && document.includes('a'.repeat(64)));
    assert.match(explanationReport(makeApproval()).text, /No grant covers this/);
    assert.match(explanationReport(makeApproval({ grantable: 'run' })).text, /grant of Run/);
  });
});

describe('Review What Waits', () => {
  it('allows exactly what was shown, once', async () => {
    const { reviewer, fake } = make();
    const done = reviewer.review();
    (await pick()).choose('Allow once');
    await done;
    assert.deepEqual(fake.asked('approval/answer'), [
      { id: 'a1', reviewDigest: 'b'.repeat(64), answer: 'allow-once' },
    ]);
    assert.deepEqual(fake.asked('grant/give'), []);
  });

  it('answers nothing for a fact, for Explain, or when it is closed', async () => {
    const { reviewer, fake, opened } = make();
    const done = reviewer.review();
    const list = await pick();
    list.choose('Change 3 lines');
    list.choose('It touches');
    list.choose('Explain');
    await until(() => opened.length === 1);
    list.accepted.fire(undefined);
    list.dispose();
    await done;
    assert.deepEqual(fake.asked('approval/answer'), []);
  });

  it('[WAIT-02] shows Allow once when the whole text is open, and not when opening fails', async () => {
    const { reviewer, fake, opened, reports, errors } = make([makeApproval({ fullText: 'long' })]);
    const show = reports.show.bind(reports);
    Object.assign(reports, { show: () => Promise.reject(new UserError('unreadable', 'no editor')) });
    const done = reviewer.review();
    const list = await pick();
    assert.throws(() => list.choose('Allow once'), /No line/);
    list.choose('Open whole text');
    await until(() => errors.length === 1);
    assert.throws(() => list.choose('Allow once'), /No line/);
    Object.assign(reports, { show });
    list.choose('Open whole text');
    await until(() => list.items.some((item) => item.label === 'Allow once'));
    assert.match(opened[0]?.text ?? '', /long/);
    list.choose('Allow once');
    await done;
    assert.equal(fake.asked('approval/answer').length, 1);
  });

  it('[WAIT-03] gives the grant, then allows', async () => {
    const { reviewer, fake } = make([makeApproval({ grantable: 'write' })]);
    const done = reviewer.review();
    (await pick()).choose('Grant Write for this conversation');
    await done;
    assert.deepEqual(
      fake.calls.map(({ method }) => method).filter((method) => method !== 'approval/list'),
      ['grant/give', 'approval/answer'],
    );
    assert.deepEqual(fake.asked('grant/give'), [
      { root: '/p', kind: 'write', conversation: 'conv', folder: '' },
    ]);
  });

  it('is one list where several wait, and declines them all', async () => {
    const { reviewer, fake } = make([makeApproval(), makeApproval({ id: 'a2' })]);
    stub.chosen = ['Change'];
    const done = reviewer.review();
    const list = await pick();
    stub.chosen = ['Decline all 2'];
    list.choose('Back to the list');
    await done;
    assert.equal(fake.asked('approval/declineAll').length, 1);
    assert.deepEqual(fake.asked('approval/answer'), []);
  });

  it('goes on to the next one', async () => {
    const { reviewer, fake } = make([makeApproval(), makeApproval({ id: 'a2', title: 'Second' })]);
    stub.chosen = ['Change'];
    const done = reviewer.review();
    (await pick('Change 3 lines of .vscode/settings.json')).choose('Decline');
    (await pick('Second')).choose('Allow once');
    await done;
    assert.deepEqual(
      fake.asked('approval/answer').map((each) => (each as { answer: string }).answer),
      ['decline', 'allow-once'],
    );
  });

  it('[WAIT-05] closes when what it shows no longer waits, or waits in another form', async () => {
    for (const change of [
      (waiting: Approval[]) => waiting.splice(0),
      (waiting: Approval[]) => (waiting[0] = makeApproval({ reviewDigest: 'c'.repeat(64) })),
    ]) {
      const { reviewer, fake, waiting, shown } = make();
      const done = reviewer.review();
      const list = await pick();
      change(waiting);
      fake.tell('approval/changed', { waiting: 1 });
      await until(() => !list.isShown);
      await until(() => shown.length > 0);
      assert.match(shown[0]?.text ?? '', /no longer waits/);
      if (waiting.length > 0) (await pick()).dispose();
      await done;
      assert.deepEqual(fake.asked('approval/answer'), []);
    }
  });

  it('[WAIT-05] says so where the engine has moved on', async () => {
    const { reviewer, fake, shown, waiting } = make();
    fake.answers['approval/answer'] = () => {
      waiting.splice(0);
      throw new UserError('conflict', 'no longer');
    };
    const done = reviewer.review();
    (await pick()).choose('Allow once');
    await done;
    assert.match(shown[0]?.text ?? '', /no longer waits/);
  });

  it('opens once, and says where nothing waits', async () => {
    const { reviewer, shown } = make([]);
    await reviewer.review();
    assert.match(shown[0]?.text ?? '', /Nothing waits/);
    const other = make();
    const first = other.reviewer.review();
    const list = await pick();
    await other.reviewer.review();
    assert.equal(stub.picks.length, 1);
    list.dispose();
    await first;
  });
});

describe('what waits', () => {
  function register(waiting: Approval[] = []) {
    const parts = make(waiting);
    const handlers: Record<string, (params: never, signal: AbortSignal) => unknown> = {};
    const engine = Object.assign(parts.fake, {
      handle: (added: typeof handlers) => {
        Object.assign(handlers, added);
        return { dispose: () => undefined };
      },
      onDidChangeState: () => ({ dispose: () => undefined }),
    });
    const registered = registerWaiting({
      engine,
      commands: new CommandRegistry((_id, error) => {
        throw error;
      }),
      log,
      notifier: parts.notifier,
      picker: { project: async () => makeProject() },
      reports: parts.reports,
      waiting: parts.list,
    } as unknown as Services);
    return { ...parts, handlers, registered };
  }

  it('[WAIT-01] is announced by one notification, and counted in the status bar', async () => {
    const { fake, waiting, registered } = register();
    const [item] = stub.statusItems;
    waiting.push(makeApproval());
    fake.tell('approval/changed', { waiting: 1 });
    await until(() => item?.isShown === true);
    assert.match(item?.text ?? '', /1 waiting/);
    assert.deepEqual(stub.shown[0]?.buttons, ['Review']);
    waiting.push(makeApproval({ id: 'a2' }));
    fake.tell('approval/changed', { waiting: 2 });
    await until(() => item?.text.includes('2 waiting') === true);
    assert.match(item?.accessibilityInformation?.label ?? '', /2 things wait/);
    fake.tell('approval/changed', { waiting: 0 });
    assert.equal(item?.isShown, false);
    registered.dispose();
  });

  it('[WAIT-01] opens the list when Review is pressed', async () => {
    const { fake, waiting, registered } = register();
    stub.answer = 'Review';
    waiting.push(makeApproval());
    fake.tell('approval/changed', { waiting: 1 });
    (await pick()).choose('Decline');
    await until(() => fake.asked('approval/answer').length === 1);
    registered.dispose();
  });

  it('[WAIT-04] is answered by no command, whatever it is given', async () => {
    const hostile = [
      [{ id: 'a1', reviewDigest: 'b'.repeat(64), answer: 'allow-once' }],
      ['a1', 'allow-once', 'b'.repeat(64)],
      [{ approval: makeApproval(), choice: 'allow-once', answer: 'allow-once', isRead: true }],
      ['allow-once'],
      [true],
    ];
    const { fake, registered, reviewer } = register([makeApproval()]);
    assert.ok(!reviewer.isOpen && stub.commands.size >= 3);
    for (const [id, command] of stub.commands) {
      for (const args of hostile) {
        const done = Promise.resolve(command(...args)).catch(() => undefined);
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
        for (const each of stub.picks) each.dispose();
        for (const each of stub.boxes) each.dispose();
        await done;
        assert.deepEqual(fake.asked('approval/answer'), [], id);
        assert.deepEqual(fake.asked('grant/give'), [], id);
      }
    }
    registered.dispose();
  });

  it('[WAIT-06] holds the agent’s question until a person answers it', async () => {
    const { handlers, registered } = register();
    const ask = (signal = never) =>
      handlers['person/ask']!(
        {
          conversation: 'c',
          conversationTitle: 'Years',
          question: 'Which \u202eyear?',
          choices: ['2015', '$(x) 2016'],
        } as never,
        signal,
      ) as Promise<unknown>;
    const review = stub.commands.get('sallyport.reviewWaiting')!;

    const first = ask();
    stub.chosen = ['Which'];
    const done = review();
    const list = await pick();
    assert.match(list.title, /its own words/);
    assert.match(list.placeholder, /\\u\{202E\}/);
    assert.deepEqual(
      list.items.map((item) => item.label),
      ['2015', '$ (x) 2016', 'Don’t answer'],
    );
    list.choose('$ (x)');
    await done;
    assert.deepEqual(await first, { answer: '$(x) 2016' });

    const second = ask();
    stub.chosen = ['Which'];
    const again = review();
    const other = await pick();
    other.typed.fire('both');
    other.choose('Answer: both');
    await again;
    assert.deepEqual(await second, { answer: 'both' });

    const third = ask();
    stub.chosen = ['Which'];
    const away = review();
    (await pick()).choose('Don’t answer');
    await away;
    assert.deepEqual(await third, { answer: null });
    registered.dispose();
  });

  it('lets go of a question that is taken back', async () => {
    const changes: number[] = [];
    const questions = new PersonQuestions((each) => void changes.push(each.length));
    const controller = new AbortController();
    const params = { conversation: null, conversationTitle: null, question: 'q', choices: [] };
    const asked = questions.ask(params, controller.signal);
    controller.abort();
    await assert.rejects(asked, /taken back/);
    assert.deepEqual(changes, [1, 0]);
    for (let count = 0; count < 20; count++) void questions.ask(params, never);
    await assert.rejects(questions.ask(params, never), /wait already/);
  });
});

describe('Grants and Would This Ask?', () => {
  it('lists grants and revokes the ones that are selected', async () => {
    const { fake, engine, notifier, shown } = make();
    await reviewGrants(makeProject({ name: 'weather' }), { engine, notifier });
    assert.match(shown[0]?.text ?? '', /Nothing is granted/);
    const grant = { id: 'g1', kind: 'write', scope: 's', conversation: 'c', folder: 'src', createdAt: 0 };
    fake.answers['grant/list'] = () => [grant, { ...grant, id: 'g2', kind: 'read', conversation: null }];
    fake.answers['grant/revoke'] = () => ({ revoked: true });
    stub.chosen = [['Read']];
    await reviewGrants(makeProject(), { engine, notifier });
    assert.deepEqual(fake.asked('grant/revoke'), [{ id: 'g2' }]);
    assert.match(shown[1]?.text ?? '', /One grant was revoked/);
  });

  it('tries a call out and does nothing', async () => {
    const { fake, engine, reports, opened } = make();
    fake.answers['tool/list'] = () => [
      { name: 'edit', description: 'Edits', inputSchema: '{"required":["path"]}', asksEachTime: false },
    ];
    fake.answers['gate/tryOut'] = () => ({
      decision: {
        verdict: 'ask',
        rule: { id: 'no-grant', text: 'No grant covers this yet.' },
        grantable: 'write',
      },
      targets: makeApproval().targets,
      explanation: ['Change notes.md'],
    });
    stub.chosen = ['edit'];
    const done = wouldThisAsk(makeProject({ root: '/p' }), { engine, reports });
    await until(() => stub.boxes.at(-1)?.isShown === true);
    const box = stub.boxes.at(-1)!;
    assert.equal(box.value, '{"path":""}');
    box.enter('[1]');
    assert.match(box.validationMessage ?? '', /no JSON object/);
    box.enter('{"path":"notes.md"}');
    await done;
    assert.deepEqual(fake.asked('gate/tryOut'), [
      { root: '/p', conversation: null, tool: 'edit', args: '{"path":"notes.md"}' },
    ]);
    assert.match(opened[0]?.text ?? '', /It would ask you\.\nNo grant covers this yet\. \(no-grant\)/);
    const deny = tryOutReport('edit', {
      decision: { verdict: 'deny', rule: { id: 'x', text: 'No.' }, grantable: null },
      targets: [],
      explanation: [],
    });
    assert.match(deny.text, /refused without asking/);
  });
});
