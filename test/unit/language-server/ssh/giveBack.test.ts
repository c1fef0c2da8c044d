import assert from 'node:assert/strict';
import { giveBack, giveBackPacket } from '../../../../language-server/src/runners/ssh/giveBack.ts';

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

  for (const [title, around, left] of [
    ['is that of a packet around its data', 64, 0],
    ['is not shared by data that are a part of it', 65, large],
  ] as const)
    it(title, () => {
      const data = Buffer.allocUnsafeSlow(large + around).subarray(10, 10 + large);
      giveBackPacket(data);
      assert.equal(data.length, left);
    });
});
