import assert from 'node:assert/strict';
import { createDecipheriv, randomBytes } from 'node:crypto';
import { GcmCipher } from '../../../../language-server/src/runners/ssh/gcmCipher.ts';

describe('packets of SSH by AES-GCM', () => {
  /** As RFC 5647, 7, has a packet: its length is authenticated and readable, the tag comes last. */
  function decrypt(name: 'aes-128-gcm' | 'aes-256-gcm', key: Buffer, nonce: Buffer, packet: Buffer): Buffer {
    const decipher = createDecipheriv(name, key, nonce);
    decipher.setAAD(packet.subarray(0, 4));
    decipher.setAuthTag(packet.subarray(-16));
    return Buffer.concat([packet.subarray(0, 4), decipher.update(packet.subarray(4, -16)), decipher.final()]);
  }

  function nonceOf(fixed: Buffer, count: bigint): Buffer {
    const nonce = Buffer.alloc(12);
    fixed.copy(nonce, 0, 0, 4);
    nonce.writeBigUInt64BE(BigInt.asUintN(64, count), 4);
    return nonce;
  }

  for (const [name, keyBytes] of [
    ['aes-128-gcm', 16],
    ['aes-256-gcm', 32],
  ] as const)
    it(`are encrypted in their own memory, each with the next nonce (${name})`, () => {
      const [key, fixed] = [randomBytes(keyBytes), Buffer.from('ffffffff', 'hex')];
      // The counter carries through some of its bytes, through all of them, and does not reach what is before it.
      for (const first of [0n, 0xfeffn, 0xffff_fffen, 0xffff_ffff_ffff_fffen]) {
        const cipher = new GcmCipher(name, key, nonceOf(fixed, first));
        for (const [index, size] of [16, 32_784, 16_384, 64].entries()) {
          const packet = Buffer.concat([Buffer.of(0, 0, size >> 8, size & 255), randomBytes(size + 16)]);
          const plain = Buffer.from(packet.subarray(0, -16));
          cipher.encrypt(packet);
          assert.notDeepEqual(packet.subarray(4, -16), plain.subarray(4));
          assert.deepEqual(decrypt(name, key, nonceOf(fixed, first + BigInt(index)), packet), plain);
        }
      }
    });

  it('leave the nonce that was given as it was', () => {
    const nonce = randomBytes(12);
    const before = Buffer.from(nonce);
    new GcmCipher('aes-128-gcm', randomBytes(16), nonce).encrypt(Buffer.alloc(36));
    assert.deepEqual(nonce, before);
  });

  it('are not made with a key of another length', () => {
    const cipher = new GcmCipher('aes-128-gcm', randomBytes(15), randomBytes(12));
    assert.throws(() => cipher.encrypt(Buffer.alloc(36)), { code: 'ERR_CRYPTO_INVALID_KEYLEN' });
  });
});
