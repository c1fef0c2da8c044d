import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createAgentsVault,
  openAgentsVault,
  recoverAgentsVault,
} from '../../../../extension/src/vault/core/agentsVault.ts';
import {
  hasSlept,
  isLockDue,
  lockDeadline,
  longestOpenMs,
} from '../../../../extension/src/vault/core/autoLock.ts';
import { delayMs, noAttempts, parseAttempts, waitMs } from '../../../../extension/src/vault/core/backOff.ts';
import { derivePasswordKey, passwordOf } from '../../../../extension/src/vault/core/passwordKey.ts';
import {
  createPersonalVault,
  openPersonalVault,
} from '../../../../extension/src/vault/core/personalVault.ts';
import { Randomness } from '../../../../extension/src/vault/core/randomness.ts';
import { Secret } from '../../../../extension/src/vault/core/secret.ts';
import {
  createSecretKey,
  parseSecretKey,
  secretKeyKit,
} from '../../../../extension/src/vault/core/secretKey.ts';
import { loginDraft, read, VaultHarness } from '../../../support/vaultHarness.ts';

describe('vault keys', () => {
  let harness: VaultHarness;
  beforeEach(() => (harness = new VaultHarness()));
  afterEach(() => harness.close());

  describe('of the agents’ vault', () => {
    it('[SEAL-08] S01 a lost device key: the recovery key opens it, and the lost one nothing any more', async () => {
      const { vault, recoveryKey } = await createAgentsVault(harness.place(), harness.deviceKey);
      await vault.save(loginDraft('one', 'x'));
      harness.copy('vault', 'stolen');
      const fresh = Secret.own(randomBytes(32));
      assert.deepEqual(await openAgentsVault(harness.place(), fresh), { state: 'device-key-lost' });
      const found = await recoverAgentsVault(harness.place(), recoveryKey.toLowerCase(), fresh);
      assert.ok(found.state === 'open');
      assert.equal(await read(found.vault, 'one'), 'x');
      assert.deepEqual(await openAgentsVault(harness.place(), harness.deviceKey), {
        state: 'device-key-lost',
      });
      assert.equal((await openAgentsVault(harness.place(), fresh)).state, 'open');
      // The recovery key is still the one on paper.
      assert.equal((await recoverAgentsVault(harness.place(), recoveryKey, fresh)).state, 'open');
      // A window that had it open is locked, not confused.
      await assert.rejects(vault.open('one', 'password'), { code: 'locked' });
      assert.ok(vault.isLocked);
    });

    it('[SEAL-08] another recovery key, or none, opens nothing and changes nothing', async () => {
      const { vault } = await createAgentsVault(harness.place(), harness.deviceKey);
      vault.lock();
      const before = harness.contents();
      for (const text of ['', 'SP1', createSecretKey(new Randomness())])
        assert.deepEqual(await recoverAgentsVault(harness.place(), text, harness.deviceKey), {
          state: 'wrong-secret-key',
        });
      assert.deepEqual(harness.contents(), before);
    });

    it('[SEAL-08] a recovery key that was renewed is over', async () => {
      const { vault, recoveryKey } = await createAgentsVault(harness.place(), harness.deviceKey);
      const renewed = await vault.renewKeys(harness.deviceKey);
      assert.deepEqual(await recoverAgentsVault(harness.place(), recoveryKey, harness.deviceKey), {
        state: 'wrong-secret-key',
      });
      assert.equal(
        (await recoverAgentsVault(harness.place(), renewed.recoveryKey, harness.deviceKey)).state,
        'open',
      );
    });
  });

  describe('of the personal vault', () => {
    const password = () => Secret.fromText('a good password');
    const open = (secretKey: string, text = 'a good password') =>
      openPersonalVault(harness.place('personal'), { password: Secret.fromText(text), secretKey });

    it('[SEAL-09] V19 both are needed: neither password nor Secret Key alone opens it, nor a device key', async () => {
      const { vault, secretKey } = await createPersonalVault(harness.place('personal'), password());
      await vault.save(loginDraft('one', 'x'));
      vault.lock();
      assert.deepEqual(await open(createSecretKey(new Randomness())), { state: 'wrong-secret-key' });
      assert.deepEqual(await open(''), { state: 'wrong-secret-key' });
      assert.deepEqual(await open(secretKey, 'another password'), { state: 'wrong-password', waitMs: 0 });
      // S08: whoever reads the secret storage opens the agents' vault at most.
      assert.deepEqual(await openAgentsVault(harness.place('personal'), harness.deviceKey), {
        state: 'other-vault',
      });
      const found = await open(secretKey);
      assert.ok(found.state === 'open');
      assert.equal(await read(found.vault, 'one'), 'x');
    });

    it('[SEAL-09] with scrypt at its full cost', async () => {
      const place = harness.place('real', { derive: derivePasswordKey });
      const { secretKey } = await createPersonalVault(place, password());
      assert.equal((await openPersonalVault(place, { password: password(), secretKey })).state, 'open');
      const wrong = { password: Secret.fromText('wrong'), secretKey };
      assert.equal((await openPersonalVault(place, wrong)).state, 'wrong-password');
      const empty = { password: Secret.fromText(''), secretKey };
      assert.equal((await openPersonalVault(place, empty)).state, 'wrong-password');
    });

    it('[SEAL-09] V18 wrong passwords cost a wait that grows and survives a restart; the right one opens after it', async () => {
      const { vault, secretKey } = await createPersonalVault(harness.place('personal'), password());
      vault.lock();
      for (const waits of [0, 0, 1000])
        assert.deepEqual(await open(secretKey, 'wrong'), { state: 'wrong-password', waitMs: waits });
      // Even the right one waits.
      assert.deepEqual(await open(secretKey), { state: 'wait', waitMs: 1000 });
      harness.now += 999;
      assert.deepEqual(await open(secretKey), { state: 'wait', waitMs: 1 });
      harness.now += 1;
      assert.deepEqual(await open(secretKey, 'wrong'), { state: 'wrong-password', waitMs: 2000 });
      harness.now -= 24 * 3600 * 1000;
      assert.deepEqual(await open(secretKey), { state: 'wait', waitMs: 2000 });
      harness.now += 24 * 3600 * 1000 + 2000;
      assert.equal((await open(secretKey)).state, 'open');
      assert.deepEqual(await open(secretKey, 'wrong'), { state: 'wrong-password', waitMs: 0 });
    });

    it('[SEAL-09] a try is counted before it is made, so that ending the process gives none for nothing', async () => {
      const { secretKey } = await createPersonalVault(harness.place('personal'), password());
      const ended = harness.place('personal', {
        derive: () => Promise.reject(new Error('the process ended')),
      });
      for (let round = 0; round < 3; round++)
        await openPersonalVault(ended, { password: password(), secretKey }).catch(() => undefined);
      assert.deepEqual(await open(secretKey), { state: 'wait', waitMs: 1000 });
    });

    it('[SEAL-09] a spoiled count is no fresh start', async () => {
      const { secretKey } = await createPersonalVault(harness.place('personal'), password());
      writeFileSync(join(harness.root, 'personal', 'attempts.json'), 'nonsense');
      const found = await open(secretKey);
      assert.ok(found.state === 'wait' && found.waitMs > 60_000);
    });

    it('[SEAL-09] a changed password: the former opens nothing, former files nothing of today, other windows lock', async () => {
      const { vault, secretKey } = await createPersonalVault(harness.place('personal'), password());
      await vault.save(loginDraft('one', 'x'));
      const opened = await open(secretKey);
      assert.ok(opened.state === 'open');
      const keys = { password: password(), secretKey };
      const next = Secret.fromText('the next password');
      await assert.rejects(vault.changePassword({ ...keys, password: Secret.fromText('wrong') }, next), {
        code: 'wrong-password',
      });
      await assert.rejects(vault.changePassword(keys, Secret.fromText('short')), { code: 'weak-password' });
      const before = readFileSync(join(harness.root, 'personal', 'vault.json'));
      assert.equal((await vault.changePassword(keys, next)).secretKey, secretKey);
      assert.equal(await read(vault, 'one'), 'x');
      await assert.rejects(opened.vault.open('one', 'password'), { code: 'locked' });
      assert.equal((await open(secretKey)).state, 'wrong-password');
      assert.equal((await open(secretKey, 'the next password')).state, 'open');
      writeFileSync(join(harness.root, 'personal', 'vault.json'), before);
      assert.notEqual((await open(secretKey)).state, 'open');
    });

    it('[SEAL-13] V29 a stale Secret Key is told from a wrong password', async () => {
      const { vault, secretKey } = await createPersonalVault(harness.place('personal'), password());
      const renewed = await vault.changePassword({ password: password(), secretKey }, password(), {
        renewSecretKey: true,
      });
      assert.notEqual(renewed.secretKey, secretKey);
      assert.deepEqual(await open(secretKey), { state: 'wrong-secret-key' });
      assert.equal((await open(renewed.secretKey)).state, 'open');
    });

    it('[SEAL-09] a short password is refused, and one typed on another keyboard is the same', async () => {
      await assert.rejects(createPersonalVault(harness.place('personal'), Secret.fromText('1234567')), {
        code: 'weak-password',
      });
      const composed = passwordOf('pa\u00DFwo\u0308rter');
      assert.equal(
        composed.use((bytes) => bytes.toString()),
        passwordOf('pa\u00DFw\u00F6rter').use((bytes) => bytes.toString()),
      );
    });
  });

  describe('on paper', () => {
    it('[SEAL-09] a Secret Key is read in any spelling, and a slip is noticed', () => {
      const text = createSecretKey(new Randomness());
      assert.match(text, /^SP1-[2-9A-HJ-NP-TV-Z]{6}(-[2-9A-HJ-NP-TV-Z]{5}){6}$/);
      const read = (spelling: string) => parseSecretKey(spelling)?.secret.use((bytes) => bytes.toString());
      assert.equal(read(text)?.length, 26);
      for (const spelling of [
        text.toLowerCase(),
        text.replaceAll('-', ' '),
        text.replaceAll('-', '–'),
        ` ${text}\n`,
      ])
        assert.equal(read(spelling), read(text));
      let missed = 0;
      for (let at = 4; at < text.length; at++) {
        if (text[at] === '-') continue;
        for (const other of '23456789ABCDEFGHJKLMNPQRSTVWXYZ')
          if (other !== text[at] && read(text.slice(0, at) + other + text.slice(at + 1)) !== undefined)
            missed++;
      }
      // Four characters of check: one slip in a million.
      assert.ok(missed <= 2, `${missed}`);
      assert.equal(read(text.slice(0, -1)), undefined);
    });

    it('[SEAL-09] Secret Keys use the whole alphabet evenly', () => {
      const counts = new Map<string, number>();
      const random = new Randomness();
      for (let round = 0; round < 2000; round++)
        for (const character of createSecretKey(random).slice(4).replaceAll('-', '').slice(0, 32).split(''))
          counts.set(character, (counts.get(character) ?? 0) + 1);
      const expected = (2000 * 32) / 31;
      assert.equal(counts.size, 31);
      for (const [character, count] of counts)
        assert.ok(Math.abs(count - expected) < expected / 5, `${character} ${count}`);
    });

    it('the kit says what it opens', () => {
      const words = {
        personalTitle: 'Emergency kit',
        personalBody: ['Keep it.'],
        recoveryTitle: 'Recovery kit',
        recoveryBody: ['Keep it, too.'],
        vault: 'Vault',
        made: 'Made',
        password: 'Password',
      };
      const kit = secretKeyKit({ secretKey: 'SP1-…', use: 'personal', vaultId: 'ab', at: 0, words });
      assert.match(
        kit,
        /^Emergency kit\n=+\n\n {4}SP1-…\n\nKeep it\.\n\nVault {2}ab\nMade {2}1970-01-01\n\nPassword {2}_+\n$/,
      );
      assert.ok(
        !secretKeyKit({ secretKey: 'SP1-…', use: 'recovery', vaultId: 'ab', at: 0, words }).includes('____'),
      );
    });
  });

  describe('time', () => {
    it('[SEAL-09] the wait doubles up to a quarter of an hour', () => {
      assert.deepEqual(
        [0, 2, 3, 4, 5, 12, 13, 1000].map(delayMs),
        [0, 0, 1000, 2000, 4000, 512_000, 900_000, 900_000],
      );
      assert.equal(waitMs(noAttempts, 0), 0);
      assert.equal(waitMs({ failures: 4, lastAt: 1000 }, 0), 2000);
      assert.deepEqual(parseAttempts('{"failures":3,"lastAt":7}', 0), { failures: 3, lastAt: 7 });
      for (const text of ['', '{}', 'null', '{"failures":-1,"lastAt":0}', '{"failures":1e99,"lastAt":0}'])
        assert.equal(parseAttempts(text, 5).failures, 10);
    });

    it('[SEAL-17] the lock comes with the idle time, after twelve hours at most, and with a clock that makes no sense', () => {
      const state = { idleMs: 1000, openedAt: 10_000, usedAt: 20_000 };
      assert.equal(lockDeadline(state), 21_000);
      assert.equal(isLockDue(state, 20_999), false);
      assert.equal(isLockDue(state, 21_000), true);
      assert.equal(isLockDue(state, 9_999), true);
      assert.equal(lockDeadline({ ...state, usedAt: 10_000 + longestOpenMs }), 10_000 + longestOpenMs);
      assert.equal(isLockDue({ ...state, idleMs: null }, 0), false);
      assert.equal(hasSlept(0, 10_000, 10_000), false);
      assert.equal(hasSlept(0, 60_000, 10_000), true);
      assert.equal(hasSlept(60_000, 0, 10_000), true);
    });
  });
});
