import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ReleasedValue, VaultWish } from '../../../protocol/src/vault.ts';
import { sealValue } from '../../../extension/src/vault/sealValue.ts';
import { openJobValues } from '../../../remote-agent/src/vault/jobValues.ts';
import { createRecipientKey, type RecipientKey } from '../../../remote-agent/src/vault/openValue.ts';

const wish: VaultWish = {
  item: 'api',
  field: 'token',
  use: { kind: 'header', hosts: ['api.example.org'], name: 'authorization', prefix: 'Bearer ' },
};
const context = { jobId: 'job-1', grant: 'grant-1', wish };
const value = 'a value of some length';

function release(recipient: string, changed: Partial<typeof context> = {}, text = value): ReleasedValue {
  const { jobId, grant, wish: granted } = { ...context, ...changed };
  return {
    grant,
    wish: granted,
    sealed: sealValue(recipient, { jobId, grant, wish: granted }, Buffer.from(text)),
  };
}

describe('a value sealed to a runner', () => {
  let key: RecipientKey;
  beforeEach(() => {
    key = createRecipientKey();
  });

  it('[VAULTUSE-07] opens for the job and the use that it was sealed for, whatever it holds', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const sealed = sealValue(key.publicKey, context, bytes);
        assert.deepEqual([...key.open('job-1', { ...context, sealed })], [...bytes]);
      }),
      { numRuns: 50 },
    );
    const twice = [0, 1].map(() => release(key.publicKey).sealed.ciphertext);
    assert.notEqual(twice[0], twice[1]);
  });

  const header = wish.use as Extract<VaultWish['use'], { kind: 'header' }>;
  const otherWishes: Readonly<Record<string, VaultWish>> = {
    'another host': { ...wish, use: { ...header, hosts: ['evil.example.org'] } },
    'one more host': { ...wish, use: { ...header, hosts: [...header.hosts, 'evil.example.org'] } },
    'another header': { ...wish, use: { ...header, name: 'x-log' } },
    'another field': { ...wish, field: 'other' },
    'another item': { ...wish, item: 'other' },
    'the environment': { ...wish, use: { kind: 'env', name: 'TOKEN' } },
  };
  for (const [name, other] of Object.entries(otherWishes)) {
    it(`[VAULTUSE-07] does not open for ${name}`, () => {
      const sealed = release(key.publicKey);
      assert.throws(() => key.open('job-1', { ...sealed, wish: other }), { code: 'bad-message' });
      // Negative control.
      assert.equal(openJobValues(key, 'job-1', [sealed]).injections[0]?.value, value);
    });
  }

  it('[VAULTUSE-07] does not open for another job, grant or runner, or with a changed byte', () => {
    const sealed = release(key.publicKey);
    const flip = (text: string) => {
      const bytes = Buffer.from(text, 'base64');
      bytes[0] = (bytes[0] ?? 0) ^ 1;
      return bytes.toString('base64');
    };
    const cases: [string, ReleasedValue][] = [
      ['job-2', sealed],
      ['job-1', { ...sealed, grant: 'grant-2' }],
      ['job-1', release(createRecipientKey().publicKey)],
      ...(['ephemeralKey', 'iv', 'ciphertext', 'tag'] as const).map((part): [string, ReleasedValue] => [
        'job-1',
        { ...sealed, sealed: { ...sealed.sealed, [part]: flip(sealed.sealed[part]) } },
      ]),
      ['job-1', { ...sealed, sealed: { ...sealed.sealed, tag: sealed.sealed.tag.slice(0, 8) } }],
      ['job-1', { ...sealed, sealed: { ...sealed.sealed, ephemeralKey: '' } }],
    ];
    for (const [jobId, released] of cases) {
      assert.throws(() => key.open(jobId, released), { code: 'bad-message' });
    }
  });

  it('[VAULTUSE-07] opens once for each job: a use that was counted is not had twice', () => {
    const own = createRecipientKey();
    const released = release(own.publicKey);
    openJobValues(own, 'job-1', [released]);
    assert.throws(() => openJobValues(own, 'job-1', [released]), { code: 'bad-message' });
  });

  it('[VAULTUSE-07] is not sealed to what is no key, or one of small order', () => {
    const points = ['', 'AAAA', Buffer.alloc(32).toString('base64')];
    points.push(
      Buffer.from('e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800', 'hex').toString(
        'base64',
      ),
    );
    for (const point of points)
      assert.throws(() => sealValue(point, context, Buffer.from(value)), { code: 'bad-message' });
  });

  const misfits: readonly [string, VaultWish['use'], string][] = [
    ['shorter than six characters', { kind: 'env', name: 'A' }, 'abc12'],
    ['line breaks', header, 'two\nlines of it'],
    ['line breaks', header, 'a value\r\nHost: evil'],
    ['characters', header, 'schlüssel-wort'],
    ['NUL', { kind: 'env', name: 'A' }, 'with \0 in it'],
    ['can’t be sent', { ...header, name: 'Host' }, value],
  ];
  for (const [reason, use, text] of misfits) {
    it(`[VAULTUSE-02] refuses a value that it can’t use safely: ${reason}, as ${use.kind}`, () => {
      const released = release(key.publicKey, { wish: { ...wish, use } }, text);
      assert.throws(
        () => openJobValues(key, 'job-1', [released]),
        (error: Error) => error.message.includes(reason) && !error.message.includes(text),
      );
    });
  }
});
