import assert from 'node:assert/strict';
import * as crypto from 'node:crypto';
import * as kept from '../../../../language-server/src/runners/ssh/keptKeys.ts';

describe('deciphers with keys that are made ready once', () => {
  const [key, iv, text] = [crypto.randomBytes(16), crypto.randomBytes(12), crypto.randomBytes(1000)];
  const cipher = crypto.createCipheriv('aes-128-gcm', key, iv);
  const secret = Buffer.concat([cipher.update(text), cipher.final()]);

  it('decrypt as those of Node.js, however often a key is used', () => {
    for (const given of [key, key, Buffer.from(key), crypto.createSecretKey(key)]) {
      const back = kept.createDecipheriv('aes-128-gcm', given, iv) as crypto.DecipherGCM;
      back.setAuthTag(cipher.getAuthTag());
      assert.deepEqual(Buffer.concat([back.update(secret), back.final()]), text);
    }
  });

  it('hold two keys apart, and refuse one of another length', () => {
    const of = (each: Buffer) => kept.createDecipheriv('aes-128-gcm', each, iv).update(secret);
    assert.notDeepEqual(of(crypto.randomBytes(16)), of(key));
    assert.throws(() => of(crypto.randomBytes(15)), { code: 'ERR_CRYPTO_INVALID_KEYLEN' });
  });
});
