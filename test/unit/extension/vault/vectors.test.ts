import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hkdf, hmac } from '../../../../extension/src/vault/core/digests.ts';
import { isSignature, publicKeyOf, signBytes } from '../../../../extension/src/vault/core/ed25519.ts';
import { scryptBytes } from '../../../../extension/src/vault/core/passwordKey.ts';
import { seal, unseal, UnsealError } from '../../../../extension/src/vault/core/sealing.ts';
import { agree, createAgreementKey } from '../../../../extension/src/vault/core/x25519.ts';
import { parseIdentity } from '../../../../remote-agent/src/worker/identity.ts';

const folder = join(import.meta.dirname, '../../../../test-fixtures/vectors');

describe('published vectors', () => {
  it('[SEAL-01] Wycheproof AES-GCM: what is valid opens and seals alike, all else is refused', () => {
    let counted = 0;
    for (const { group, test } of wycheproof<AeadTest>('aes_gcm_test.json')) {
      const key = hex(test.key);
      const sealed = Buffer.concat([hex(test.iv), hex(test.ct), hex(test.tag)]);
      if (group['keySize'] !== 256 || group['ivSize'] !== 96 || group['tagSize'] !== 128) {
        // Other sizes than the vault's own: whatever they hold, the wrapper takes none of them for its own.
        assert.throws(() => unseal(key, hex(test.aad), sealed), `${test.tcId}`);
      } else if (test.result === 'valid') {
        assert.equal(unseal(key, hex(test.aad), sealed).toString('hex'), test.msg);
        assert.deepEqual(seal(key, hex(test.aad), hex(test.msg), { draw: () => hex(test.iv) }), sealed);
      } else {
        assert.throws(() => unseal(key, hex(test.aad), sealed), UnsealError, `${test.tcId}`);
      }
      counted++;
    }
    assert.equal(counted, 316);
  });

  it('[SEAL-01] NIST CAVP GCM, 256-bit keys: 375 to open, 375 to seal', () => {
    const toOpen = blocks('nist/gcmDecrypt256.rsp', 'Count');
    const toSeal = blocks('nist/gcmEncryptExtIV256.rsp', 'Count');
    assert.deepEqual([toOpen.length, toSeal.length], [375, 375]);
    for (const each of toOpen) {
      const sealed = Buffer.concat([each.hex('IV'), each.hex('CT'), each.hex('Tag')]);
      if (each.has('FAIL'))
        assert.throws(() => unseal(each.hex('Key'), each.hex('AAD'), sealed), UnsealError);
      else assert.deepEqual(unseal(each.hex('Key'), each.hex('AAD'), sealed), each.hex('PT'));
    }
    for (const each of toSeal) {
      const sealed = Buffer.concat([each.hex('IV'), each.hex('CT'), each.hex('Tag')]);
      const draw = () => each.hex('IV');
      assert.deepEqual(seal(each.hex('Key'), each.hex('AAD'), each.hex('PT'), { draw }), sealed);
    }
  });

  it('[SEAL-01] Wycheproof HKDF-SHA256', () => {
    for (const { test } of wycheproof<HkdfTest>('hkdf_sha256_test.json')) {
      const derive = () => hkdf(hex(test.ikm), hex(test.salt), hex(test.info), test.size);
      if (test.result === 'valid') assert.equal(derive().toString('hex'), test.okm);
      else assert.throws(derive, `${test.tcId}`);
    }
  });

  it('[SEAL-01] Wycheproof HMAC-SHA256, whole and cut tags', () => {
    for (const { group, test } of wycheproof<MacTest>('hmac_sha256_test.json')) {
      const tag = hmac(hex(test.key), hex(test.msg)).subarray(0, Number(group['tagSize']) / 8);
      assert.equal(tag.toString('hex') === test.tag, test.result === 'valid', `${test.tcId}`);
    }
  });

  it('[SEAL-01] Wycheproof Ed25519: holds where it is valid, nowhere else', () => {
    for (const { group, test } of wycheproof<SignatureTest>('ed25519_test.json')) {
      const key = hex((group['publicKey'] as { pk: string }).pk);
      assert.equal(isSignature(key, hex(test.msg), hex(test.sig)), test.result === 'valid', `${test.tcId}`);
    }
  });

  it('[SEAL-01] Wycheproof X25519: agrees, and refuses where nothing secret is left', () => {
    let refused = 0;
    for (const { test } of wycheproof<AgreementTest>('x25519_test.json')) {
      const agreed = () => agree(agreementKey(hex(test.private)), hex(test.public)).toString('hex');
      if (/^0+$/.test(test.shared)) {
        assert.throws(agreed, { code: 'bad-key' });
        refused++;
      } else assert.equal(agreed(), test.shared, `${test.tcId}`);
    }
    assert.ok(refused > 20);
  });

  it('[SEAL-01] RFC 5869, A.1 to A.3', () => {
    for (const each of blocks('rfc/rfc-5869-HKDF-SHA256.txt', 'COUNT')) {
      const length = Number(each.text('L'));
      assert.deepEqual(hkdf(each.hex('IKM'), each.hex('salt'), each.hex('info'), length), each.hex('OKM'));
    }
  });

  it('[SEAL-01] RFC 7914, section 12: all but the one that takes a gigabyte', async () => {
    const vectors = blocks('rfc/scrypt.txt', 'COUNT').filter((each) => Number(each.text('N')) < 2 ** 20);
    assert.equal(vectors.length, 3);
    for (const each of vectors) {
      const cost = { N: Number(each.text('N')), r: Number(each.text('r')), p: Number(each.text('p')) };
      const [password, salt] = [Buffer.from(each.text('PASSWORD')), Buffer.from(each.text('SALT'))];
      assert.deepEqual(await scryptBytes(password, salt, cost, 64), each.hex('DERIVED_KEY'));
    }
  });

  it('[SEAL-01] RFC 7748, section 5.2', () => {
    const vectors = blocks('rfc/rfc7748.txt', 'COUNT');
    for (const each of vectors)
      assert.deepEqual(
        agree(agreementKey(each.hex('INPUT_SCALAR')), each.hex('INPUT_U')),
        each.hex('OUTPUT_U'),
      );
    const nine = Buffer.alloc(32);
    nine[0] = 9;
    const { privateKey, publicKey } = createAgreementKey();
    assert.deepEqual(publicKey, agree(privateKey, nine));
  });

  it('[SEAL-01] RFC 8032, section 7.1', () => {
    const vectors = blocks('rfc/rfc8032.txt', 'COUNT');
    assert.equal(vectors.length, 4);
    for (const each of vectors) {
      assert.deepEqual(publicKeyOf(each.hex('SEED')), each.hex('PUBLIC'));
      assert.deepEqual(signBytes(each.hex('SEED'), each.hex('MESSAGE')), each.hex('SIGNATURE'));
      assert.ok(isSignature(each.hex('PUBLIC'), each.hex('MESSAGE'), each.hex('SIGNATURE')));
    }
  });

  it('[SEAL-16] V17 CCTV: no key of small order or of another form is enrolled, and nothing holds under one', () => {
    const vectors = JSON.parse(readFileSync(join(folder, 'cctv/ed25519vectors.json'), 'utf8')) as {
      key: string;
      sig: string;
      msg: string;
      flags: string[] | null;
    }[];
    let refused = 0;
    for (const { key, sig, msg, flags } of vectors) {
      if (!flags?.includes('low_order_A') && !flags?.includes('non_canonical_A')) continue;
      assert.equal(parseIdentity(ed25519Spki(hex(key))), undefined);
      assert.equal(isSignature(hex(key), Buffer.from(msg), hex(sig)), false);
      refused++;
    }
    assert.ok(refused > 500);
    assert.ok(parseIdentity(ed25519Spki(publicKeyOf(Buffer.alloc(32, 7)))));
  });

  it('[SEAL-16] V16 every X25519 share of small order is a bad key, and no crash', () => {
    const shares = [
      '00'.repeat(32),
      `01${'00'.repeat(31)}`,
      'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
      '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
      `ec${'ff'.repeat(30)}7f`,
      `ed${'ff'.repeat(30)}7f`,
      `ee${'ff'.repeat(30)}7f`,
    ];
    const { privateKey } = createAgreementKey();
    for (const share of shares)
      assert.throws(() => agree(privateKey, hex(share)), { code: 'bad-key' }, share);
    assert.throws(() => agree(privateKey, Buffer.alloc(31)), { code: 'bad-key' });
    assert.equal(agree(privateKey, createAgreementKey().publicKey).length, 32);
  });
});

