import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import fc from 'fast-check';
import type { ItemSummary } from '../../../extension/src/vault/core/items.ts';
import { Secret } from '../../../extension/src/vault/core/secret.ts';
import type { Vault } from '../../../extension/src/vault/core/vaultContract.ts';
import { SshDesk } from '../../../extension/src/vault/sshDesk.ts';
import { keyOfLine, parseSignIn, rawKey } from '../../../extension/src/vault/sshWire.ts';
import { signInBytes, sshString, type SignInParts } from '../../support/sshSignInBytes.ts';
import { VaultHarness } from '../../support/vaultHarness.ts';

const at = { place: 'ssh:lab', host: 'lab.example.org', port: 22 };
const running = new AbortController().signal;
type Answer = 'accepted' | 'declined' | 'later';

describe('the desk that signs in over SSH', () => {
  let harness: VaultHarness;
  let vault: Vault;
  let desk: SshDesk;
  let reviewed: string[];
  let answer: Answer;

  const make = (id = 'key', hosts: string[] = []): Promise<ItemSummary> =>
    vault.generateKeyPair({ id, title: id.toUpperCase(), hosts, tags: [], expiresAt: null });
  const keyOf = async (id = 'key', from = vault): Promise<Buffer> => {
    using line = await from.open(id, 'public-key');
    return line.use(keyOfLine) ?? assert.fail('no public key');
  };

  beforeEach(async () => {
    harness = new VaultHarness();
    vault = await harness.create();
    reviewed = [];
    answer = 'accepted';
    desk = new SshDesk({
      openVaults: async () => [vault],
      review: async (id) => {
        reviewed.push(id);
        if (answer !== 'later') await vault.answer(id, answer);
      },
      now: () => harness.now,
    });
    await make();
  });
  afterEach(() => harness.close());

  const sign = async (
    more: Partial<typeof at & { mayAsk: boolean }> = {},
    data?: Buffer,
    signal = running,
  ): Promise<Buffer> => {
    const publicKey = await keyOf();
    const { signature } = await desk.sign(
      {
        ...at,
        mayAsk: true,
        ...more,
        publicKey: publicKey.toString('base64'),
        data: (data ?? signInBytes(publicKey)).toString('base64'),
      },
      signal,
    );
    return Buffer.from(signature, 'base64');
  };
  const isGood = (key: Buffer, bytes: Buffer, signature: Buffer): boolean => {
    const spki = Buffer.concat([
      Buffer.from('302a300506032b6570032100', 'hex'),
      rawKey(key) ?? Buffer.alloc(0),
    ]);
    return verify(null, bytes, createPublicKey({ key: spki, format: 'der', type: 'spki' }), signature);
  };

  it('[VAULTUSE-16] asks once, signs, and writes who signed in where', async () => {
    const key = await keyOf();
    assert.ok(isGood(key, signInBytes(key), await sign()));
    await sign();
    assert.equal(reviewed.length, 1);
    const uses = vault.uses().map(({ principal, item, field, host }) => [principal, item, field, host]);
    const line = ['place:ssh:lab', 'key', 'private-key', 'who@lab.example.org:22'];
    assert.deepEqual(uses, [line, line]);
  });

  for (const given of ['declined', 'later'] as const)
    it(`[VAULTUSE-16] signs nothing where the answer is ${given}`, async () => {
      answer = given;
      await assert.rejects(sign(), { code: 'permission-needed', message: /KEY.*ssh:lab/ });
      assert.deepEqual(vault.uses(), []);
    });

  const others: readonly [string, Partial<typeof at>][] = [
    ['another place', { place: 'ssh:other' }],
    ['the same host as another kind of place', { place: 'slurm:lab' }],
  ];
  for (const [what, more] of others)
    it(`[VAULTUSE-16] a grant for one place is none for ${what}`, async () => {
      await sign();
      answer = 'declined';
      await assert.rejects(sign(more), { code: 'permission-needed' });
      assert.equal(reviewed.length, 2);
      // The control: for the place itself it still holds.
      await sign();
    });

  it('[VAULTUSE-16] asks nobody where nobody may be asked, and signs under a grant', async () => {
    await assert.rejects(sign({ mayAsk: false }), { code: 'permission-needed' });
    assert.deepEqual([reviewed, vault.grants()], [[], []]);
    await sign();
    await sign({ mayAsk: false });
    assert.equal(reviewed.length, 1);
  });

  it('[VAULTUSE-16] a grant ends with its revocation, and with a next version of the item', async () => {
    await sign();
    const [grant] = vault.grants();
    assert.ok(grant);
    await vault.revoke(grant.id);
    await assert.rejects(sign({ mayAsk: false }), { code: 'permission-needed' });
    await sign();
    const item = vault.get('key');
    assert.ok(item);
    await vault.save({ ...item, baseVersion: item.version, title: 'Renamed' });
    await assert.rejects(sign({ mayAsk: false }), { code: 'permission-needed' });
  });

  it('[VAULTUSE-16] signs nothing for a connection that was given up while it asked', async () => {
    const abort = new AbortController();
    abort.abort();
    await assert.rejects(sign({}, undefined, abort.signal), { code: 'cancelled' });
    assert.deepEqual(vault.uses(), []);
  });

  it('[VAULTUSE-16] a key that was saved for some hosts is offered to and signs for no other', async () => {
    await make('elsewhere', ['other.example.org']);
    await make('here', ['lab.example.org:22']);
    assert.deepEqual((await desk.keys(at)).map(({ title }) => title).sort(), ['HERE', 'KEY']);
    const other = await desk.keys({ ...at, host: 'other.example.org' });
    assert.deepEqual(other.map(({ title }) => title).sort(), ['ELSEWHERE', 'KEY']);
    assert.equal((await desk.keys({ ...at, host: 'LAB.Example.org' })).length, 2);
    assert.ok(!(await desk.keys({ ...at, port: 2222 })).some(({ title }) => title === 'HERE'));
    const key = (await keyOf('elsewhere')).toString('base64');
    const data = signInBytes(await keyOf('elsewhere')).toString('base64');
    const asked = { ...at, mayAsk: true, publicKey: key, data };
    await assert.rejects(desk.sign(asked, running), { code: 'permission-needed', message: /no open vault/ });
    await desk.sign({ ...asked, host: 'other.example.org' }, running);
  });

  it('[VAULTUSE-16] offers public halves of Ed25519 key pairs alone, few, granted ones first', async () => {
    await sign();
    for (const id of ['a', 'b', 'c', 'd', 'e']) await make(id);
    using secret = Secret.fromText('ssh-rsa AAAA');
    await vault.save({
      id: 'rsa',
      baseVersion: 0,
      title: 'RSA',
      kind: 'keyPair',
      fields: [
        { name: 'private-key', kind: 'privateKey', value: secret },
        { name: 'public-key', kind: 'publicKey', value: secret },
      ],
      hosts: [],
      tags: [],
      expiresAt: null,
    });
    const keys = await desk.keys(at);
    assert.deepEqual(
      keys.map(({ title, isGranted }) => [title, isGranted]),
      [
        ['KEY', true],
        ['A', false],
        ['B', false],
        ['C', false],
      ],
    );
    assert.ok(keys.every(({ publicKey }) => Buffer.from(publicKey, 'base64').length === 51));
    for (const place of ['local', 'worker:w', 'ssh', ''])
      await assert.rejects(desk.keys({ ...at, place }), { code: 'bad-message' });
  });

  it('[VAULTUSE-16] gives out no signature that the public key does not verify', async () => {
    using line = await vault.open('key', 'public-key');
    await make('second');
    using pem = await vault.open('second', 'private-key');
    const item = vault.get('key');
    assert.ok(item);
    await vault.save({
      ...item,
      baseVersion: item.version,
      fields: [
        { name: 'private-key', kind: 'privateKey', value: pem },
        { name: 'public-key', kind: 'publicKey', value: line },
      ],
    });
    await assert.rejects(sign(), { code: 'permission-needed', message: /do not belong together/ });
  });

  const changes: readonly [string, Partial<SignInParts>][] = [
    ['another message', { message: 51 }],
    ['another service', { service: 'ssh-userauth' }],
    ['another method', { method: 'hostbased' }],
    ['a question whether the key would do', { isSigned: 0 }],
    ['a truth that is not spelt 1', { isSigned: 255 }],
    ['another algorithm', { algorithm: 'rsa-sha2-256' }],
    ['a certificate', { algorithm: 'ssh-ed25519-cert-v01@openssh.com' }],
    ['bytes after the end', { rest: Buffer.of(0) }],
    ['no session', { session: Buffer.alloc(0) }],
    ['a session of a length that no exchange makes', { session: Buffer.alloc(33) }],
    ['no user', { user: '' }],
    ['a user without an end', { user: 'u'.repeat(257) }],
    ['a key that is none', { publicKey: Buffer.alloc(51) }],
  ];
  for (const [what, change] of changes)
    it(`[VAULTUSE-16] signs no ${what}`, async () => {
      const data = signInBytes(await keyOf(), change);
      await sign();
      const before = vault.uses().length;
      await assert.rejects(sign({}, data), { code: 'bad-message' });
      assert.equal(vault.uses().length, before);
    });

  it('[VAULTUSE-16] signs no request for another key, no signed file and no free text', async () => {
    const second = (await make('second'), await keyOf('second'));
    const file = Buffer.concat([
      Buffer.from('SSHSIG'),
      sshString('git'),
      sshString(''),
      sshString('sha512'),
      sshString(Buffer.alloc(64)),
    ]);
    for (const data of [signInBytes(second), file, Buffer.from('pay'), Buffer.alloc(0)])
      await assert.rejects(sign({}, data), { code: 'bad-message' });
    assert.deepEqual(reviewed, []);
    // The control: the vault itself signs what it is given, a file as well.
    assert.ok(isGood(await keyOf(), file, await vault.sign('key', file)));
  });

  it('[VAULTUSE-16] reads nothing else as a request, whatever is cut or changed', async () => {
    const key = await keyOf();
    const bytes = signInBytes(key);
    for (let end = 0; end < bytes.length; end++) assert.equal(parseSignIn(bytes.subarray(0, end)), undefined);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (place, change) => {
        const other = Buffer.from(bytes);
        other[place] = (other[place] ?? 0) ^ change;
        const parsed = parseSignIn(other);
        // Only what is free to be anything may differ: session, user and the key itself.
        if (!parsed) return;
        assert.deepEqual(
          signInBytes(parsed.publicKey, { session: other.subarray(4, 36), user: parsed.user }),
          other,
        );
      }),
    );
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (any) => parseSignIn(any) === undefined));
  });
});
