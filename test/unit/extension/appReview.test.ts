import assert from 'node:assert/strict';
import { AppProgress } from '../../../extension/src/apps/appProgress.ts';
import { AppReviewer } from '../../../extension/src/apps/reviewApp.ts';
import { isFlagged, reviewParts, type ReviewSection } from '../../../extension/src/apps/reviewLines.ts';
import { mustRead, reviewItems } from '../../../extension/src/apps/reviewPick.ts';
import { reviewReport } from '../../../extension/src/apps/reviewText.ts';
import type { Reports } from '../../../extension/src/documents/reports.ts';
import type { Log } from '../../../extension/src/log.ts';
import type { Notice } from '../../../extension/src/messages.ts';
import type { AppReview, AppView, PermissionLine } from '../../../protocol/src/apps.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { permissionKey, permissionSentence, type Permission } from '../../../protocol/src/permissions.ts';
import { FakeEngine } from '../../support/fakeEngine.ts';
import {
  hostLine,
  makeApp,
  makePluginReview,
  makeReview,
  makeUpdate,
  storageLine,
} from '../../support/madeApps.ts';
import { until } from '../../support/until.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

const flat = (sections: readonly ReviewSection[]): string[] =>
  sections.flatMap(({ heading, facts }) => [
    `# ${heading}`,
    ...facts.map(({ text, note, mark }) => `${mark}: ${text}${note === undefined ? '' : ` (${note})`}`),
  ]);
const labels = (review: AppReview, isRead = false): string[] =>
  reviewItems(review, { isRead, isUnfolded: false }).map(({ label }) => label);

