import assert from 'node:assert/strict';
import fc from 'fast-check';
import { checkKey } from '../../../extension/src/keys/keyText.ts';
import { KeyVault, type Secrets } from '../../../extension/src/keys/keyVault.ts';
import { createScrubber } from '../../../extension/src/keys/scrubber.ts';

const key = 'sk-Canary+7/q9=ZpL3vTtYw';
const origin = 'https://api.example.com';
const header = { name: 'x-api-key', prefix: '' };

function makeSecrets() {
  const kept = new Map<string, string>();
  const secrets: Secrets = {
    get: async (name) => kept.get(name),
    store: async (name, value) => void kept.set(name, value),
    delete: async (name) => void kept.delete(name),
  };
  return { kept, secrets };
}
const makeVault = (secrets: Secrets, timeoutMs = 5000) => new KeyVault({ secrets, timeoutMs });
const hanging: Secrets = {
  get: () => new Promise(() => undefined),
  store: () => new Promise(() => undefined),
  delete: () => new Promise(() => undefined),
};
const throwing: Secrets = {
  get: () => Promise.reject(new Error('keyring is locked')),
  store: () => Promise.reject(new Error('keyring is locked')),
  delete: () => Promise.reject(new Error('keyring is locked')),
};

describe('a pasted key', () => {
  for (const [text, expected] of [
    [`  ${key}\r\n`, { key }],
    ['', { problem: 'empty' }],
    [' \n\t', { problem: 'empty' }],
    ['sk-a b', { problem: 'inner-space' }],
    ['sk-a\r\nx-evil: 1', { problem: 'inner-space' }],
    ['sk-a\u00a0b', { problem: 'inner-space' }],
    ['sk-ключ', { problem: 'characters' }],
    ['sk-\u200bhidden', { problem: 'characters' }],
    ['sk-\u0000', { problem: 'characters' }],
    ['k'.repeat(4097), { problem: 'too-long' }],
  ] as const) {
    it(`[KEY-01] ${JSON.stringify(text).slice(0, 40)} → ${JSON.stringify(expected).slice(0, 40)}`, () => {
      assert.deepEqual(checkKey(text), expected);
    });
  }

  it('[KEY-01] that passes can end no header and start no other', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const checked = checkKey(text);
        if ('key' in checked) assert.match(checked.key, /^[!-~]+$/);
      }),
    );
  });
});

describe('KeyVault', () => {
  it('[KEY-02] gives a key back as a header to its origin and in no other way', async () => {
    const { secrets } = makeSecrets();
    const vault = makeVault(secrets);
    vault.keepForThisWindow('b', origin, key);
    const answers: unknown[] = [
      await vault.save('a', origin, ` ${key} `),
      await vault.state('a', origin),
      await vault.state('b', origin),
      vault,
      await vault.drop('b'),
    ];
    vault.forgetRead();
    assert.deepEqual(
      Object.getOwnPropertyNames(KeyVault.prototype).sort(),
      ['authorize', 'constructor', 'drop', 'forgetRead', 'keepForThisWindow', 'save', 'state'],
      'each function that there is was looked at',
    );
    assert.ok(!JSON.stringify(answers).includes(key));
    const found = await vault.authorize('a', origin, header);
    assert.ok(typeof found !== 'string');
    assert.deepEqual(found.headers, { 'x-api-key': key });
  });

  it('[KEY-03] drops a key when it is asked for another origin, and for good', async () => {
    for (const other of ['http://api.example.com', 'https://api.example.com:8443', 'https://example.com']) {
      const { kept, secrets } = makeSecrets();
      const vault = makeVault(secrets);
      await vault.save('a', origin, key);
      assert.equal(await vault.authorize('a', other, header), 'other-origin');
      assert.equal(kept.size, 0);
      assert.equal(await vault.authorize('a', origin, header), 'none');
    }
  });

  it('[KEY-04] says that the storage is lost where it throws or does not answer', async () => {
    for (const secrets of [throwing, hanging]) {
      const vault = makeVault(secrets, 5);
      assert.equal(await vault.save('a', origin, key), false);
      assert.equal(await vault.state('a', origin), 'lost');
      assert.equal(await vault.authorize('a', origin, header), 'lost');
      assert.equal(await vault.drop('a'), false);
    }
  });

  it('[KEY-04] keeps a key for the window alone where a person chose so', async () => {
    const vault = makeVault(throwing);
    vault.keepForThisWindow('a', origin, key);
    assert.equal(await vault.state('a', origin), 'for-this-window');
    assert.ok(typeof (await vault.authorize('a', origin, header)) !== 'string');
    assert.equal(await vault.authorize('a', 'https://other.example', header), 'other-origin');
  });

  it('takes nothing that another program wrote into the storage for a key', async () => {
    for (const text of ['', 'null', key, '{"origin":1}', JSON.stringify({ origin, key: 'a\r\nb' })]) {
      const { kept, secrets } = makeSecrets();
      kept.set('sallyport.key.a', text);
      assert.equal(await makeVault(secrets).authorize('a', origin, header), 'none', text);
    }
  });
});

describe('what a server echoes', () => {
  const bytes = Buffer.from(key);
  const spellings: Readonly<Record<string, string>> = {
    plain: key,
    base64: bytes.toString('base64'),
    'base64 inside': Buffer.from(`{"k":"${key}"}`).toString('base64'),
    'base64 one further': Buffer.from(`"k":"${key}"}`).toString('base64'),
    'base64 two further': Buffer.from(`k":"${key}"}`).toString('base64'),
    base64url: bytes.toString('base64url'),
    hex: bytes.toString('hex'),
    HEX: bytes.toString('hex').toUpperCase(),
    percent: encodeURIComponent(key),
    'percent of all': [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
    reversed: Buffer.from(bytes).reverse().toString(),
    json: JSON.stringify({ error: `bad key ${key}` }),
  };
  /** The part of a spelling that the key alone decides, six characters in. */
  const core = (text: string) => text.slice(6, -6);

  for (const [name, spelling] of Object.entries(spellings)) {
    it(`[KEY-05] is without the key: ${name}`, () => {
      const scrubbed = createScrubber(key).text(`before ${spelling} after`);
      assert.ok(scrubbed.includes('[key removed]'), scrubbed);
      assert.ok(!scrubbed.includes(key) && scrubbed.startsWith('before ') && scrubbed.endsWith(' after'));
      assert.ok(!scrubbed.includes(core(spelling)) || name.startsWith('json'), scrubbed);
      assert.ok(createScrubber(undefined).text(spelling).includes(core(spelling)), 'control');
    });
  }

  it('[KEY-05] is without the key however its chunks are cut, and otherwise as it was sent', () => {
    const text = `é data: {"a":"${key}"}\n\n${bytes.toString('base64')}${key.slice(0, -1)}!`;
    const whole = Buffer.from(text);
    const expected = createScrubber(key).text(whole.toString('latin1'));
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length)), (cuts) => {
        const pass = createScrubber(key).stream();
        const edges = [0, ...cuts.sort((a, b) => a - b), whole.length];
        const parts = edges.slice(1).map((edge, index) => pass.push(whole.subarray(edges[index], edge)));
        const out = Buffer.concat([...parts, pass.end()]).toString('latin1');
        assert.equal(out, expected);
      }),
    );
    assert.ok(!expected.includes(key) && expected.includes(`${key.slice(0, -1)}!`));
  });

  it('leaves words alone that local servers take for a key', () => {
    assert.equal(createScrubber('none').text('there is none'), 'there is none');
  });
});
