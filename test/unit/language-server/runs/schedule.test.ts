import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Schedule, type ScheduledCard } from '../../../../language-server/src/runs/schedule.ts';

/** Graphs whose cards need only earlier ones, in any order of listing. */
const graphs = fc
  .array(fc.array(fc.nat(30), { maxLength: 4 }), { minLength: 1, maxLength: 24 })
  .chain((needs) => {
    const cards: ScheduledCard[] = needs.map((list, at) => ({
      id: `c${at}`,
      needs: at === 0 ? [] : list.map((need) => `c${need % at}`),
    }));
    return fc.shuffledSubarray(cards, { minLength: cards.length });
  });

/** What the schedule promises, written the slow way: ask again for every card. */
function model(cards: readonly ScheduledCard[], fails: ReadonlySet<string>) {
  const byId = new Map(cards.map((card) => [card.id, card]));
  const memo = new Map<string, 'done' | 'failed' | 'skipped'>();
  const endOf = (id: string): 'done' | 'failed' | 'skipped' => {
    const known = memo.get(id);
    if (known) return known;
    const ends = (byId.get(id)?.needs ?? []).map(endOf);
    const end = ends.some((each) => each !== 'done') ? 'skipped' : fails.has(id) ? 'failed' : 'done';
    memo.set(id, end);
    return end;
  };
  return Object.fromEntries(cards.map(({ id }) => [id, endOf(id)]));
}

describe('schedule', () => {
  it('[FLOW-16] ends every card exactly once, as the graph and the failures say, in any order of endings', () => {
    fc.assert(
      fc.property(
        graphs,
        fc.array(fc.nat(24)),
        fc.infiniteStream(fc.nat(1000)),
        (cards, failing, choices) => {
          const fails = new Set(failing.map((at) => `c${at}`));
          const schedule = new Schedule(cards);
          const ends: Record<string, string> = {};
          const running: string[] = [];
          const end = (id: string, how: string) => {
            assert.equal(ends[id], undefined, `${id} ended twice`);
            ends[id] = how;
          };
          for (;;) {
            running.push(...schedule.takeReady());
            const next = running.splice((choices.next().value ?? 0) % Math.max(1, running.length), 1)[0];
            if (next === undefined) break;
            for (const need of cards.find(({ id }) => id === next)?.needs ?? [])
              assert.equal(ends[need], 'done');
            if (fails.has(next)) {
              end(next, 'failed');
              for (const { id, because } of schedule.fail([next])) {
                assert.equal(because, next);
                end(id, 'skipped');
              }
            } else {
              end(next, 'done');
              schedule.succeed(next);
            }
          }
          assert.deepEqual(ends, model(cards, fails));
          assert.deepEqual(schedule.remaining(), []);
        },
      ),
    );
  });

  it('makes no card of a cycle ready, and ends them all when one is failed', () => {
    const schedule = new Schedule([
      { id: 'a', needs: ['b'] },
      { id: 'b', needs: ['a'] },
      { id: 'c', needs: ['b'] },
    ]);
    assert.deepEqual(schedule.takeReady(), []);
    assert.deepEqual(
      schedule.fail(['a']).map(({ id }) => id),
      ['b', 'c'],
    );
    assert.deepEqual(schedule.remaining(), []);
  });

  it('tells a card that fails by itself from one that is skipped, when both are failed at once', () => {
    const schedule = new Schedule([
      { id: 'a', needs: [] },
      { id: 'b', needs: ['a'] },
      { id: 'c', needs: ['b'] },
    ]);
    assert.deepEqual(schedule.fail(['a', 'b']), [{ id: 'c', because: 'b' }]);
  });

  it('ignores a need that is not scheduled, a repeated one and a second ending', () => {
    const schedule = new Schedule([
      { id: 'a', needs: ['gone'] },
      { id: 'b', needs: ['a', 'a'] },
    ]);
    assert.deepEqual(schedule.takeReady(), ['a']);
    schedule.succeed('a');
    schedule.succeed('a');
    assert.deepEqual(schedule.fail(['a']), []);
    assert.deepEqual(schedule.takeReady(), ['b']);
    assert.deepEqual(schedule.takeReady(), []);
  });
});