describe('the review of an app', () => {
  it('[APPUI-01] shows of a first install what it is and what each part may do', () => {
    const review = makeReview({
      plugins: [
        makePluginReview({ permissions: [hostLine('127.0.0.1:8080', { isLocal: true }), storageLine(16)] }),
        makePluginReview({ id: 'format', permissions: [], functions: [] }),
      ],
      packages: [{ name: 'leftish', version: '1.3.0', integrity: 'sha512-AAAA', state: 'new' }],
      dataBytes: 4096,
    });
    const { counts, same } = reviewParts(review);
    assert.deepEqual(flat(counts), [
      '# What it is',
      'plain: Notes 1.0.0 (not by Sallyport’s maintainers)',
      'plain: https://example.org/notes.git',
      `plain: Commit ${'c'.repeat(40)}`,
      'plain: 12 files, 40 KB',
      'plain: Brings 4.0 KB of data with it',
      'plain: No app and no plugin ever gets a key or another app’s data',
      '# What its page may do',
      'plain: Store up to 16 MB',
      '# Plugin search',
      'local: Reach 127.0.0.1:8080 over the network (on your machine or local network)',
      'plain: Store up to 16 MB',
      '# Plugin format',
      'plain: Nothing beyond computing: no network, no storage, no model',
      '# Packages of others that are built in',
      'plain: leftish 1.3.0',
    ]);
    assert.deepEqual(same, []);
  });

  it('[VAULTUSE-25] shows what a plugin wishes for in two lines that a list shows whole', () => {
    const permission = (hosts: string): Permission => ({
      name: 'vaultWish',
      item: 'example-notes',
      field: 'token',
      use: `header:authorization:Bearer @${hosts}`,
    });
    const wish = (hosts: string): PermissionLine => {
      const asked = permission(hosts);
      const key = permissionKey(asked);
      return { key, permission: asked, sentence: permissionSentence(asked), isNew: true, isLocal: false };
    };
    const review = (hosts: string) =>
      makeUpdate({
        plugins: [
          makePluginReview({ state: 'changed', permissions: [wish(hosts)], dropped: [wish('a').sentence] }),
        ],
      });
    const lines = flat(reviewParts(review('api.example.org')).counts);
    assert.deepEqual(lines.slice(lines.indexOf('# Plugin search') + 2), [
      'new: Would like a vault value for api.example.org (you choose it, new)',
      'plain: token of example-notes, in the header authorization',
      'gone: No longer: Would like a vault value for a: token of example-notes, in the header authorization; you choose it, or none',
    ]);
    const without = {
      ...review('api.example.org'),
      plugins: [makePluginReview({ permissions: [wish('api.example.org')] })],
    };
    assert.equal(mustRead(without), false);
    // What does not fit has to be read whole.
    const many = Array.from({ length: 9 }, (_, at) => `h${at}.example.org`).join(',');
    assert.equal(mustRead({ ...without, plugins: [makePluginReview({ permissions: [wish(many)] })] }), true);
  });

  it('[APPUI-02] shows of an update only the difference, and folds what stays', () => {
    const review = makeUpdate({
      dropped: ['See which models are connected'],
      plugins: [
        makePluginReview({
          state: 'changed',
          permissions: [hostLine('api.example.org', { isNew: false }), hostLine('more.example.org')],
        }),
        makePluginReview({ id: 'gone', state: 'removed' }),
        makePluginReview({ id: 'fresh', state: 'new', permissions: [] }),
        makePluginReview({
          id: 'quiet',
          state: 'same',
          permissions: [hostLine('q.example', { isNew: false })],
        }),
      ],
      packages: [
        { name: 'kept', version: '1.0.0', integrity: 'sha512-A', state: 'same' },
        { name: 'moved', version: '2.0.0', integrity: 'sha512-B', state: 'changed' },
        { name: 'left', version: '1.0.0', integrity: 'sha512-C', state: 'removed' },
      ],
    });
    const { counts, same } = reviewParts(review);
    assert.deepEqual(flat(counts), [
      '# What it is',
      'plain: Notes 1.0.0 → 1.1.0 (not by Sallyport’s maintainers)',
      'plain: https://example.org/notes.git',
      `plain: Commit ${'c'.repeat(40)}`,
      'plain: 12 files, 40 KB',
      '# Why you are asked',
      'warning: It asks for more than the installed version',
      '# What its page may do',
      'gone: No longer: See which models are connected',
      '# Plugin search',
      'plain: Its code changed',
      'new: Reach more.example.org over the network (new)',
      '# Plugin gone',
      'gone: This plugin is gone',
      '# Plugin fresh',
      'new: This plugin is new',
      'plain: Nothing beyond computing: no network, no storage, no model',
      '# Packages of others that are built in',
      'new: moved 2.0.0 (changed)',
      'gone: left 1.0.0 (gone)',
    ]);
    assert.deepEqual(flat(same), [
      '# What its page may do',
      'plain: Store up to 16 MB',
      '# Plugin search',
      'plain: Reach api.example.org over the network',
      '# Plugin quiet',
      'plain: Reach q.example over the network',
      '# Packages of others that are built in',
      'plain: kept 1.0.0 (as before)',
    ]);
    const folded = labels(review);
    assert.ok(folded.includes('Show what stays as it is (4 lines)'));
    assert.ok(!folded.includes('Reach api.example.org over the network'));
    const unfolded = reviewItems(review, { isRead: false, isUnfolded: true });
    assert.deepEqual(
      unfolded
        .filter(({ label }) => label === 'Reach api.example.org over the network')
        .map(({ description }) => description),
      ['Plugin search'],
    );
  });

  it('says where the source is another one, and where nothing more is asked for', () => {
    const review = makeUpdate({
      source: { kind: 'folder', path: '/home/me/notes' },
      commit: null,
      plugins: [makePluginReview({ state: 'same', permissions: [hostLine('a.example', { isNew: false })] })],
      reasons: [{ kind: 'source-changed', text: 'It comes from another place' }],
    });
    const facts = flat(reviewParts(review).counts);
    assert.ok(
      facts.includes(
        'warning: the folder /home/me/notes (the installed one is from https://example.org/notes.git)',
      ),
    );
    assert.ok(facts.includes('plain: It asks for nothing that it has not already'));
  });

  it('[APPUI-03] answers at its end alone, and never on a line that tells', () => {
    const items = reviewItems(makeUpdate(), { isRead: false, isUnfolded: false });
    const acts = items.flatMap(({ act }, at) => (act === undefined ? [] : [[act, at] as const]));
    assert.deepEqual(
      acts.map(([act]) => act),
      ['unfold', 'read', 'install', 'decline', 'later'],
    );
    const first = items.findIndex(({ act }) => act === 'read');
    assert.ok(items.slice(0, first).every(({ act }) => act === undefined || act === 'unfold'));
    assert.deepEqual(
      reviewItems(makeReview(), { isRead: false, isUnfolded: false }).flatMap(({ act }) => act ?? []),
      ['read', 'install', 'decline'],
    );
  });

  it('[APPUI-03] puts a heading above a line that it would leave no room for', () => {
    const text = 'It comes from a backup file, whose content anyone could have changed.';
    const items = reviewItems(makeReview({ reasons: [{ kind: 'restore', text }] }), {
      isRead: false,
      isUnfolded: false,
    });
    const at = items.findIndex(({ label }) => label === text);
    assert.deepEqual(
      items.slice(at - 2, at).map(({ label, kind }) => [label, kind !== undefined]),
      [
        ['', true],
        ['Why you are asked', false],
      ],
    );
    assert.ok(items.some(({ label, kind }) => label === 'Plugin search' && kind !== undefined));
  });

  it('[APPUI-03] offers no install before what does not fit was read', () => {
    const hard: AppReview[] = [
      makeReview({ name: 'N'.repeat(120) }),
      makeReview({ name: 'Not\\u{202E}es' }),
      makeReview({
        plugins: Array.from({ length: 50 }, (_, at) => makePluginReview({ id: `p${at}` })),
      }),
      makeReview({ permissions: [hostLine(`${'a'.repeat(60)}.example.org`)] }),
    ];
    for (const review of hard) {
      assert.ok(mustRead(review), review.name);
      const install = (isRead: boolean) =>
        reviewItems(review, { isRead, isUnfolded: false }).some(({ act }) => act === 'install');
      assert.equal(install(false), false);
      assert.equal(install(true), true);
    }
    const local = hostLine('192.168.1.20:8080', { isLocal: true });
    assert.equal(mustRead(makeReview({ plugins: [makePluginReview({ permissions: [local] })] })), false);
    assert.equal(mustRead(makeReview()), false);
    assert.equal(isFlagged(makeReview()), false);
    assert.equal(isFlagged(hard[1]!), true);
  });

  it('[APPUI-04] is a document that holds all of it, with hashes and what an answer is bound to', () => {
    const review = makeUpdate({
      packages: [{ name: 'kept', version: '1.0.0', integrity: 'sha512-KEPT', state: 'same' }],
      plugins: [
        makePluginReview({
          functions: [{ name: 'find', description: 'two\nlines' }],
          permissions: [hostLine('old.example', { isNew: false }), hostLine('new.example')],
          state: 'changed',
        }),
      ],
    });
    const { title, text } = reviewReport(review);
    assert.equal(title, 'Review of notes 1.1.0 (dddddddd)');
    for (const part of [
      'Update Notes to 1.1.0?\n======================\n',
      '+ Reach new.example over the network (new)',
      'What stays as it is\n-------------------\n',
      'Reach old.example over the network',
      'find: two\\u{A}lines',
      '  kept 1.0.0\n      sha512-KEPT\n',
      review.digest,
      review.treeDigest,
    ])
      assert.ok(text.includes(part), part);
    assert.ok(text.indexOf('new.example') < text.indexOf('What stays'));
    assert.ok(text.indexOf('old.example') > text.indexOf('What stays'));
  });

  it('[APPUI-04] lets no text of an app look like a line of the review', () => {
    const name = 'Notes\n\nYour answer\n-----------\n  by Sallyport’s maintainers\u202e';
    const { text } = reviewReport(
      makeReview({ name, plugins: [makePluginReview({ functions: [{ name: 'f', description: name }] })] }),
    );
    assert.ok(!text.split('\n').some((line) => line.startsWith('Your answer')));
    assert.ok(!text.includes('\u202e'));
  });
});

