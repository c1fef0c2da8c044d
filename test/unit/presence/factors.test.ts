import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DamagedFactors, FactorStore } from '../../../extension/src/presence/factorStore.ts';
import { noFactors, withCounter } from '../../../extension/src/presence/factors.ts';
import { createVerifier, isPassword } from '../../../extension/src/presence/passwordVerifier.ts';
import { tryPassword } from '../../../extension/src/presence/passwordTry.ts';
import { SoftAuthenticator } from '../../support/softAuthenticator.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

describe('The file of the factors', () => {
  const folder = useTemporaryFolder();
  const storeAt = () => new FactorStore(join(folder(), 'presence/factors.json'));

  it('is private, whole and without leftovers', async () => {
    const store = storeAt();
    assert.deepEqual(await store.read(), noFactors);
    await store.update((before) => ({ ...before, settings: { webSearch: true } }));
    assert.equal(statSync(store.path).mode & 0o777, 0o600);
    assert.equal(statSync(dirname(store.path)).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(dirname(store.path)), ['factors.json']);
    assert.deepEqual((await storeAt().read()).settings, { webSearch: true });
  });

  it('loses no change of several windows', async () => {
    const stores = Array.from({ length: 8 }, storeAt);
    await Promise.all(
      stores.flatMap((store, at) =>
        Array.from({ length: 5 }, (_, n) =>
          store.update((before) => ({ ...before, settings: { ...before.settings, [`s${at}-${n}`]: true } })),
        ),
      ),
    );
    assert.equal(Object.keys((await storeAt().read()).settings).length, 40);
  });

  const damaged: [string, string][] = [
    ['no JSON', '{"version":1'],
    ['a lower cost of the password', 'cost'],
    [
      'an unknown member',
      '{"version":1,"passkeys":[],"password":null,"failures":{"count":0,"lastAt":0},"settings":{},"x":1}',
    ],
    [
      'another version',
      '{"version":2,"passkeys":[],"password":null,"failures":{"count":0,"lastAt":0},"settings":{}}',
    ],
    [
      'a count below nothing',
      '{"version":1,"passkeys":[],"password":null,"failures":{"count":-9,"lastAt":0},"settings":{}}',
    ],
    ['too much', ' '.repeat(300_000)],
  ];
  for (const [what, text] of damaged) {
    it(`[PRES-07] proves nothing and is left as it is with ${what}`, async () => {
      const store = storeAt();
      mkdirSync(dirname(store.path), { recursive: true });
      const password = { ...(await createVerifier('long enough 1')), n: 2 };
      const content = text === 'cost' ? JSON.stringify({ ...noFactors, password }) : text;
      writeFileSync(store.path, content);
      await assert.rejects(store.read(), DamagedFactors);
      await assert.rejects(
        store.update(() => noFactors),
        DamagedFactors,
      );
      assert.equal(readFileSync(store.path, 'utf8'), content);
    });
  }

  it('[PRES-05] counts wrong passwords before they are looked at, keeps the wait over a restart, and then takes the right one', async () => {
    const password = await createVerifier('correct horse battery');
    await storeAt().update((before) => ({ ...before, password }));
    let now = 1_000_000;
    for (let at = 0; at < 3; at++) {
      assert.equal((await tryPassword('wrong horse battery', storeAt(), () => now)).kind, 'wrong');
    }
    assert.deepEqual(await tryPassword('correct horse battery', storeAt(), () => now), {
      kind: 'wait',
      waitMs: 2000,
    });
    assert.deepEqual(await tryPassword('correct horse battery', storeAt(), () => 0), {
      kind: 'wait',
      waitMs: 2000,
    });
    now += 2000;
    assert.equal((await tryPassword('correct horse battery', storeAt(), () => now)).kind, 'right');
    assert.equal((await storeAt().read()).failures.count, 0);
  });

  it('keeps no password that could be read back', async () => {
    const password = await createVerifier('Å long pässword');
    await storeAt().update((before) => ({ ...before, password }));
    assert.doesNotMatch(readFileSync(storeAt().path, 'latin1'), /ssword"?:?"?Å|long p/);
    assert.ok(await isPassword('A\u030A long pa\u0308ssword', password), 'another spelling of the same');
    assert.ok(!(await isPassword('Å long pässwort', password)));
    await assert.rejects(createVerifier('short'), RangeError);
  });

  it('[PRES-03] lets one answer count in one of two windows', () => {
    const soft = new SoftAuthenticator();
    const before = { ...noFactors, passkeys: [soft.passkey(6)] };
    const used = soft.passkey(7);
    const after = withCounter(before, used);
    assert.ok(after);
    assert.equal(withCounter(after, used), undefined);
    assert.equal(withCounter(noFactors, used), undefined, 'a passkey that was removed meanwhile');
  });
});
