import assert from 'node:assert/strict';
import { verify, createPublicKey } from 'node:crypto';
import { statSync, readFileSync, readdirSync, symlinkSync, renameSync, chmodSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { DraftProblem } from '../../../../extension/src/vault/core/itemDrafts.ts';
import { isCanonicalHost } from '../../../../extension/src/vault/core/itemDrafts.ts';
import { itemLimits, type ItemDraft } from '../../../../extension/src/vault/core/items.ts';
import { openAgentsVault } from '../../../../extension/src/vault/core/agentsVault.ts';
import { Secret } from '../../../../extension/src/vault/core/secret.ts';
import { readLog } from '../../../support/vaultBytes.ts';
import { loginDraft, read, VaultHarness } from '../../../support/vaultHarness.ts';

describe('vault items', () => {
  let harness: VaultHarness;
  beforeEach(() => (harness = new VaultHarness()));
  afterEach(() => harness.close());

  it('[SEAL-15] are saved, listed by title without values, and opened after a restart', async () => {
    const vault = await harness.create();
    await vault.save({ ...loginDraft('b', 'second'), title: 'apple' });
    await vault.save({ ...loginDraft('a', 'first'), title: 'Zebra', tags: ['work'], expiresAt: 5 });
    vault.lock();
    const again = await harness.open();
    assert.deepEqual(
      again.list().map(({ title }) => title),
      ['apple', 'Zebra'],
    );
    assert.deepEqual(again.get('a'), {
      id: 'a',
      version: 1,
      title: 'Zebra',
      kind: 'login',
      fields: [
        { name: 'user', kind: 'text' },
        { name: 'password', kind: 'secret' },
      ],
      hosts: ['api.example.org'],
      tags: ['work'],
      expiresAt: 5,
      savedAt: harness.now,
    });
    assert.equal(await read(again, 'a'), 'first');
    assert.equal(await read(again, 'b', 'user'), 'user of b');
  });

  it('[SEAL-15] keep their versions, each with its own value, and a field that an edit leaves out', async () => {
    const vault = await harness.create();
    await vault.save(loginDraft('one', 'first'));
    await vault.save(loginDraft('one', 'second', 1));
    await vault.save({
      ...loginDraft('one', 'third', 2),
      title: 'Renamed',
      fields: [
        { name: 'password', kind: 'secret' },
        { name: 'note', kind: 'lines', value: Secret.fromText('a\nb') },
      ],
    });
    assert.deepEqual(
      vault.history('one').map(({ version, title }) => [version, title]),
      [
        [3, 'Renamed'],
        [2, 'Item one'],
        [1, 'Item one'],
      ],
    );
    assert.equal(await read(vault, 'one'), 'second');
    assert.equal(await read(vault, 'one', 'password', 1), 'first');
    assert.equal(await read(vault, 'one', 'note'), 'a\nb');
    await assert.rejects(vault.open('one', 'user'), { code: 'no-such-field' });
    assert.equal(await read(vault, 'one', 'user', 1), 'user of one');
    await assert.rejects(vault.open('one', 'password', 9), { code: 'no-such-version' });
    await assert.rejects(vault.open('two', 'password'), { code: 'no-such-item' });
  });

  it('[SEAL-15] that are removed leave the file with their values; a later one of the name counts on', async () => {
    const vault = await harness.create();
    await vault.save(loginDraft('one', 'x'));
    await vault.save(loginDraft('two', 'y'));
    const folder = join(harness.root, 'vault');
    const log = () =>
      Buffer.concat(
        readdirSync(folder)
          .filter((name) => name.startsWith('rows'))
          .map((name) => readFileSync(join(folder, name))),
      );
    const [row] = readLog(folder)[0]?.rows ?? [];
    assert.ok(row && log().includes(row));
    await vault.remove('one');
    // Neither the sealed key nor a sealed value.
    assert.ok(!log().includes(row.subarray(40, 100)) && !log().includes(row.subarray(-120)));
    assert.deepEqual(
      vault.list().map(({ id }) => id),
      ['two'],
    );
    await assert.rejects(vault.remove('one'), { code: 'no-such-item' });
    assert.equal((await vault.save(loginDraft('one', 'z'))).version, 2);
    assert.equal(vault.history('one').length, 1);
  });

  it('[SEAL-15] of a whole list are saved all or none', async () => {
    const vault = await harness.create();
    await assert.rejects(vault.saveAll([loginDraft('a', 'x'), { ...loginDraft('b', 'x'), title: '' }]), {
      code: 'bad-item',
    });
    await assert.rejects(vault.saveAll([loginDraft('a', 'x'), loginDraft('a', 'y')]), {
      code: 'changed-elsewhere',
    });
    assert.equal(vault.list().length, 0);
    const many = await vault.saveAll(
      Array.from({ length: 1300 }, (_, at) => loginDraft(`item-${at}`, `${at}`)),
    );
    assert.equal(many.length, 1300);
    assert.equal(await read(await harness.open(), 'item-1299'), '1299');
  });

  it('[SEAL-15] only fifty versions of one survive a rewrite', async () => {
    const vault = await harness.create();
    for (let version = 0; version < 60; version++) await vault.save(loginDraft('one', `${version}`, version));
    await vault.save(loginDraft('two', 'x'));
    await vault.remove('two');
    assert.deepEqual([vault.history('one').length, vault.history('one').at(-1)?.version], [50, 11]);
    assert.equal(await read(vault, 'one', 'password', 11), '10');
  });

  it('[SEAL-15] a log of many frames is gathered, and says the same', async () => {
    const vault = await harness.create();
    for (let at = 0; at < 300; at++)
      await vault.save(loginDraft(`item-${at % 10}`, `${at}`, Math.floor(at / 10)));
    const header = JSON.parse(readFileSync(join(harness.root, 'vault', 'vault.json'), 'utf8')) as {
      head: { frames: number; counter: number };
    };
    assert.ok(header.head.frames < 60 && header.head.counter > 300, JSON.stringify(header.head));
    const again = await harness.open();
    assert.equal(await read(again, 'item-3'), '293');
    assert.equal(await read(again, 'item-3', 'password', 2), '13');
  });

  const values: readonly [string, Buffer][] = [
    ['of no bytes', Buffer.alloc(0)],
    ['with NUL and every byte', Buffer.from(Array.from({ length: 256 }, (_, at) => at))],
    ['of emoji', Buffer.from('🔑👩‍💻 ключ')],
    ['of more than 64 KiB', Buffer.alloc(70_000, 'x')],
    ['of a whole mebibyte', Buffer.alloc(itemLimits.valueBytes, 'y')],
  ];
  for (const [name, bytes] of values) {
    it(`[SEAL-15] S04 a value ${name} comes back as it is`, async () => {
      const vault = await harness.create();
      const draft = loginDraft('one', 'x');
      await vault.save({ ...draft, fields: [{ name: 'value', kind: 'secret', value: Secret.copy(bytes) }] });
      using found = await (await harness.open()).open('one', 'value');
      assert.ok(found.use((given) => given.equals(bytes)));
    });
  }

  it('[SEAL-15] S04 a lone surrogate is refused where the text becomes bytes', () => {
    assert.throws(() => Secret.fromText('a\uD800'), RangeError);
  });

  const field = { name: 'a', kind: 'text', value: Secret.fromText('x') } as const;
  const bad: readonly [DraftProblem, Partial<ItemDraft>][] = [
    ['id', { id: 'Has Space' }],
    ['id', { id: '../up' }],
    ['title', { title: '' }],
    ['title', { title: 'turned \u202E round' }],
    ['title', { title: 'x'.repeat(201) }],
    ['kind', { kind: 'other' as never }],
    ['fields', { fields: [] }],
    ['fields', { fields: Array.from({ length: 65 }, (_, at) => ({ ...field, name: `f${at}` })) }],
    ['field', { fields: [{ ...field, name: 'A b' }] }],
    ['field', { fields: [{ ...field, kind: 'other' as never }] }],
    ['field-twice', { fields: [field, field] }],
    ['value', { fields: [{ ...field, value: Secret.own(Buffer.alloc(itemLimits.valueBytes + 1)) }] }],
    ['host', { hosts: ['https://example.org'] }],
    ['tag', { tags: ['a\nb'] }],
    ['expiry', { expiresAt: 1.5 }],
  ];
  for (const [problem, change] of bad) {
    it(`[SEAL-15] with a bad ${problem} are refused: ${inspect(change, { depth: 0 }).slice(0, 60)}`, async () => {
      const vault = await harness.create();
      const draft = { ...loginDraft('one', 'x'), ...change };
      await assert.rejects(vault.save(draft), (error: { code: string; data: { problem: string } }) => {
        assert.deepEqual([error.code, error.data.problem], ['bad-item', problem]);
        return true;
      });
      assert.equal(vault.list().length, 0);
    });
  }

  it('[SEAL-15] hosts have one spelling', () => {
    const good = [
      'example.org',
      'example.org:8443',
      '127.0.0.1',
      '[::1]',
      '[::1]:80',
      'xn--bcher-kva.example',
      'a_b.example',
    ];
    const wrong = [
      'Example.org',
      'example.org.',
      'example.org/',
      'user@example.org',
      '127.1',
      '2130706433',
      '0x7f.1',
      '[::ffff:7f00:1',
      'bücher.example',
      'exam\tple.org',
      'ex%61mple.org',
      'example.org:0',
      'example.org:65536',
      'example.org:',
      '',
      '*.example.org',
    ];
    for (const host of good) assert.ok(isCanonicalHost(host), host);
    for (const host of wrong) assert.ok(!isCanonicalHost(host), host);
  });

  it('[SEAL-15] a key pair signs without giving its key', async () => {
    const vault = await harness.create();
    await vault.generateKeyPair({ id: 'deploy', title: 'Deploy', hosts: [], tags: [], expiresAt: null });
    const signature = await vault.sign('deploy', Buffer.from('data'));
    const blob = Buffer.from((await read(vault, 'deploy', 'public-key')).split(' ')[1] ?? '', 'base64');
    const key = createPublicKey({
      key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), blob.subarray(-32)]),
      format: 'der',
      type: 'spki',
    });
    assert.ok(verify(null, Buffer.from('data'), key, signature));
    assert.match(
      await read(vault, 'deploy', 'private-key'),
      /^-----BEGIN PRIVATE KEY-----\n[A-Za-z0-9+/=]{64}\n-----END PRIVATE KEY-----\n$/,
    );
    await vault.save(loginDraft('login', 'x'));
    await assert.rejects(vault.sign('login', Buffer.from('data')), { code: 'no-private-key' });
    await assert.rejects(vault.sign('none', Buffer.from('data')), { code: 'no-such-item' });
  });

  it('[SEAL-10] no value, title or host is in the files; control: the search would find them', async () => {
    const vault = await harness.create();
    const draft = loginDraft('canary-id', 'canary-value');
    await vault.save({
      ...draft,
      title: 'canary-title',
      hosts: ['canary-host.example'],
      tags: ['canary-tag'],
    });
    vault.lock();
    const all = Buffer.from(Object.values(harness.contents()).join(''), 'hex');
    for (const text of [
      'canary-id',
      'canary-value',
      'canary-title',
      'canary-host',
      'canary-tag',
      'user of canary',
    ])
      assert.ok(!all.includes(text), text);
    assert.ok(all.includes('sallyport-vault'));
    const header = (await harness.open()).get('canary-id');
    assert.equal(header?.title, 'canary-title');
  });

  it('[SEAL-10] no error and no print has a value', async () => {
    const vault = await harness.create();
    const canary = 'canary-9f3a';
    const secret = Secret.fromText(canary);
    await vault.save(loginDraft('one', canary));
    const errors = [
      vault.save({ ...loginDraft('Bad Id', canary) }),
      vault.save(loginDraft('one', canary, 7)),
      vault.save({ ...loginDraft('one', canary, 1), fields: [{ name: 'new', kind: 'secret' }] }),
      vault.open('one', 'none'),
      vault.exportBackup(join(harness.root, 'b'), Secret.fromText('short')),
    ];
    for (const error of errors) {
      const found: unknown = await error.then(
        () => assert.fail('it was done'),
        (reason: unknown) => reason,
      );
      assert.ok(!inspect(found, { depth: 9, showHidden: true }).includes(canary));
    }
    const printed = `${String(secret)} ${JSON.stringify({ secret })} ${inspect({ secret }, { showHidden: true, depth: 9 })}`;
    assert.ok(!printed.includes(canary) && printed.includes('[secret]'));
    assert.ok(!inspect(vault, { showHidden: true, depth: 9 }).includes(canary));
  });

  it('[SEAL-10] after the lock everything throws, and says so to listeners once', async () => {
    const vault = await harness.create();
    await vault.save(loginDraft('one', 'x'));
    let told = 0;
    vault.onChange(() => told++);
    vault.lock();
    vault.lock();
    assert.equal(told, 1);
    assert.ok(vault.isLocked);
    assert.throws(() => vault.list(), { code: 'locked' });
    await assert.rejects(vault.open('one', 'password'), { code: 'locked' });
    await assert.rejects(vault.save(loginDraft('two', 'x')), { code: 'locked' });
    const secret = Secret.fromText('x');
    secret.wipe();
    assert.throws(() => secret.use(() => 0));
  });

  it('[SEAL-10] a lock in the middle of a rewrite ends it, and the vault is as it was', async () => {
    const vault = await harness.create();
    await vault.saveAll(Array.from({ length: 1500 }, (_, at) => loginDraft(`item-${at}`, `${at}`)));
    const waiting = [
      vault.remove('item-7'),
      vault.renewKeys(harness.deviceKey),
      vault.save(loginDraft('more', 'x')),
      vault.exportBackup(join(harness.root, 'b'), Secret.fromText('a long passphrase')),
    ];
    // Into the middle of the first one.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    vault.lock();
    for (const each of await Promise.allSettled(waiting))
      assert.equal((each as { reason?: { code?: string } }).reason?.code, 'locked');
    const again = await harness.open();
    assert.equal(again.list().length, 1500);
    assert.equal(await read(again, 'item-7'), '7');
    assert.deepEqual(
      readdirSync(join(harness.root, 'vault')).filter((name) => !/^(vault\.json|rows-[0-9]+)$/.test(name)),
      [],
    );
  });

  it('[SEAL-11] files are 0600 in a folder of 0700, whatever they were', async function () {
    if (process.platform === 'win32') {
      console.log('      skipped: Windows has no such modes and links');
      this.skip();
    }
    const vault = await harness.create();
    await vault.save(loginDraft('one', 'x'));
    const folder = join(harness.root, 'vault');
    const modes = () =>
      [folder, ...readdirSync(folder).map((name) => join(folder, name))].map((path) =>
        (statSync(path).mode & 0o777).toString(8),
      );
    assert.deepEqual(modes(), ['700', '600', '600']);
    chmodSync(folder, 0o755);
    (await harness.open()).lock();
    assert.deepEqual(modes(), ['700', '600', '600']);
  });

  it('[SEAL-11] a link in the place of a file is not followed', async function () {
    if (process.platform === 'win32') {
      console.log('      skipped: Windows has no such modes and links');
      this.skip();
    }
    (await harness.create()).lock();
    const path = join(harness.root, 'vault', 'vault.json');
    renameSync(path, join(harness.root, 'elsewhere'));
    symlinkSync(join(harness.root, 'elsewhere'), path);
    assert.deepEqual(await openAgentsVault(harness.place(), harness.deviceKey), {
      state: 'unreadable',
      code: 'ELOOP',
    });
  });

  it('tells its listeners of changes here and elsewhere', async () => {
    const vault = await harness.create();
    let told = 0;
    const listening = vault.onChange(() => told++);
    await vault.save(loginDraft('one', 'x'));
    assert.equal(told, 1);
    const other = await harness.open();
    await other.save(loginDraft('two', 'x'));
    assert.equal(await vault.refresh(), true);
    assert.equal(await vault.refresh(), false);
    assert.equal(told, 2);
    assert.equal(vault.list().length, 2);
    listening[Symbol.dispose]();
    await vault.save(loginDraft('three', 'x'));
    assert.equal(told, 2);
  });
});
