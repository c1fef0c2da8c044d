import assert from 'node:assert/strict';
import path from 'node:path';
import { seatbeltProfile, type SeatbeltSpec } from '../../../../remote-agent/src/isolation/seatbelt.ts';
import { assertGolden } from '../../../support/golden.ts';

const spec: SeatbeltSpec = {
  readable: ['/usr', '/private/tmp/job "1"/code'],
  writable: ['/private/tmp/job \\1/outputs'],
  network: 'none',
};

describe('the Seatbelt profile', () => {
  const networks = { none: 'none', loopback: { loopbackPort: 3128 }, all: 'all' } as const;
  for (const [name, network] of Object.entries(networks)) {
    it(`[JOB-01] is this for the network ${name}`, () => {
      assertGolden(
        path.join(import.meta.dirname, `seatbelt.${name}.golden.sb`),
        seatbeltProfile({ ...spec, network }),
      );
    });
  }

  it('[JOB-01] refuses a path that could end its string', () => {
    assert.throws(() => seatbeltProfile({ ...spec, readable: ['/tmp/a\nb'] }), /control character/);
  });

  it('[JOB-01] never allows Apple events, opening of documents or writing outside', () => {
    const text = seatbeltProfile({ ...spec, network: 'all' });
    assert.doesNotMatch(text, /appleevent-send|lsopen|mach-lookup\)|file-write\* \(subpath "\/"/);
    assert.match(text, /^\(version 1\)\n\(deny default\)\n/);
  });
});
