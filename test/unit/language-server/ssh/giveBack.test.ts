import assert from 'node:assert/strict';
import { giveBack } from '../../../../language-server/src/runners/ssh/giveBack.ts';

describe('memory that is given back', () => {
  const large = 16 * 1024;
  for (const [title, bytes, left] of [
    ['is that of a large piece', Buffer.allocUnsafeSlow(large), 0],
    ['is not that of a small piece', Buffer.allocUnsafeSlow(large - 1), large - 1],
    ['is not shared by the start of a piece', Buffer.allocUnsafeSlow(large + 1).subarray(0, large), large],
    ['is not shared by the end of a piece', Buffer.allocUnsafeSlow(large + 1).subarray(1), large],
    ['is not shared between threads', new Uint8Array(new SharedArrayBuffer(large)), large],
  ] as const)
    it(title, () => {
      giveBack(bytes);
      assert.equal(bytes.length, left);
    });
});
