import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Act, GateResult } from '../../../../language-server/src/gate/act.ts';
import type { Json } from '../../../../protocol/src/canonicalJson.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { Target } from '../../../../protocol/src/gate.ts';
import { GateHarness, insideTarget, makeAct } from '../../../support/gateHarness.ts';

describe('Gate', () => {
  let harness: GateHarness;
  let effects: string[];

  beforeEach(() => {
    harness = new GateHarness();
    effects = [];
  });
  afterEach(() => harness.close());

  function pass(act: Act, signal = new AbortController().signal): Promise<GateResult<Json>> {
    const effect = async () => {
      effects.push(act.opId);
      return act.opId;
    };
    return harness.gate.pass(act, effect, signal);
  }

  async function ask(act: Act, signal?: AbortSignal): Promise<{ result: Promise<GateResult<Json>> }> {
    const result = pass(act, signal);
    while (harness.gate.waiting().length === 0) await turn();
    return { result };
  }

  it('[GATE-08] does nothing before a person has answered, and exactly that once afterwards', async () => {
    const { result } = await ask(makeAct());
    assert.deepEqual(effects, []);
    assert.equal(harness.ledger.receipt('op-1')?.state, 'waiting');
    harness.clock += 5_000;
    harness.answer('allow-once');
    assert.deepEqual(await result, { kind: 'done', value: 'op-1', waitMs: 5_000, runMs: 0 });
    assert.deepEqual(effects, ['op-1']);
    assert.equal(harness.ledger.receipt('op-1')?.state, 'done');
    assert.deepEqual(harness.waitingCounts.at(-1), 0);
  });

  it('[GATE-08] a repeated id replays its receipt and does nothing', async () => {
    const { result } = await ask(makeAct());
    harness.answer('allow-once');
    const first = await result;
    assert.deepEqual(await pass(makeAct()), { ...first });
    assert.deepEqual(effects, ['op-1']);
    // The same arguments in another order and spelling are the same call.
    assert.equal((await pass(makeAct({ args: { text: 'x', path: 'src/main.ts' } }))).kind, 'done');
    for (const other of [
      makeAct({ args: { path: 'src/main.ts', text: 'y' } }),
      makeAct({ args: { path: 'src/main.ts', text: 'x', mode: null } }),
      makeAct({ tool: 'create' }),
      makeAct({ conversation: 'c2' }),
      makeAct({ scope: 't'.repeat(64) }),
      makeAct({ principal: 'external-agent' }),
    ]) {
      assert.deepEqual(await pass(other), {
        kind: 'refused',
        code: 'conflict',
        reason: 'This operation id was used for something else',
        waitMs: 0,
      });
    }
    assert.deepEqual(effects, ['op-1']);
  });

  it('[GATE-08] a repeated id whose result was too long to keep is told so, and does nothing', async () => {
    harness.gate.give({ scope: makeAct().scope, kind: 'write', conversation: 'c1', folder: '' });
    const long = 'x'.repeat(1024 * 1024);
    const first = await harness.gate.pass(makeAct(), async () => long, new AbortController().signal);
    assert.deepEqual([first.kind, first.kind === 'done' && first.value], ['done', long]);
    const again = await pass(makeAct());
    assert.equal(again.kind, 'unknown');
    assert.match(again.reason, /too long to keep/);
    assert.deepEqual(effects, []);
  });

  it('[GATE-09] a consumed approval authorises nothing else', async () => {
    const { result } = await ask(makeAct());
    const [shown] = harness.gate.waiting();
    assert.ok(shown);
    harness.answer('allow-once');
    await result;
    assert.equal(harness.ledger.consume(shown.id, 'op-1'), false);
    const second = await ask(makeAct({ opId: 'op-2' }));
    assert.equal(harness.ledger.consume(shown.id, 'op-2'), false);
    harness.answer('decline');
    assert.equal((await second.result).kind, 'refused');
    assert.deepEqual(effects, ['op-1']);
  });

  it('[GATE-09] takes an answer only for what was shown, and only once', async () => {
    const { result } = await ask(makeAct());
    const [shown] = harness.gate.waiting();
    assert.ok(shown);
    const conflict = (error: unknown) => error instanceof UserError && error.code === 'conflict';
    assert.throws(() => harness.gate.answer(shown.id, 'f'.repeat(64), 'allow-once'), conflict);
    assert.throws(() => harness.gate.answer('other', shown.reviewDigest, 'allow-once'), conflict);
    harness.answer('decline');
    assert.throws(() => harness.gate.answer(shown.id, shown.reviewDigest, 'allow-once'), conflict);
    assert.deepEqual(await result, {
      kind: 'refused',
      code: 'declined',
      reason: 'A person declined this',
      waitMs: 0,
    });
    assert.deepEqual(effects, []);
  });

  for (const [what, change] of [
    ['content', { measure: 'b'.repeat(64) }],
    ['disappearance', { measure: null }],
    ['real path', { name: 'elsewhere' }],
    ['protection', { isProtected: true }],
    ['place', { isOutside: true }],
  ] as const satisfies readonly (readonly [string, Partial<Target>])[]) {
    it(`[GATE-10] a changed ${what} since it was shown asks anew`, async () => {
      let measured: Target = insideTarget;
      const { result } = await ask(makeAct({ measure: async () => [measured] }));
      measured = { ...insideTarget, ...change };
      harness.answer('allow-once');
      const ended = await result;
      assert.deepEqual([ended.kind, ended.kind === 'refused' && ended.code], ['refused', 'changed']);
      assert.deepEqual(effects, []);
    });
  }

  it('[GATE-10] a check that throws, before or after the answer, means no', async () => {
    const failing = await pass(makeAct({ measure: () => Promise.reject(new Error('unreadable')) }));
    assert.deepEqual([failing.kind, failing.kind === 'refused' && failing.code], ['refused', 'check-failed']);
    let broken = false;
    const { result } = await ask(
      makeAct({ opId: 'op-2', measure: async () => (broken ? assert.fail('gone') : [insideTarget]) }),
    );
    broken = true;
    harness.answer('allow-once');
    assert.equal((await result).kind, 'refused');
    assert.deepEqual(effects, []);
  });

  it('[GATE-10] trust that was taken back while it waited means no', async () => {
    const { result } = await ask(makeAct());
    harness.trusted = false;
    harness.answer('allow-once');
    assert.equal((await result).kind, 'refused');
    assert.deepEqual(effects, []);
  });

  it('[GATE-11] no answer in time is a no, and a late one is refused', async () => {
    const { result } = await ask(makeAct());
    const [shown] = harness.gate.waiting();
    assert.ok(shown);
    harness.clock += 10 * 60_000;
    harness.timers.at(-1)?.run();
    const ended = await result;
    assert.deepEqual([ended.kind, ended.kind === 'refused' && ended.code], ['refused', 'expired']);
    assert.throws(() => harness.gate.answer(shown.id, shown.reviewDigest, 'allow-once'));
    assert.deepEqual(effects, []);
  });

  it('[GATE-11] an answer after its time is refused even where the timer is late', async () => {
    const { result } = await ask(makeAct());
    harness.clock += 10 * 60_000;
    assert.throws(() => harness.answer('allow-once'));
    harness.timers.at(-1)?.run();
    await result;
    assert.deepEqual(effects, []);
  });

  it('[GATE-11] a late answer ends the question that it came too late for, whatever the timer does', async () => {
    const { result } = await ask(makeAct());
    harness.clock += 10 * 60_000;
    assert.throws(() => harness.answer('allow-once'));
    const ended = await result;
    assert.deepEqual([ended.kind, ended.kind === 'refused' && ended.code], ['refused', 'expired']);
    assert.deepEqual(harness.gate.waiting(), []);
    assert.deepEqual(effects, []);
  });

  it('[GATE-11] declining all also declines what was asked after something that has no time left', async () => {
    const first = await ask(makeAct());
    harness.clock += 9 * 60_000;
    const second = pass(makeAct({ opId: 'op-2' }));
    while (harness.gate.waiting().length < 2) await turn();
    harness.clock += 2 * 60_000;
    assert.equal(harness.gate.declineAll(), 2);
    const codes = (await Promise.all([first.result, second])).map(
      (ended) => ended.kind === 'refused' && ended.code,
    );
    assert.deepEqual(codes, ['expired', 'declined']);
    assert.deepEqual(harness.gate.waiting(), []);
  });

  it('[GATE-11] cancelling withdraws the question', async () => {
    const controller = new AbortController();
    const { result } = await ask(makeAct(), controller.signal);
    controller.abort();
    const ended = await result;
    assert.deepEqual([ended.kind, ended.kind === 'refused' && ended.code], ['refused', 'cancelled']);
    assert.deepEqual(harness.gate.waiting(), []);
  });

  it('[GATE-12] what was running when the engine died is unknown and is not tried again', async () => {
    const started = Promise.withResolvers<undefined>();
    harness.gate.give({ scope: makeAct().scope, kind: 'write', conversation: 'c1', folder: '' });
    void harness.gate.pass(
      makeAct(),
      () => {
        started.resolve(undefined);
        return new Promise<never>(() => undefined);
      },
      new AbortController().signal,
    );
    await started.promise;
    assert.equal(harness.ledger.receipt('op-1')?.state, 'running');
    // Another engine finds that this one is gone.
    assert.equal(
      harness.ledger.recover(() => false, 2),
      0,
      'an engine does not end its own',
    );
    harness.database.run("update receipts set engine = 'dead'");
    assert.equal(
      harness.ledger.recover((engine) => engine === 'dead', 2),
      0,
      'nor those of a living one',
    );
    assert.equal(
      harness.ledger.recover(() => false, 2),
      1,
    );
    assert.equal((await pass(makeAct())).kind, 'unknown');
    assert.deepEqual(effects, []);
  });

  it('[GATE-12] what waited when the engine died was not begun, and its question is gone', async () => {
    await ask(makeAct());
    harness.database.run("update receipts set engine = 'dead'");
    harness.database.run("update approvals set engine = 'dead'");
    harness.ledger.recover(() => false, 2);
    assert.deepEqual(harness.gate.waiting(), []);
    const again = await pass(makeAct());
    assert.deepEqual([again.kind, again.kind === 'refused' && again.code], ['refused', 'cancelled']);
  });

  it('[GATE-13] shows foreign text escaped and flagged, whole, and in Sallyport’s words', async () => {
    void ask(
      makeAct({
        describe: () => ({
          title: 'Run echo \u202egnp.exe',
          lines: ['a\u200bb', 'x'.repeat(400)],
          fullText: null,
        }),
      }),
    );
    while (harness.gate.waiting().length === 0) await turn();
    const [shown] = harness.gate.waiting();
    assert.ok(shown);
    assert.equal(shown.title, 'Run echo \\u{202E}gnp.exe');
    assert.equal(shown.lines[0], 'a\\u{200B}b');
    assert.equal(shown.isFlagged, true);
    assert.ok(shown.fullText?.includes('x'.repeat(400)), 'what is too long for the prompt is there whole');
    harness.answer('decline');
  });

  it('[GATE-14] a grant stops the asking until it is revoked', async () => {
    const grant = harness.gate.give({
      scope: makeAct().scope,
      kind: 'write',
      conversation: 'c1',
      folder: '',
    });
    assert.equal((await pass(makeAct())).kind, 'done');
    assert.equal(harness.gate.revoke(grant.id), true);
    assert.deepEqual(harness.gate.grants(makeAct().scope), []);
    const { result } = await ask(makeAct({ opId: 'op-2' }));
    harness.answer('decline');
    assert.equal((await result).kind, 'refused');
  });

  it('[GATE-14] trying out does nothing and asks nobody', async () => {
    const { decision, lines } = await harness.gate.tryOut(makeAct());
    assert.deepEqual([decision.verdict, decision.rule.id, decision.grantable], ['ask', 'no-grant', 'write']);
    assert.equal(lines[0], 'Change src/main.ts');
    assert.deepEqual(harness.gate.waiting(), []);
    assert.equal(harness.ledger.receipt('op-1'), null);
  });

  it('[GATE-15] random sequences of calls and answers have at most one effect for each id, and none without a yes', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('call' as const), id: fc.nat(3), text: fc.constantFrom('x', 'y') }),
      fc.record({ do: fc.constant('allow' as const) }),
      fc.record({ do: fc.constant('decline' as const) }),
      fc.record({ do: fc.constant('expire' as const) }),
      fc.record({ do: fc.constant('change' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const own = new GateHarness();
        const done: string[] = [];
        const allowed = new Set<string>();
        const pending: Promise<unknown>[] = [];
        let measure = 'a'.repeat(64);
        for (const each of steps) {
          const [first] = own.gate.waiting();
          if (each.do === 'call') {
            const opId = `op-${each.id}`;
            const act = makeAct({
              opId,
              args: { text: each.text },
              measure: async () => [{ ...insideTarget, measure }],
              describe: () => ({ title: opId, lines: [], fullText: null }),
            });
            const effect = async () => done.push(opId);
            pending.push(own.gate.pass(act, effect, new AbortController().signal));
          } else if (each.do === 'change')
            measure = measure === 'a'.repeat(64) ? 'b'.repeat(64) : 'a'.repeat(64);
          else if (each.do === 'expire') own.timers.find(({ stopped }) => !stopped)?.run();
          else if (first) {
            if (each.do === 'allow') allowed.add(first.title);
            own.gate.answer(first.id, first.reviewDigest, each.do === 'allow' ? 'allow-once' : 'decline');
          }
          for (let turns = 0; turns < 4; turns++) await turn();
        }
        own.gate.declineAll();
        await Promise.all(pending);
        assert.deepEqual(done, [...new Set(done)], 'at most once');
        for (const opId of done) assert.ok(allowed.has(opId), `${opId} was allowed`);
        own.close();
      }),
      { numRuns: 150 },
    );
  });
});
