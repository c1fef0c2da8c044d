import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Shares, type Share } from '../../../../remote-agent/src/worker/shares.ts';

interface Member {
  readonly share: Share;
  held: number;
  asked: number;
}

/** Members of one machine who count what they got. */
function members(turns: number, count: number): Member[] {
  const shares = new Shares(turns);
  return Array.from({ length: count }, () => {
    const member: Member = {
      share: shares.join(() => {
        member.held += 1;
        member.asked -= 1;
      }),
      held: 0,
      asked: 0,
    };
    return member;
  });
}

function ask(member: Member | undefined, count = 1): void {
  for (let turn = 0; turn < count; turn += 1) {
    if (!member) return;
    member.asked += 1;
    member.share.ask();
  }
}

function leave(member: Member | undefined): void {
  if (!member || member.held === 0) return;
  member.held -= 1;
  member.share.leave();
}

describe('the turns of a machine', () => {
  it('[WORKER-07] all go to who is alone', () => {
    const [only] = members(4, 1);
    ask(only, 9);
    assert.deepEqual([only?.held, only?.asked], [4, 5]);
  });

  it('[WORKER-07] nobody waits for the end of somebody else’s card to have one of their own', () => {
    const all = members(4, 10);
    ask(all[0], 100);
    for (const member of all.slice(1)) ask(member, 5);
    assert.deepEqual(
      all.map(({ held }) => held),
      [4, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    );
  });

  it('[WORKER-07] what becomes free goes to who holds the fewest, in turn', () => {
    const [flood, modest] = members(4, 2);
    ask(flood, 100);
    ask(modest, 3);
    assert.deepEqual([flood?.held, modest?.held], [4, 1]);
    for (let end = 0; end < 3; end += 1) leave(flood);
    assert.deepEqual([flood?.held, modest?.held], [2, 2]);
    const given = [0, 0];
    for (let round = 0; round < 20; round += 1) {
      const [one, two] = [flood, modest];
      ask(two);
      const [before, beforeTwo] = [one?.held ?? 0, two?.held ?? 0];
      leave(round % 2 === 0 ? one : two);
      given[0] = (given[0] ?? 0) + Math.max(0, (one?.held ?? 0) - before + (round % 2 === 0 ? 1 : 0));
      given[1] = (given[1] ?? 0) + Math.max(0, (two?.held ?? 0) - beforeTwo + (round % 2 === 0 ? 0 : 1));
    }
    assert.deepEqual(given, [10, 10]);
  });

  it('[WORKER-07] who ends gives all back, and what was held before counts', () => {
    const shares = new Shares(2);
    const got: string[] = [];
    const one = shares.join(() => got.push('one'));
    const two = shares.join(() => got.push('two'));
    one.hold(2);
    two.ask();
    two.ask();
    assert.deepEqual(got, ['two']);
    one.end();
    assert.deepEqual(got, ['two', 'two']);
  });

  it('[WORKER-07] never more than the machine has and one for each, and no turn lies idle', () => {
    const step = fc.record({ who: fc.nat(4), act: fc.constantFrom('ask', 'ask', 'leave') });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 200 }), (turns, steps) => {
        const all = members(turns, 5);
        for (const { who, act } of steps) {
          if (act === 'ask') ask(all[who]);
          else leave(all[who]);
          const held = all.reduce((sum, member) => sum + member.held, 0);
          const holders = all.filter((member) => member.held > 0).length;
          assert.ok(held <= turns + holders - 1 || held === 0);
          for (const member of all) {
            if (member.asked === 0) continue;
            assert.ok(member.held > 0, 'one who asked has none');
            assert.ok(held >= turns, 'a turn lies idle');
          }
        }
      }),
    );
  });
});
