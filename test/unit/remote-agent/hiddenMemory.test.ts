import assert from 'node:assert/strict';
import { hiddenMemory, queuedBytes } from '../../../remote-agent/src/hiddenMemory.ts';

describe('memory that no process shows', () => {
  it('[JOB-06] adds up what waits in both directions of all connections', () => {
    const head =
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
    const lines = [
      '   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0',
      '   1: 0100007F:1F90 0100007F:8AE2 01 00010000:000000FF 01:00000014 00000000     0        0 2 1 0 100 0',
      '   2: 00000000000000000000000001000000:1F90 00000000000000000000000001000000:8AE2 01 00000001:00000002 00:00000000 0 0',
    ];
    assert.equal(queuedBytes(head + lines.join('\n')), 0x10000 + 0xff + 3);
    assert.equal(queuedBytes(head), 0);
  });

  it('[JOB-06] is nothing where there is no such process', () => {
    assert.equal(hiddenMemory(2 ** 30, true), 0);
  });
});
