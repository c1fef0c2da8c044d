import assert from 'node:assert/strict';
import * as crypto from 'node:crypto';
import * as kept from '../../../../language-server/src/runners/ssh/keptKeys.ts';

describe('ciphers with keys that are made ready once', () => {
  const [key, iv, text] = [crypto.randomBytes(16), crypto.randomBytes(12), crypto.randomBytes(1000)];

  it('encrypt and decrypt as those of Node.js, however often a key is used', () => {
    for (const given of [key, key, Buffer.from(key), crypto.createSecretKey(key)]) {
      const theirs = crypto.createCipheriv('aes-128-gcm', key, iv);
      const ours = kept.createCipheriv('aes-128-gcm', given, iv) as crypto.CipherGCM;
      const secret = Buffer.concat([ours.update(text), ours.final()]);
      assert.deepEqual(secret, Buffer.concat([theirs.update(text), theirs.final()]));
      assert.deepEqual(ours.getAuthTag(), theirs.getAuthTag());
      const back = kept.createDecipheriv('aes-128-gcm', given, iv) as crypto.DecipherGCM;
      back.setAuthTag(ours.getAuthTag());
      assert.deepEqual(Buffer.concat([back.update(secret), back.final()]), text);
    }
  });

  it('hold two keys apart, and refuse one of another length', () => {
    const other = crypto.randomBytes(16);
    const of = (each: Buffer) => kept.createCipheriv('aes-128-gcm', each, iv).update(text);
    assert.notDeepEqual(of(key), of(other));
    assert.throws(() => of(crypto.randomBytes(15)), { code: 'ERR_CRYPTO_INVALID_KEYLEN' });
  });
});