/** The X25519 private key of its 32 bytes (PKCS #8, RFC 8410). */
function agreementKey(raw: Uint8Array) {
  const key = Buffer.concat([hex('302e020100300506032b656e04220420'), raw]);
  return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
}

function ed25519Spki(raw: Uint8Array): Buffer {
  return Buffer.concat([hex('302a300506032b6570032100'), raw]);
}

interface WycheproofTest {
  readonly tcId: number;
  readonly result: 'valid' | 'invalid' | 'acceptable';
}
type Named<Name extends string> = WycheproofTest & Readonly<Record<Name, string>>;
type AeadTest = Named<'key' | 'iv' | 'aad' | 'msg' | 'ct' | 'tag'>;
type HkdfTest = Named<'ikm' | 'salt' | 'info' | 'okm'> & { readonly size: number };
type MacTest = Named<'key' | 'msg' | 'tag'>;
type SignatureTest = Named<'msg' | 'sig'>;
type AgreementTest = Named<'public' | 'private' | 'shared'>;

function wycheproof<Test extends WycheproofTest>(name: string) {
  const file = JSON.parse(readFileSync(join(folder, 'wycheproof', name), 'utf8')) as {
    numberOfTests: number;
    testGroups: ({ tests: Test[] } & Record<string, unknown>)[];
  };
  const found = file.testGroups.flatMap((group) => group.tests.map((test) => ({ group, test })));
  assert.equal(found.length, file.numberOfTests);
  assert.ok(found.length > 0);
  return found;
}

/** Blocks of `name = value` lines, each begun by `first`. */
function blocks(name: string, first: string) {
  const lines = readFileSync(join(folder, name), 'utf8').split('\n');
  const found: Map<string, string>[] = [];
  for (const line of lines) {
    const [, key = '', value = ''] = /^([A-Za-z_]+)(?: *= *(.*))?$/.exec(line.trim()) ?? [];
    if (key === first) found.push(new Map());
    if (key !== '') found.at(-1)?.set(key, value);
  }
  assert.ok(found.length > 0);
  return found.map((values) => ({
    has: (key: string) => values.has(key),
    text: (key: string) => values.get(key) ?? '',
    hex: (key: string) => hex(values.get(key) ?? ''),
  }));
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}
