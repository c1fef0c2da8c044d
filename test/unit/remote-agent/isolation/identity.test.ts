import assert from 'node:assert/strict';
import { sandboxOwner } from '../../../../remote-agent/src/isolation/identity.ts';

const whole = '         0          0 4294967295\n';
const rootless = '         0       1000          1\n         1     100000      65536\n';
const single = '         0       1000          1\n';
const onlyRoot = '         0          0          1\n';

describe('whom a sandbox is started as', () => {
  it('[JOB-09] is the runner’s own user where that is an ordinary one', () => {
    assert.equal(sandboxOwner(1000, whole, 0), undefined);
  });

  it('[JOB-09] is for each sandbox of a root runner another user that nobody has', () => {
    const owners = [0, 1, 2].map((turn) => sandboxOwner(0, whole, turn)?.uid ?? 0);
    assert.equal(new Set(owners).size, 3);
    for (const uid of owners) assert.ok(uid >= 1_879_048_192 && uid < 2_147_483_648);
  });

  it('[JOB-09] comes from the end of the range that a user namespace has', () => {
    const uid = sandboxOwner(0, rootless, 5)?.uid ?? 0;
    assert.ok(uid > 60_000 && uid < 65_537, String(uid));
  });

  it('[JOB-09] stays the root of a user namespace that is somebody else outside', () => {
    assert.equal(sandboxOwner(0, single, 0), undefined);
  });

  for (const map of [onlyRoot, '', 'nonsense']) {
    it(`[JOB-09] is nobody where root has no other user to give: ${JSON.stringify(map)}`, () => {
      assert.throws(() => sandboxOwner(0, map, 0), /no other user/);
    });
  }
});
