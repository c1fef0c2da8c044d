import assert from 'node:assert/strict';
import { Newcomers, originOf } from '../../../../remote-agent/src/worker/connections.ts';
import { Turns } from '../../../../remote-agent/src/worker/turns.ts';

describe('whom a worker counts connections of', () => {
  for (const [address, origin] of [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::1', '2001:db8:1:2'],
    ['2001:DB8:1:2:0:0:0:1', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:db8::2:3:4:5', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['', ''],
  ] as const)
    it(`[WORKER-06] takes ${address || 'an address that is not known'} for one of ${origin || 'no address'}`, () => {
      assert.equal(originOf(address), origin);
    });

  it('[WORKER-06] are those of a network of IPv6 together: who has one has 2⁶⁴ addresses', () => {
    const limits = { address: 4, unknown: 100 };
    const strangers = new Newcomers(limits);
    const come = (address: (at: number) => string) =>
      Array.from({ length: 20 }, (_, at) =>
        strangers.add({ remoteAddress: address(at), remotePort: 1000 + at }),
      ).filter(Boolean).length;
    assert.equal(
      come((at) => `2001:db8:1:2::${at}`),
      4,
    );
    // Others are let in (control).
    assert.equal(
      come((at) => `2001:db8:1:${at + 10}::1`),
      20,
    );
    assert.equal(
      come((at) => `192.0.2.${at}`),
      20,
    );
  });

  it('[WORKER-06] a crowd of strangers gives nobody their turns back', () => {
    const turns = new Turns(2);
    assert.deepEqual(
      [1, 2, 3].map(() => turns.take('flood', 0)),
      [true, true, false],
    );
    for (let name = 0; name < 9_000; name += 1) turns.take(`stranger ${name}`, 0);
    assert.equal(turns.take('flood', 0), false);
    for (let name = 9_000; name < 15_000; name += 1) turns.take(`stranger ${name}`, 0);
    assert.equal(turns.take('flood', 0), false);
    // Time does (control).
    assert.equal(turns.take('flood', 60_000), true);
  });
});
