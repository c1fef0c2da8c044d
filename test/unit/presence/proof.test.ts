import assert from 'node:assert/strict';
import fc from 'fast-check';
import { waitMs } from '../../../extension/src/presence/backOff.ts';
import { actDigest, type PresenceAct } from '../../../extension/src/presence/presenceAct.ts';
import { actSentence } from '../../../extension/src/presence/presenceMessages.ts';
import { ProofDesk, proofLifeMs, type Proof } from '../../../extension/src/presence/proofDesk.ts';
import { effective } from '../../../extension/src/presence/settingGuards.ts';

const reveal: PresenceAct = {
  name: 'reveal',
  vault: 'agents',
  itemId: 'db',
  title: 'Database',
  field: 'password',
  version: 3,
};

describe('A proof of presence', () => {
  it('[PRES-01] counts once, for its act', () => {
    const desk = new ProofDesk(() => 0);
    const proof = desk.issue(reveal, 0);
    assert.equal(desk.spend(proof, { ...reveal }), true);
    assert.equal(desk.spend(proof, reveal), false);
  });

  const others: PresenceAct[] = [
    { ...reveal, version: 4 },
    { ...reveal, field: 'user' },
    { ...reveal, itemId: 'db2' },
    { ...reveal, vault: 'personal' },
    { ...reveal, title: 'Data base' },
    { name: 'setPassword' },
  ];
  for (const other of others) {
    it(`[PRES-01] counts not for ${JSON.stringify(other)}, and is used up by the try`, () => {
      const desk = new ProofDesk(() => 0);
      const proof = desk.issue(reveal, 0);
      assert.equal(desk.spend(proof, other), false);
      assert.equal(desk.spend(proof, reveal), false);
    });
  }

  it('[PRES-01] ends two minutes after the question', () => {
    let now = 1000;
    const desk = new ProofDesk(() => now);
    const early = desk.issue(reveal, 1000);
    const late = desk.issue(reveal, 1000);
    now = 1000 + proofLifeMs - 1;
    assert.equal(desk.spend(early, reveal), true);
    now = 1000 + proofLifeMs;
    assert.equal(desk.spend(late, reveal), false);
  });

  it('[PRES-01] can’t be made, copied or brought to another desk', () => {
    const desk = new ProofDesk(() => 0);
    const proof = desk.issue(reveal, 0);
    assert.equal(desk.spend({} as Proof, reveal), false);
    assert.equal(desk.spend({ ...proof }, reveal), false);
    assert.equal(desk.spend(structuredClone(proof), reveal), false);
    assert.equal(new ProofDesk(() => 0).spend(proof, reveal), false);
    assert.equal(desk.spend(proof, reveal), true);
  });

  it('hangs on every member of the act and on no order of them', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        fc.pre(a !== b && a.isWellFormed() && b.isWellFormed());
        const digest = (path: string) =>
          actDigest({ name: 'restore', path, digest: '', why: 'stale' }).toString('hex');
        return digest(a) !== digest(b);
      }),
    );
    assert.deepEqual(
      actDigest({ why: 'stale', digest: 'x', path: 'p', name: 'restore' }),
      actDigest({ name: 'restore', path: 'p', digest: 'x', why: 'stale' }),
    );
  });

  it('says what is confirmed, with hidden characters shown', () => {
    const text = actSentence({ ...reveal, title: 'Data\u202Ebase' });
    assert.match(text, /“password” of “Data\\u\{202E\}base” \(agents’ vault\), version 3/);
  });
});

describe('The wait after wrong passwords', () => {
  const table: [number, number][] = [
    [0, 0],
    [2, 0],
    [3, 2000],
    [4, 4000],
    [10, 256_000],
    [13, 900_000],
    [1_000_000, 900_000],
  ];
  for (const [count, wait] of table) {
    it(`[PRES-05] is ${wait} ms after ${count}`, () =>
      assert.equal(waitMs({ count, lastAt: 5000 }, 5000), wait));
  }
  it('[PRES-05] ends in time, and never sooner by a clock that was turned back', () => {
    assert.equal(waitMs({ count: 4, lastAt: 5000 }, 8999), 1);
    assert.equal(waitMs({ count: 4, lastAt: 5000 }, 9000), 0);
    assert.equal(waitMs({ count: 4, lastAt: 5000 }, 4999), 4000);
    assert.equal(waitMs({ count: 4, lastAt: 5000 }, 0), 4000);
  });
});

describe('A setting that opens something', () => {
  const table = [
    ['shellInternet', true, undefined, false],
    ['shellInternet', true, false, false],
    ['shellInternet', true, true, true],
    ['shellInternet', false, true, false],
    ['shellInternet', true, 'true', false],
    ['webSearch', true, undefined, false],
    ['vault.lockAfterMinutes', 480, undefined, 10],
    ['vault.lockAfterMinutes', 480, 60, 60],
    ['vault.lockAfterMinutes', 30, 60, 30],
    ['vault.lockAfterMinutes', 5, undefined, 5],
    ['vault.lockAfterMinutes', 480, true, 10],
  ] as const;
  for (const [name, written, confirmed, counts] of table) {
    it(`[PRES-06] ${name} of ${written}, confirmed ${confirmed}, counts as ${counts}`, () =>
      assert.equal(effective<string | number | boolean>(name, written, confirmed), counts));
  }
});