describe('the answer to a review', () => {
  const log: Log = {
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
    show: () => undefined,
  };

  function make(answers: Record<string, (params: never) => unknown> = {}) {
    resetStub();
    const shown: Notice[] = [];
    const opened: { title: string; focus: boolean }[] = [];
    const closed: string[] = [];
    const fake = new FakeEngine({
      'app/install': () => makeApp(),
      'app/discard': () => ({ found: true }),
      ...answers,
    });
    const reports = {
      show: async (title: string, _text: string, { preserveFocus }: { preserveFocus: boolean }) =>
        void opened.push({ title, focus: !preserveFocus }),
      close: async (title: string) => void closed.push(title),
    } as unknown as Reports;
    const notifier = { show: (notice: Notice) => void shown.push(notice), showError: () => undefined };
    const progress = new AppProgress(fake.engine);
    const installed: string[] = [];
    const onInstalled = async ({ id }: AppView) => void installed.push(id);
    const parts = { engine: fake.engine, reports, notifier, progress, log, onInstalled };
    const reviewer = new AppReviewer(parts);
    return { fake, reviewer, shown, opened, closed, installed };
  }
  const pick = async (count = 1) => {
    await until(() => stub.picks.length === count && stub.picks.at(-1)!.isShown);
    return stub.picks.at(-1)!;
  };

  it('[APPUI-05] installs exactly what was shown, bound to its digest', async () => {
    const { fake, reviewer, shown, opened, closed, installed } = make();
    const done = reviewer.review(makeReview());
    const list = await pick();
    assert.deepEqual(opened, [{ title: 'Review of notes 1.0.0 (dddddddd)', focus: false }]);
    assert.equal(list.title, 'Install Notes 1.0.0?');
    assert.ok(list.ignoreFocusOut);
    list.choose('Store up to 16 MB');
    list.choose('Reach api.example.org');
    assert.ok(list.isShown, 'a line that tells does nothing');
    assert.deepEqual(fake.asked('app/install'), []);
    list.choose('Install Notes 1.0.0');
    assert.equal((await done)?.id, 'notes');
    assert.deepEqual(installed, ['notes']);
    const [asked] = fake.asked('app/install') as { stageId: string; digest: string }[];
    assert.deepEqual([asked?.stageId, asked?.digest], ['stage-1', 'd'.repeat(64)]);
    assert.deepEqual(closed, ['Review of notes 1.0.0 (dddddddd)']);
    assert.match(shown[0]?.text ?? '', /Notes 1\.0\.0 is installed/);
    assert.deepEqual(fake.asked('app/discard'), []);
  });

  for (const [how, act] of [
    ['closing the list', (list: (typeof stub.picks)[number]) => list.dispose()],
    ['saying no', (list: (typeof stub.picks)[number]) => list.choose('Don’t install')],
  ] as const) {
    it(`[APPUI-05] keeps nothing of a first install after ${how}`, async () => {
      const { fake, reviewer, shown } = make();
      const done = reviewer.review(makeReview());
      act(await pick());
      assert.equal(await done, undefined);
      assert.deepEqual(fake.asked('app/discard'), [{ stageId: 'stage-1' }]);
      assert.deepEqual(fake.asked('app/install'), []);
      assert.match(shown[0]?.text ?? '', /was not installed\. Nothing of it was kept/);
    });
  }

  it('[APPUI-06] leaves an update waiting that is neither installed nor declined', async () => {
    for (const act of ['Decide later', undefined]) {
      const { fake, reviewer, shown } = make();
      const done = reviewer.review(makeUpdate());
      const list = await pick();
      if (act === undefined) list.dispose();
      else list.choose(act);
      assert.equal(await done, undefined);
      assert.deepEqual([fake.asked('app/discard'), fake.asked('app/install'), shown], [[], [], []]);
    }
    const { fake, reviewer, shown } = make();
    const done = reviewer.review(makeUpdate());
    (await pick()).choose('Decline this update');
    await done;
    assert.deepEqual(fake.asked('app/discard'), [{ stageId: 'stage-1' }]);
    assert.match(shown[0]?.text ?? '', /Notes stays at 1\.0\.0/);
  });

  it('[APPUI-05] shows what changed meanwhile anew, and installs only the second answer’s', async () => {
    const later = makeReview({ digest: 'f'.repeat(64), name: 'Notes two' });
    const { fake, reviewer, shown } = make({
      'app/install': ({ digest }: { digest: string }) => {
        if (digest !== later.digest) throw new UserError('conflict', 'It changed');
        return makeApp({ name: 'Notes two' });
      },
      'app/review': () => later,
    });
    const done = reviewer.review(makeReview());
    (await pick()).choose('Install');
    const again = await pick(2);
    assert.equal(again.title, 'Install Notes two 1.0.0?');
    assert.match(shown[0]?.text ?? '', /changed while you were reading/);
    again.choose('Install');
    assert.equal((await done)?.name, 'Notes two');
    assert.deepEqual(
      (fake.asked('app/install') as { digest: string }[]).map(({ digest }) => digest[0]),
      ['d', 'f'],
    );
  });

  it('tells a refusal and keeps nothing of a first install', async () => {
    for (const [code, review] of [
      ['disk-full', makeReview()],
      ['conflict', makeReview()],
      ['cancelled', makeReview()],
    ] as const) {
      const { fake, reviewer } = make({
        'app/install': () => {
          throw new UserError(code, 'No');
        },
        'app/review': () => review,
      });
      const done = reviewer.review(review);
      (await pick()).choose('Install');
      await assert.rejects(done, { code });
      assert.deepEqual(fake.asked('app/discard'), [{ stageId: 'stage-1' }]);
    }
    const { fake, reviewer } = make({
      'app/install': () => {
        throw new UserError('disk-full', 'No');
      },
    });
    const done = reviewer.review(makeUpdate());
    (await pick()).choose('Update to 1.1.0');
    await assert.rejects(done, { code: 'disk-full' });
    assert.deepEqual(fake.asked('app/discard'), [], 'an update goes on waiting');
  });

  it('[APPUI-03] lets a person leave the list to read, and decide afterwards', async () => {
    const { fake, reviewer, opened } = make();
    stub.answer = 'Decide';
    const long = makeReview({ name: 'N'.repeat(120) });
    const done = reviewer.review(long);
    const list = await pick();
    assert.throws(() => list.choose('Install'), /No line/);
    list.choose('Read the whole review');
    const again = await pick(2);
    assert.deepEqual(
      opened.map(({ focus }) => focus),
      [false, true],
    );
    assert.match(stub.shown[0]?.text ?? '', /Decide when you have read/);
    again.choose('Install');
    await done;
    assert.equal(fake.asked('app/install').length, 1);
  });

  it('takes turning away after reading for a no', async () => {
    const { fake, reviewer } = make();
    const done = reviewer.review(makeReview());
    (await pick()).choose('Read the whole review');
    assert.equal(await done, undefined);
    assert.deepEqual(fake.asked('app/discard'), [{ stageId: 'stage-1' }]);
  });

  it('does not put a second review over an open one', async () => {
    const { fake, reviewer, shown } = make();
    const first = reviewer.review(makeReview());
    await pick();
    assert.equal(await reviewer.review(makeUpdate({ stageId: 'stage-2' })), undefined);
    assert.match(shown[0]?.text ?? '', /Another review is open/);
    assert.equal(stub.picks.length, 1);
    stub.picks[0]!.choose('Install');
    assert.equal((await first)?.id, 'notes');
    assert.equal(fake.asked('app/install').length, 1);
  });

  it('shows progress under its own id alone, and stops where a person says so', async () => {
    const { fake } = make();
    const progress = new AppProgress(fake.engine);
    let id = '';
    const work = progress.run('Installing', async (progressId, signal) => {
      id = progressId;
      await until(() => signal.aborted);
      throw new UserError('cancelled', 'stopped');
    });
    await until(() => id !== '');
    fake.tell('app/progress', { progressId: id, fraction: 0.25, text: 'Reading\u202e' });
    fake.tell('app/progress', { progressId: 'another', fraction: 0.9, text: 'x' });
    fake.tell('app/progress', { progressId: id, fraction: null, text: 'Still' });
    fake.tell('app/progress', { progressId: id, fraction: 7, text: 'Over' });
    assert.deepEqual(stub.progress[0]?.reported, [
      { message: 'Reading\\u{202E}', increment: 25 },
      { message: 'Still', increment: 0 },
      { message: 'Over', increment: 75 },
    ]);
    stub.progress[0].cancel();
    await assert.rejects(work, { code: 'cancelled' });
    progress.dispose();
  });
});
