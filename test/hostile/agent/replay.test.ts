import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { Act, GateResult } from '../../../language-server/src/gate/act.ts';
import type { Json } from '../../../protocol/src/canonicalJson.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { GateHarness, makeAct } from '../../support/gateHarness.ts';

/** One yes is worth one act, whoever tries to spend it, when, and in what spelling. */
describe('an approval that is used again', () => {
  const folder = useTemporaryFolder();
  let windows: GateHarness[];
  let effects: string[];
  beforeEach(() => {
    const path = join(folder(), 'state.db');
    windows = ['e1', 'e2'].map((engine) => new GateHarness(path, engine));
    effects = [];
  });
  afterEach(() => windows.forEach((each) => each.close()));

  function pass(window: GateHarness, act: Act): Promise<GateResult<Json>> {
    return window.gate.pass(act, async () => effects.push(window.engine), new AbortController().signal);
  }
  async function ask(window: GateHarness, act: Act): Promise<{ result: Promise<GateResult<Json>> }> {
    const result = pass(window, act);
    while (window.gate.waiting().length === 0) await turn();
    return { result };
  }
  const [first, second] = [() => at(0), () => at(1)];
  function at(index: number): GateHarness {
    const window = windows[index];
    assert.ok(window);
    return window;
  }

  it('[GATE-08] by two windows at once: one of them does it, and the other is told so', async () => {
    const { result } = await ask(first(), makeAct());
    const elsewhere = await pass(second(), makeAct());
    assert.equal(elsewhere.kind, 'unknown', 'it is going on over there');
    assert.deepEqual(second().gate.waiting(), [], 'nothing of another window can be answered here');
    const [shown] = first().gate.waiting();
    assert.ok(shown);
    assert.throws(() => second().gate.answer(shown.id, shown.reviewDigest, 'allow-once'));
    assert.equal(second().ledger.consume(shown.id, 'op-1'), false);
    first().answer('allow-once');
    assert.equal((await result).kind, 'done');
    assert.equal((await pass(second(), makeAct())).kind, 'done', 'the receipt answers');
    assert.deepEqual(effects, ['e1']);
  });

  it('[GATE-12] after a crash between the yes and the effect: it was not begun, and the yes is worth nothing', async () => {
    await ask(first(), makeAct());
    const [shown] = first().gate.waiting();
    assert.ok(shown);
    first().ledger.answer(shown.id, shown.reviewDigest, 'allowed', 1_001);
    second().ledger.recover(() => false, 2_000);
    assert.equal(second().ledger.approvalState(shown.id), 'withdrawn');
    assert.equal(first().ledger.consume(shown.id, 'op-1'), false);
    const again = await pass(second(), makeAct());
    assert.deepEqual([again.kind, again.kind === 'refused' && again.code], ['refused', 'cancelled']);
    assert.deepEqual(effects, []);
  });

  it('[GATE-09] for another call, by name: the database holds a yes for one act', async () => {
    const { result } = await ask(first(), makeAct());
    const [shown] = first().gate.waiting();
    assert.ok(shown);
    const other = await ask(second(), makeAct({ opId: 'op-2', args: { path: '.git/config' } }));
    first().ledger.answer(shown.id, shown.reviewDigest, 'allowed', 1_001);
    assert.equal(first().ledger.consume(shown.id, 'op-2'), false);
    assert.equal(second().ledger.consume(shown.id, 'op-2'), false);
    second().answer('decline');
    assert.equal((await other.result).kind, 'refused');
    first().gate.declineAll();
    first().timers.at(-1)?.run();
    await result;
    assert.deepEqual(effects, []);
  });

  const same: readonly (readonly [string, Json])[] = [
    ['another order', { b: [1, { d: null, c: 2 }], a: 'é' }],
    ['another spelling of a number', JSON.parse('{"a":"é","b":[1.0e0,{"c":2.0,"d":null}]}') as Json],
    ['escapes', JSON.parse('{"a":"\\u00e9","b":[1,{"c":2,"d":null}]}') as Json],
  ];
  const different: readonly (readonly [string, Json])[] = [
    ['a null that was absent', { a: 'é', b: [1, { c: 2, d: null }], e: null }],
    ['an absent one that was null', { a: 'é', b: [1, { c: 2 }] }],
    ['a number as text', { a: 'é', b: [1, { c: '2', d: null }] }],
    ['another order of a list', { a: 'é', b: [{ c: 2, d: null }, 1] }],
    ['a letter that only looks the same', { a: 'e\u0301', b: [1, { c: 2, d: null }] }],
    ['a name that only looks the same', { '\u0430': 'é', b: [1, { c: 2, d: null }] }],
    ['nothing at all', null],
    ['an empty object', {}],
    ['an empty list', []],
  ];
  const args: Json = { a: 'é', b: [1, { c: 2, d: null }] };
  for (const [what, spelled] of same)
    it(`[GATE-08] with the same arguments in ${what}: the receipt answers`, async () => {
      const { result } = await ask(first(), makeAct({ args }));
      first().answer('allow-once');
      await result;
      assert.equal((await pass(second(), makeAct({ args: spelled }))).kind, 'done');
      assert.deepEqual(effects, ['e1']);
    });
  for (const [what, spelled] of different)
    it(`[GATE-08] with ${what}: that is another act`, async () => {
      const { result } = await ask(first(), makeAct({ args }));
      first().answer('allow-once');
      await result;
      const replayed = await pass(second(), makeAct({ args: spelled }));
      assert.deepEqual(
        [replayed.kind, replayed.kind === 'refused' && replayed.code],
        ['refused', 'conflict'],
      );
      const { result: asked } = await ask(second(), makeAct({ args: spelled, opId: 'op-2' }));
      second().answer('decline');
      assert.equal((await asked).kind, 'refused');
      assert.deepEqual(effects, ['e1']);
    });

  it('[GATE-10] arguments without a canonical form are no act', async () => {
    for (const [index, broken] of [NaN, Infinity, '\ud800', { '\udfff': 1 }, undefined].entries()) {
      const result = await pass(first(), makeAct({ opId: `op-${index}`, args: broken as Json }));
      assert.deepEqual(
        [result.kind, result.kind === 'refused' && result.code],
        ['refused', 'check-failed'],
        `number ${index}`,
      );
    }
    assert.deepEqual(effects, []);
  });
});
