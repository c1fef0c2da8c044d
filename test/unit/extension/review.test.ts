import assert from 'node:assert/strict';
import { pickPermissions } from '../../../extension/src/approvals/permissionPick.ts';
import { PermissionReviewer } from '../../../extension/src/approvals/reviewPermissions.ts';
import { reviewLines, toAccepted, type ReviewLine } from '../../../extension/src/approvals/reviewLines.ts';
import type { Reports } from '../../../extension/src/documents/reports.ts';
import type { Engine } from '../../../extension/src/engine.ts';
import type { Notice } from '../../../extension/src/messages.ts';
import type { PermissionReview } from '../../../protocol/src/engine.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { makeProject } from '../../support/sampleViews.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

const asks = (key: string, sentence: string, isNew: boolean) => ({
  key,
  permission: { name: 'unsandboxed' } as const,
  sentence,
  isNew,
});
const review: PermissionReview = {
  root: '/p',
  scope: 's',
  digest: 'd'.repeat(64),
  cards: [
    { id: 'today', title: 'Today', permissions: [asks('a', 'Reach a', true), asks('b', 'Reach b', false)] },
    { id: 'load', title: 'Load\u202e', permissions: [asks('c', `Read the folder /${'x'.repeat(80)}`, true)] },
  ],
};

function makeHarness(accept: () => Promise<unknown> = async () => ({ accepted: 1 }), given = review) {
  resetStub();
  const calls: { method: string; params: unknown }[] = [];
  const shown: Notice[] = [];
  const opened: string[] = [];
  const reports = { show: async (title: string) => void opened.push(title) } as unknown as Reports;
  const engine = {
    call: async (method: string, params: unknown) => {
      calls.push({ method, params });
      return method === 'permissions/review' ? given : accept();
    },
    on: () => ({ dispose: () => undefined }),
  } as unknown as Engine;
  const notifier = {
    show: (notice: Notice) => void shown.push(notice),
    showError: () => undefined,
  };
  const reviewer = new PermissionReviewer(engine, reports, notifier);
  return { reviewer, reports, calls, shown, opened };
}

async function openPick() {
  for (let turn = 0; turn < 100 && !stub.picks.at(-1)?.isShown; turn++)
    await new Promise((resolve) => setImmediate(resolve));
  const pick = stub.picks.at(-1);
  assert.ok(pick?.isShown, 'the list is shown');
  return pick;
}

describe('Review Permissions', () => {
  it('lists what is asked for by card, then what was accepted, everything in full and plain', () => {
    const { asked, accepted } = reviewLines(review);
    assert.deepEqual(
      asked.map((line) => [line.cardTitle, line.key, line.isLong, line.hasHidden]),
      [
        ['Today', 'a', false, false],
        ['Load\\u{202E}', 'c', true, true],
      ],
    );
    assert.deepEqual(
      accepted.map((line) => line.key),
      ['b'],
    );
    assert.equal(asked[1]?.sentence, `Read the folder /${'x'.repeat(80)}`);
  });

  it('sends only what is new, by card', () => {
    const line = (card: string, key: string, isNew = true): ReviewLine => ({
      card,
      key,
      isNew,
      cardTitle: '',
      sentence: '',
      isLong: false,
      hasHidden: false,
    });
    assert.deepEqual(toAccepted([line('x', '1'), line('y', '2'), line('x', '3'), line('y', '4', false)]), [
      { card: 'x', keys: ['1', '3'] },
      { card: 'y', keys: ['2'] },
    ]);
  });

  it('names the project’s folder, preselects nothing and stays when focus goes', async () => {
    const { reports } = makeHarness();
    const answer = pickPermissions('/p', reviewLines(review), reports);
    const pick = await openPick();
    assert.match(pick.title, /\/p/);
    assert.ok(pick.canSelectMany && pick.ignoreFocusOut);
    assert.deepEqual(pick.selectedItems, []);
    pick.hidden.fire(undefined);
    assert.equal(await answer, undefined);
  });

  it('accepts what a person selected, bound to the digest that was shown', async () => {
    const { reviewer, calls, shown } = makeHarness();
    const done = reviewer.review(makeProject());
    const pick = await openPick();
    pick.selectedItems = pick.items.filter((item) => item.label === 'Reach a');
    pick.accepted.fire(undefined);
    await done;
    assert.deepEqual(calls.at(-1), {
      method: 'permissions/accept',
      params: { root: '/p', digest: review.digest, accepted: [{ card: 'today', keys: ['a'] }] },
    });
    assert.match(shown[0]?.text ?? '', /One permission accepted/);
  });

  it('takes a long line only after its whole text was opened', async () => {
    const { reviewer, calls, opened } = makeHarness();
    const done = reviewer.review(makeProject());
    const pick = await openPick();
    const long = pick.items.find((item) => item.label.startsWith('Read the folder'));
    pick.selectedItems = [long];
    pick.accepted.fire(undefined);
    assert.ok(pick.isShown, 'still asking');
    pick.pressed.fire({ item: long });
    assert.equal(opened.length, 1);
    pick.accepted.fire(undefined);
    await done;
    assert.equal(calls.at(-1)?.method, 'permissions/accept');
  });

  for (const [what, act] of [
    ['closed', (pick: Awaited<ReturnType<typeof openPick>>) => pick.hidden.fire(undefined)],
    [
      'answered with nothing selected',
      (pick: Awaited<ReturnType<typeof openPick>>) => pick.accepted.fire(undefined),
    ],
  ] as const) {
    it(`accepts nothing when the list is ${what}`, async () => {
      const { reviewer, calls } = makeHarness();
      const done = reviewer.review(makeProject());
      act(await openPick());
      await done;
      assert.deepEqual(
        calls.map((call) => call.method),
        ['permissions/review'],
      );
    });
  }

  it('says that the permissions changed when the engine finds them changed', async () => {
    const { reviewer, shown } = makeHarness(async () => Promise.reject(new UserError('conflict', 'changed')));
    const done = reviewer.review(makeProject());
    const pick = await openPick();
    pick.selectedItems = pick.items.filter((item) => item.label === 'Reach a');
    pick.accepted.fire(undefined);
    await done;
    assert.equal(shown[0]?.action?.command, 'sallyport.reviewPermissions');
    assert.match(shown[0].text, /changed/);
  });

  it('asks nothing where no permission can be kept, or none is asked for', async () => {
    for (const given of [
      { ...review, scope: null },
      { ...review, cards: [] },
    ]) {
      const { reviewer, calls, shown } = makeHarness(undefined, given);
      await reviewer.review(makeProject());
      assert.equal(calls.length, 1);
      assert.equal(stub.picks.length, 0);
      assert.equal(shown.length, 1);
    }
  });
});
