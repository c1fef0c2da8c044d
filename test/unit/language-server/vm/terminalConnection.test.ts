import assert from 'node:assert/strict';
import { verify, createPublicKey } from 'node:crypto';
import {
  createSessionKey,
  onlyHostKey,
} from '../../../../language-server/src/runners/vm/terminalConnection.ts';
import type { SshTarget } from '../../../../language-server/src/runners/ssh/sshConfig.ts';
import { unattended } from '../../../../language-server/src/runners/ssh/sshPerson.ts';

const target = {} as SshTarget;
const person = unattended({
  vaultKeys: () => Promise.resolve([]),
  confirmHostKey: () => Promise.resolve(true),
  showChangedHostKey: () => Promise.resolve(),
  askSecret: () => Promise.resolve(null),
});

describe('the keys of a terminal', () => {
  it('[VM-23] trusts the bytes of one host key and of no other', async () => {
    const { raw, signer } = createSessionKey();
    const policy = onlyHostKey(raw);
    assert.deepEqual(policy.algorithms(target), ['ssh-ed25519']);
    assert.equal(await policy.check(target, signer.publicKey, person), undefined);
    const wire = signer.publicKey;
    for (let at = 0; at < wire.length; at += 1) {
      const other = Buffer.from(wire);
      other[at] = (other[at] ?? 0) ^ 1;
      assert.equal((await policy.check(target, other, person))?.code, 'host-key');
    }
    for (const other of [Buffer.alloc(0), raw, wire.subarray(1), Buffer.concat([wire, Buffer.of(0)])])
      assert.equal((await policy.check(target, other, person))?.code, 'host-key');
  });

  it('makes another key for each connection, which signs', async () => {
    const [one, two] = [createSessionKey(), createSessionKey()];
    assert.notDeepEqual(one.raw, two.raw);
    const data = Buffer.from('data');
    const key = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: one.raw.toString('base64url') },
      format: 'jwk',
    });
    assert.equal(verify(null, data, key, await one.signer.sign(data, undefined)), true);
  });
});
