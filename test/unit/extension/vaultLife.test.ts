import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../../../extension/src/vault/core/secret.ts';
import { VaultError } from '../../../extension/src/vault/core/vaultState.ts';
import { AgentsLife, type KeptMarker } from '../../../extension/src/vault/life/agentsLife.ts';
import { PersonalLife } from '../../../extension/src/vault/life/personalLife.ts';
import { VaultSecrets } from '../../../extension/src/vault/life/vaultSecrets.ts';
import { MemorySecrets } from '../../support/memorySecrets.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

/** All of a folder as one digest: what must not have been touched has the same one. */
function digestOf(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).sort()) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest('hex');
}

describe('The agents’ vault in a window', () => {
  const folder = useTemporaryFolder();
  let storage: MemorySecrets;
  let kept: ReturnType<KeptMarker['get']>;
  const errors: unknown[] = [];

  /** A window: it knows nothing that is not on the disk or in the secret storage. */
  function window(secrets = storage): AgentsLife {
    const vaultSecrets = new VaultSecrets(secrets, 50);
    return new AgentsLife({
      place: { folder: join(folder(), 'agents'), counters: vaultSecrets },
      secrets: vaultSecrets,
      marker: {
        get: () => kept,
        set: async (value) => void (kept = value),
      },
      onError: (error) => errors.push(error),
    });
  }

  async function withItem(): Promise<string> {
    const first = window();
    const { recoveryKey } = await first.create();
    const vault = await first.open();
    assert.ok(vault);
    using value = Secret.fromText('a value of the vault');
    await vault.save({
      id: 'db',
      baseVersion: 0,
      title: 'Database',
      kind: 'token',
      fields: [{ name: 'value', kind: 'secret', value }],
      hosts: [],
      tags: [],
      expiresAt: null,
    });
    first.dispose();
    return recoveryKey;
  }

  beforeEach(() => {
    storage = new MemorySecrets();
    kept = 'none';
    errors.length = 0;
  });

  it('[VAULTUI-03] is opened by another window without a person, and nothing but its key and counter is stored', async () => {
    await withItem();
    const other = window();
    assert.equal((await other.open())?.list().length, 1);
    other.dispose();
    assert.equal(Buffer.from(storage.kept.get('sallyport.vault.deviceKey') ?? '', 'base64').length, 32);
    assert.equal(storage.kept.size, 2);
    assert.doesNotMatch([...storage.kept.values()].join(' '), /a value of the vault/);
  });

  const lost: [string, (storage: MemorySecrets) => void, string][] = [
    ['is gone', ({ kept: all }) => void all.delete('sallyport.vault.deviceKey'), 'device-key-lost'],
    [
      'is another one',
      ({ kept: all }) => void all.set('sallyport.vault.deviceKey', Buffer.alloc(32, 7).toString('base64')),
      'device-key-lost',
    ],
    [
      'is no key',
      ({ kept: all }) => void all.set('sallyport.vault.deviceKey', 'nonsense'),
      'device-key-lost',
    ],
    ['can’t be read: the storage throws', (all) => void (all.mood = 'throws'), 'keyring-silent'],
    ['can’t be read: the storage is silent', (all) => void (all.mood = 'silent'), 'keyring-silent'],
  ];
  for (const [what, lose, state] of lost) {
    it(`[VAULTUI-03] says so where the device key ${what}, touches nothing, and the recovery key is the way out`, async () => {
      const recoveryKey = await withItem();
      kept = 'found-again';
      const before = digestOf(join(folder(), 'agents'));
      lose(storage);
      const later = window();
      assert.equal(await later.open(), undefined);
      assert.equal(later.status.state, state);
      await assert.rejects(later.create(), (error) => error instanceof VaultError && error.code === 'exists');
      assert.equal(digestOf(join(folder(), 'agents')), before);
      storage.mood = 'fine';
      if (state === 'keyring-silent') {
        await later.retry();
        assert.equal(later.status.state, 'open');
      } else {
        assert.equal(await later.recover(recoveryKey), 'open');
        assert.equal((await later.open())?.list()[0]?.title, 'Database');
        const next = window();
        assert.ok(await next.open(), 'the fresh device key was stored');
        next.dispose();
      }
      later.dispose();
    });
  }

  it('[VAULTUI-03] a wrong recovery key replaces no device key', async () => {
    await withItem();
    const key = storage.kept.get('sallyport.vault.deviceKey');
    const window2 = window();
    assert.equal(await window2.recover('SP1-ABCDEF-ABCDE-ABCDE-ABCDE-ABCDE-ABCDE-ABCDE'), 'wrong-secret-key');
    assert.equal(storage.kept.get('sallyport.vault.deviceKey'), key);
    window2.dispose();
  });

  it('[VAULTUI-03] tells a storage that forgets over a restart from a key that was lost', async () => {
    await withItem();
    assert.equal(kept, 'stored');
    const restarted = window(new MemorySecrets());
    assert.equal(await restarted.open(), undefined);
    assert.equal(restarted.status.state, 'not-kept');
    restarted.dispose();
    const again = window();
    await again.open();
    assert.equal(kept, 'found-again');
    again.dispose();
    const otherBrowser = window(new MemorySecrets());
    await otherBrowser.open();
    assert.equal(otherBrowser.status.state, 'device-key-lost');
    otherBrowser.dispose();
  });

  it('[VAULTUI-03] creates the vault also where the storage keeps nothing, and says that it does not', async () => {
    storage.mood = 'forgetful';
    const life = window();
    const { isKept, recoveryKey } = await life.create();
    assert.equal(isKept, false);
    assert.match(recoveryKey, /^SP1-/);
    assert.ok(await life.open());
    life.dispose();
  });

  it('[VAULTUI-03] notices a whole older file, and opens it when a person says so', async () => {
    await withItem();
    const agents = join(folder(), 'agents');
    cpSync(agents, join(folder(), 'old'), { recursive: true });
    const writer = window();
    await (
      await writer.open()
    )?.note([{ grant: '', principal: 'person', item: 'db', field: 'value', host: '' }]);
    writer.dispose();
    rmSync(agents, { recursive: true });
    cpSync(join(folder(), 'old'), agents, { recursive: true });
    const later = window();
    assert.equal(await later.open(), undefined);
    assert.equal(later.status.state, 'rolled-back');
    await later.retry({ openOlder: true });
    assert.equal(later.status.state, 'open');
    later.dispose();
  });

  it('[VAULTUI-03] shows an altered file as altered and uses nothing of it', async () => {
    await withItem();
    const path = join(folder(), 'agents/vault.json');
    const bytes = readFileSync(path);
    bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    const later = window();
    assert.equal(await later.open(), undefined);
    assert.ok(['tampered', 'unreadable'].includes(later.status.state), later.status.state);
    later.dispose();
  });

  it('is locked by a person until a person opens it again', async () => {
    await withItem();
    const life = window();
    const vault = await life.open();
    life.lock();
    assert.equal(vault?.isLocked, true);
    assert.equal(await life.open(), undefined);
    assert.equal(life.status.state, 'locked');
    await life.retry();
    assert.ok(await life.open());
    life.dispose();
  });
});

