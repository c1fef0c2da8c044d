import assert from 'node:assert/strict';
import { WorkerIdentity } from '../../../../extension/src/places/workerIdentity.ts';
import { MemorySecrets } from '../../../support/memorySecrets.ts';

describe('the identity of this computer', () => {
  it('is one, also of two windows that make one at once', async () => {
    const secrets = new MemorySecrets();
    const windows = [new WorkerIdentity(secrets), new WorkerIdentity(secrets)];
    await Promise.all(windows.map((each) => each.publicKey()));
    const keys = await Promise.all([...windows, new WorkerIdentity(secrets)].map((each) => each.publicKey()));
    assert.equal(new Set(keys).size, 1);
  });

  it('stays one for a window whose storage keeps nothing', async () => {
    const secrets = new MemorySecrets();
    secrets.mood = 'forgetful';
    const identity = new WorkerIdentity(secrets);
    assert.equal(await identity.publicKey(), await identity.publicKey());
  });
});
