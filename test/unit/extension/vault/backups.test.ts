import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBackup, restoreObjection, type Backup } from '../../../../extension/src/vault/core/backups.ts';
import {
  createPersonalVault,
  openPersonalVault,
} from '../../../../extension/src/vault/core/personalVault.ts';
import { restoreBackup } from '../../../../extension/src/vault/core/restoreBackup.ts';
import { Secret } from '../../../../extension/src/vault/core/secret.ts';
import { nodeFiles } from '../../../../extension/src/vault/core/vaultFiles.ts';
import { loginDraft, quickDerivation, read, VaultHarness } from '../../../support/vaultHarness.ts';

const tools = { files: nodeFiles, derive: quickDerivation };
const passphrase = Secret.fromText('four words of some length');

describe('vault backups', () => {
  let harness: VaultHarness;
  let path: string;
  beforeEach(() => {
    harness = new VaultHarness();
    path = join(harness.root, 'one.backup');
  });
  afterEach(() => harness.close());

  async function vaultWithBackup() {
    const vault = await harness.create();
    await vault.save(loginDraft('one', 'first'));
    await vault.save(loginDraft('one', 'second', 1));
    await vault.save(loginDraft('two', 'other'));
    await vault.exportBackup(path, passphrase);
    return vault;
  }

  async function opened(): Promise<Backup> {
    const result = await openBackup(path, passphrase, tools);
    if (result.state !== 'open') throw new Error(JSON.stringify(result));
    return result.backup;
  }

  it('[SEAL-13] hold the whole vault for one machine to give and another to take', async () => {
    const vault = await vaultWithBackup();
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const backup = await opened();
    assert.deepEqual(
      [backup.kind, backup.vaultId, backup.counter, backup.madeAt, backup.list().length],
      ['agents', vault.id, 4, harness.now, 2],
    );
    const deviceKey = Secret.own(randomBytes(32));
    const elsewhere = harness.place('elsewhere', { counters: null });
    const result = await restoreBackup(
      backup,
      elsewhere,
      { kind: 'agents', deviceKey },
      { isConfirmed: false },
    );
    backup.close();
    assert.ok(result.state === 'restored');
    assert.equal(await read(result.vault, 'one'), 'second');
    assert.equal(await read(result.vault, 'one', 'password', 1), 'first');
    assert.equal(result.vault.id, vault.id);
    assert.match(result.secretKey, /^SP1-/);
    await result.vault.save(loginDraft('three', 'more'));
  });

  it('[SEAL-13] the passphrase opens it, and nothing else does; nothing in it is readable', async () => {
    await vaultWithBackup();
    assert.deepEqual(await openBackup(path, Secret.fromText('another passphrase'), tools), {
      state: 'wrong-passphrase',
    });
    assert.deepEqual(await openBackup(path, Secret.fromText(''), tools), { state: 'wrong-passphrase' });
    assert.deepEqual(await openBackup(`${path}x`, passphrase, tools), { state: 'absent' });
    const bytes = readFileSync(path);
    for (const text of ['second', 'Item one', 'api.example']) assert.ok(!bytes.includes(text));
  });

  it('[SEAL-13] a short passphrase and a path that is taken are refused, and nothing is left', async () => {
    const vault = await vaultWithBackup();
    const before = readFileSync(path);
    await assert.rejects(vault.exportBackup(path, passphrase), { code: 'exists' });
    assert.deepEqual(readFileSync(path), before);
    await assert.rejects(vault.exportBackup(`${path}2`, Secret.fromText('eleven char')), {
      code: 'weak-password',
    });
    assert.ok(!readdirSync(harness.root).includes('one.backup2'));
  });

  it('[SEAL-13] a stale one asks first; confirmed, it takes the place, and what was there is kept aside', async () => {
    const vault = await vaultWithBackup();
    await vault.save(loginDraft('one', 'third', 2));
    const backup = await opened();
    const key = { kind: 'agents', deviceKey: harness.deviceKey } as const;
    const before = harness.contents();
    assert.deepEqual(await restoreBackup(backup, harness.place(), key, { isConfirmed: false }), {
      state: 'stale',
    });
    assert.deepEqual(harness.contents(), before);
    const result = await restoreBackup(backup, harness.place(), key, { isConfirmed: true });
    backup.close();
    assert.ok(result.state === 'restored');
    assert.equal(await read(result.vault, 'one'), 'second');
    result.vault.lock();
    // The restored one is what counts from now on.
    assert.deepEqual(await harness.state(), { state: 'open' });
    const aside = readdirSync(join(harness.root, 'vault')).find((name) => name.startsWith('replaced-')) ?? '';
    assert.match(aside, /^replaced-5-/);
    const former = await harness.open(join('vault', aside), { counters: null });
    assert.equal(await read(former, 'one'), 'third');
    // The window that had it open is locked.
    await assert.rejects(vault.open('one', 'password'), { code: 'locked' });
  });

  it('[SEAL-13] V29 a foreign one asks first; the other kind is never taken', async () => {
    await vaultWithBackup();
    await harness.create('another');
    const backup = await opened();
    const key = { kind: 'agents', deviceKey: harness.deviceKey } as const;
    assert.deepEqual(await restoreBackup(backup, harness.place('another'), key, { isConfirmed: false }), {
      state: 'foreign',
    });
    const personal = { kind: 'personal', password: Secret.fromText('a good password') } as const;
    assert.deepEqual(await restoreBackup(backup, harness.place('new'), personal, { isConfirmed: true }), {
      state: 'other-kind',
    });
    backup.close();
  });

  it('[SEAL-13] one made just now takes the place of a damaged vault, which is kept aside', async () => {
    await vaultWithBackup();
    writeFileSync(join(harness.root, 'vault', 'vault.json'), 'damaged');
    const backup = await opened();
    const key = { kind: 'agents', deviceKey: harness.deviceKey } as const;
    assert.deepEqual(await restoreBackup(backup, harness.place(), key, { isConfirmed: false }), {
      state: 'foreign',
    });
    const result = await restoreBackup(backup, harness.place(), key, { isConfirmed: true });
    backup.close();
    assert.ok(result.state === 'restored');
    const aside = readdirSync(join(harness.root, 'vault')).find((name) => name.startsWith('replaced-')) ?? '';
    assert.equal(readFileSync(join(harness.root, 'vault', aside, 'vault.json'), 'utf8'), 'damaged');
  });

  it('[SEAL-13] of the personal vault is restored with a fresh Secret Key', async () => {
    const password = Secret.fromText('a good password');
    const { vault, secretKey } = await createPersonalVault(harness.place('personal'), password);
    await vault.save(loginDraft('one', 'x'));
    await vault.exportBackup(path, passphrase);
    const backup = await opened();
    const place = harness.place('restored', { counters: null });
    const next = Secret.fromText('the next password');
    const result = await restoreBackup(
      backup,
      place,
      { kind: 'personal', password: next },
      { isConfirmed: false },
    );
    backup.close();
    assert.ok(result.state === 'restored');
    assert.notEqual(result.secretKey, secretKey);
    const found = await openPersonalVault(place, { password: next, secretKey: result.secretKey });
    assert.ok(found.state === 'open');
    assert.equal(await read(found.vault, 'one'), 'x');
  });

  it('[SEAL-13] the bytes that are changed or cut anywhere are refused, never half restored', async () => {
    await vaultWithBackup();
    const whole = readFileSync(path);
    const states = new Set<string>();
    for (let at = 0; at < whole.length; at += 37) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(path, changed);
      const result = await openBackup(path, passphrase, tools);
      assert.notEqual(result.state, 'open', `byte ${at}`);
      states.add(result.state);
      writeFileSync(path, whole.subarray(0, at));
      assert.notEqual((await openBackup(path, passphrase, tools)).state, 'open', `cut at ${at}`);
    }
    assert.ok(states.has('tampered'));
    writeFileSync(path, whole);
    (await opened()).close();
    writeFileSync(path, Buffer.concat([whole, Buffer.from('rest')]));
    (await opened()).close();
  });

  it('[SEAL-13] objections', () => {
    const backup = { vaultId: 'a', counter: 5 };
    assert.equal(restoreObjection(backup, undefined), undefined);
    assert.equal(restoreObjection(backup, { id: 'a', counter: 5 }), undefined);
    assert.equal(restoreObjection(backup, { id: 'a', counter: 6 }), 'stale');
    assert.equal(restoreObjection(backup, { id: 'b', counter: 1 }), 'foreign');
  });
});