describe('The personal vault in a window', () => {
  const folder = useTemporaryFolder();
  let now = 0;
  let tick: (() => void) | undefined;
  let life: PersonalLife;
  let minutes = 10;

  beforeEach(async () => {
    now = Date.now();
    minutes = 10;
    tick = undefined;
    life = new PersonalLife({
      place: { folder: join(folder(), 'personal'), counters: null, now: () => now },
      lockAfterMinutes: () => minutes,
      now: () => now,
      every: (_ms, each) => {
        tick = each;
        return { dispose: () => (tick = undefined) };
      },
      onError: (error) => assert.fail(String(error)),
    });
    using password = Secret.fromText('correct horse battery');
    await life.create(password);
  });
  afterEach(() => life.dispose());

  /** Time in steps, as the clock of an open vault sees it. */
  function pass(seconds: number): void {
    for (let left = seconds; left > 0; left -= 15) {
      now += 15_000;
      tick?.();
    }
  }

  it('[VAULTUI-04] locks itself when it is not used, and its clock stops', () => {
    pass(9 * 60);
    assert.equal(life.status.state, 'open');
    life.use();
    pass(9 * 60);
    assert.equal(life.status.state, 'open');
    const { vault } = life;
    pass(2 * 60);
    assert.equal(life.status.state, 'locked');
    assert.equal(vault?.isLocked, true);
    assert.equal(tick, undefined);
  });

  it('[VAULTUI-04] is kept open by no card: only a person’s own act counts as use', () => {
    for (let at = 0; at < 11; at++) {
      pass(60);
      assert.ok(at > 8 || life.vault);
    }
    assert.equal(life.status.state, 'locked');
  });

  it('[VAULTUI-04] locks itself when the machine slept, and when the clock was turned back', () => {
    now += 10 * 60_000;
    minutes = 480;
    tick?.();
    assert.equal(life.status.state, 'locked');
  });

  it('[VAULTUI-04] opens again with password and Secret Key alone, and a wrong one says how long to wait', async () => {
    life.lock();
    assert.equal(life.use(), undefined);
    using wrong = Secret.fromText('incorrect horse battery');
    const result = await life.unlock({
      password: wrong,
      secretKey: 'SP1-ABCDEF-ABCDE-ABCDE-ABCDE-ABCDE-ABCDE-ABCDE',
    });
    assert.equal(result.state, 'wrong-secret-key');
    assert.equal(life.status.state, 'locked');
  });
});
