import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openAgentsVault } from '../../../extension/src/vault/core/agentsVault.ts';
import { Keyring } from '../../../extension/src/vault/core/keyring.ts';
import { lengthPrefixed } from '../../../extension/src/vault/core/lengthPrefixed.ts';
import type { ItemSummary } from '../../../extension/src/vault/core/items.ts';
import { createPersonalVault, openPersonalVault } from '../../../extension/src/vault/core/personalVault.ts';
import { derivePasswordKey, isAcceptedCost } from '../../../extension/src/vault/core/passwordKey.ts';
import { Randomness } from '../../../extension/src/vault/core/randomness.ts';
import { isAuthenticRow, openRow, sealRow } from '../../../extension/src/vault/core/rows.ts';
import { seal, unseal, UnsealError } from '../../../extension/src/vault/core/sealing.ts';
import { Secret } from '../../../extension/src/vault/core/secret.ts';
import { hmac } from '../../../extension/src/vault/core/digests.ts';
import { entryOf } from '../../../extension/src/vault/core/rows.ts';
import { headerBody, parseHeader } from '../../../extension/src/vault/core/vaultHeader.ts';
import { editHeader, logPath, readLog, writeLog, type FrameBytes } from '../../support/vaultBytes.ts';
import { loginDraft, quickDerivation, read, VaultHarness } from '../../support/vaultHarness.ts';

describe('attacks on the files of a vault', () => {
  let harness: VaultHarness;
  let folder: string;
  beforeEach(async () => {
    harness = new VaultHarness();
    folder = join(harness.root, 'vault');
    const vault = await harness.create();
    // One frame each; one, two and three have rows of the same length.
    await vault.save(loginDraft('one', 'value of one'));
    await vault.save(loginDraft('two', 'value of two'));
    await vault.save(loginDraft('one', 'next of one ', 1));
    await vault.saveAll([loginDraft('six', 'value of six'), loginDraft('ten', 'value of ten')]);
    vault.lock();
  });
  afterEach(() => harness.close());

  /** Opens, and checks that nothing in the folder was touched by that. */
  async function refusal(): Promise<Record<string, unknown>> {
    const before = harness.contents();
    const found = await harness.state();
    assert.deepEqual(harness.contents(), before);
    return found;
  }

  interface Attack {
    readonly id: string;
    readonly what: string;
    readonly item?: string;
    readonly edit: (frames: FrameBytes[]) => FrameBytes[];
  }
  const rows = (frame: FrameBytes | undefined, ...own: (Buffer | undefined)[]): FrameBytes => {
    assert.ok(frame);
    return { ...frame, rows: own.filter((row) => row !== undefined) };
  };
  const attacks: readonly Attack[] = [
    {
      id: 'V01 the row of another item in its place',
      what: 'row-swapped',
      item: 'two',
      edit: ([one, two, ...rest]) => [rows(one, ...(one?.rows ?? [])), rows(two, one?.rows[0]), ...rest],
    },
    {
      id: 'V01 two rows of one frame change places',
      what: 'row-swapped',
      item: 'six',
      edit: ([one, two, three, four]) => [
        ...[one, two, three].filter((frame) => frame !== undefined),
        rows(four, four?.rows[1], four?.rows[0]),
      ],
    },
    {
      id: 'V03 the row of an earlier version put back',
      what: 'row-rolled-back',
      item: 'one',
      edit: ([one, two, three, ...rest]) => [
        rows(one, one?.rows[0]),
        rows(two, two?.rows[0]),
        rows(three, one?.rows[0]),
        ...rest,
      ],
    },
    {
      id: 'V03 a whole earlier frame put back',
      what: 'row-rolled-back',
      edit: ([one, two, three, four]) =>
        [one, two, one, four, three].slice(0, 4).filter((frame) => frame !== undefined),
    },
    {
      id: 'V05 one row of a frame dropped',
      what: 'row-removed',
      item: 'ten',
      edit: (frames) => [...frames.slice(0, 3), rows(frames[3], frames[3]?.rows[0])],
    },
    {
      id: 'V05 a frame in the middle dropped',
      what: 'row-removed',
      edit: (frames) => frames.filter((_, at) => at !== 1),
    },
    { id: 'V05 the last frames dropped', what: 'truncated', edit: (frames) => frames.slice(0, 2) },
    { id: 'V05 all frames dropped', what: 'truncated', edit: () => [] },
    {
      id: 'V02 a bit of a value changed',
      what: 'row-altered',
      item: 'two',
      edit: (frames) =>
        frames.map((frame, at) => (at === 1 ? rows(frame, flipped(frame.rows[0], 200)) : frame)),
    },
    {
      id: 'V12 a row with a tag of four bytes',
      what: 'row-altered',
      item: 'two',
      edit: (frames) =>
        frames.map((frame, at) => (at === 1 ? rows(frame, shortened(frame.rows[0], 12)) : frame)),
    },
    {
      id: 'a bit of an index changed',
      what: 'index-altered',
      edit: (frames) =>
        frames.map((frame, at) => (at === 1 ? { ...frame, index: flipped(frame.index, 30) } : frame)),
    },
    {
      id: 'two frames change places',
      what: 'row-removed',
      edit: ([one, two, ...rest]) => [two, one, ...rest].filter((frame) => frame !== undefined),
    },
    {
      id: 'two frames change places and numbers',
      what: 'index-altered',
      edit: ([one, two, ...rest]) => {
        assert.ok(one && two);
        return [{ ...two, head: one.head }, { ...one, head: two.head }, ...rest];
      },
    },
  ];

  for (const { id, what, item, edit } of attacks) {
    it(`[SEAL-02] ${id}: refused as ${what}`, async () => {
      writeLog(folder, edit(readLog(folder)));
      assert.deepEqual(await refusal(), { state: 'tampered', what, ...(item === undefined ? {} : { item }) });
    });
  }

  it('[SEAL-02] control: frames read and written back as they are open', async () => {
    const before = readFileSync(logPath(folder));
    writeLog(folder, readLog(folder));
    assert.deepEqual(readFileSync(logPath(folder)), before);
    assert.deepEqual(await harness.state(), { state: 'open' });
  });

  it('[SEAL-02] V06 a row of another vault in its place: refused as row-foreign', async () => {
    const other = await harness.create('other');
    await other.save(loginDraft('one', 'value of one'));
    const [foreign] = readLog(join(harness.root, 'other'));
    const [one, ...rest] = readLog(folder);
    assert.ok(one && foreign);
    writeLog(folder, [{ ...one, rows: foreign.rows }, ...rest]);
    assert.deepEqual(await refusal(), { state: 'tampered', what: 'row-foreign', item: 'one' });
    writeLog(folder, [foreign, ...rest]);
    assert.deepEqual(await refusal(), { state: 'tampered', what: 'row-foreign' });
  });

  it('[SEAL-02] V02 the values of two fields change places under a right MAC: the seal itself refuses', () => {
    const { keyring, summary, row } = sealedRow();
    const swapped = Buffer.from(row);
    const length = 4 + 28 + 64;
    const at = 4 + 16 + 16 + 4 + 60 + 2;
    row.copy(swapped, at, at + length, at + 2 * length);
    row.copy(swapped, at + length, at, at + length);
    remac(keyring, summary, swapped);
    assert.ok(isAuthenticRow(keyring, summary, swapped));
    assert.throws(() => openRow(keyring, summary, swapped, 0), UnsealError);
    assert.throws(() => openRow(keyring, summary, swapped, 1), UnsealError);
    assert.equal(
      openRow(keyring, summary, row, 0).use((bytes) => bytes.toString()),
      'user',
    );
  });

  it('[SEAL-02] a row opens under none of another name, kind, field, version, item or vault, whoever makes the MAC', () => {
    const { keyring, summary, row } = sealedRow();
    const [user, password] = summary.fields;
    assert.ok(user && password);
    const others: Partial<ItemSummary>[] = [
      { title: 'Other' },
      { kind: 'token' },
      { version: 2 },
      { id: 'xyz' },
      { fields: [{ ...user, name: 'usee' }, password] },
      { fields: [{ ...user, kind: 'secret' }, password] },
      { fields: [password, user] },
    ];
    for (const other of others) {
      const claimed = { ...summary, ...other };
      const forged = Buffer.from(row);
      remac(keyring, claimed, forged);
      assert.ok(isAuthenticRow(keyring, claimed, forged));
      assert.throws(() => openRow(keyring, claimed, forged, 0), UnsealError, JSON.stringify(other));
      assert.throws(() => openRow(keyring, claimed, row, 0), UnsealError);
    }
    // Fields that no seal covers are covered by the MAC.
    for (const other of [{ hosts: ['evil.example'] }, { tags: ['x'] }, { expiresAt: 1 }])
      assert.throws(() => openRow(keyring, { ...summary, ...other }, row, 0), UnsealError);
  });

  it('[SEAL-02] parts of additional data can be cut in one way only', () => {
    assert.notDeepEqual(lengthPrefixed('a.b', 'c'), lengthPrefixed('a', 'b.c'));
    assert.notDeepEqual(lengthPrefixed('ab', ''), lengthPrefixed('a', 'b'));
    assert.notDeepEqual(lengthPrefixed('a', 'b'), lengthPrefixed('a', 'b', ''));
  });

  it('[SEAL-03] V04 the files of yesterday put back: refused, and opened where a person says so', async () => {
    harness.copy('vault', 'yesterday');
    const vault = await harness.open();
    await vault.save(loginDraft('two', 'value of today', 1));
    vault.lock();
    rmSync(folder, { recursive: true });
    harness.copy('yesterday', 'vault');
    assert.deepEqual(await refusal(), { state: 'rolled-back', counter: 5, known: 6 });
    // Control: without a second place, nothing notices.
    assert.deepEqual(await harness.state('vault', { counters: null }), { state: 'open' });
    const older = await harness.open('vault', { openOlder: true });
    assert.equal(await read(older, 'two'), 'value of two');
    older.lock();
    assert.deepEqual(await harness.state(), { state: 'open' });
    const [known] = harness.counters.known.values();
    assert.equal(known?.counter, 7);
  });

  it('[SEAL-03] V04 another history of the same length is noticed, too', async () => {
    harness.copy('vault', 'fork');
    const ours = await harness.open();
    await ours.save(loginDraft('two', 'ours', 1));
    ours.lock();
    const theirs = await harness.open('fork', { counters: null });
    await theirs.save(loginDraft('two', 'theirs', 1));
    theirs.lock();
    rmSync(folder, { recursive: true });
    harness.copy('fork', 'vault');
    assert.deepEqual(await refusal(), { state: 'rolled-back', counter: 6, known: 6 });
  });

  it('[SEAL-03] V04 older files put back under an open vault are refused by it', async () => {
    const vault = await harness.open();
    harness.copy('vault', 'yesterday');
    await vault.save(loginDraft('two', 'value of today', 1));
    rmSync(folder, { recursive: true });
    harness.copy('yesterday', 'vault');
    await assert.rejects(vault.open('two', 'password'), { code: 'rolled-back' });
    await assert.rejects(vault.save(loginDraft('two', 'more', 2)), { code: 'rolled-back' });
  });

  it('[SEAL-03] S02 a second place that does not answer is said, and is a person’s to do without', async () => {
    harness.counters.isBroken = true;
    assert.deepEqual(await refusal(), { state: 'counter-unavailable' });
    const vault = await harness.open('vault', { openOlder: true });
    assert.equal(vault.isRollbackGuarded, false);
    await vault.save(loginDraft('new', 'saved all the same'));
    harness.counters.isBroken = false;
    await vault.save(loginDraft('more', 'x'));
    assert.equal(vault.isRollbackGuarded, true);
  });

  it('[SEAL-02] a row changed under an open vault is refused when it is opened', async () => {
    const vault = await harness.open();
    const path = logPath(folder);
    const bytes = readFileSync(path);
    writeFileSync(path, flipped(bytes, bytes.indexOf(readLog(folder)[1]?.rows[0] ?? '') + 200));
    await assert.rejects(vault.open('two', 'password'), {
      code: 'tampered',
      data: { what: 'row-altered', item: 'two' },
    });
    assert.equal(await read(vault, 'one'), 'next of one ');
  });

  it('[SEAL-08] V32 S01 another device key, or none: device-key-lost, never an empty vault', async () => {
    const before = harness.contents();
    for (const key of [
      undefined,
      Secret.own(randomBytes(32)),
      Secret.own(randomBytes(16)),
      Secret.own(Buffer.alloc(0)),
    ])
      assert.deepEqual(await openAgentsVault(harness.place(), key), { state: 'device-key-lost' });
    assert.deepEqual(harness.contents(), before);
    await assert.rejects(harness.create(), { code: 'exists' });
    rmSync(join(folder, 'vault.json'));
    assert.deepEqual(await refusal(), { state: 'tampered', what: 'header-altered' });
    await assert.rejects(harness.create(), { code: 'exists' });
  });

  describe('header', () => {
    const edits: readonly [string, (text: string) => string, object][] = [
      [
        'V10 another cipher',
        (text) => text.replace('aes-256-gcm', 'aes-256-cbc'),
        { state: 'tampered', what: 'downgraded' },
      ],
      [
        'V10 version 0',
        (text) => text.replace('"version":1', '"version":0'),
        { state: 'tampered', what: 'downgraded' },
      ],
      [
        'a later version',
        (text) => text.replace('"version":1', '"version":2'),
        { state: 'unsupported', version: 2 },
      ],
      [
        'another counter',
        (text) => text.replace('"counter":5', '"counter":6'),
        { state: 'tampered', what: 'header-altered' },
      ],
      [
        'another time',
        (text) => text.replace(/"savedAt":[0-9]+/, '"savedAt":1'),
        { state: 'tampered', what: 'header-altered' },
      ],
      [
        'V11 another salt',
        (text) => text.replace(/"salt":"[^"]{8}/, '"salt":"AAAAAAAA'),
        { state: 'tampered', what: 'header-altered' },
      ],
      [
        'a key that is not known',
        (text) => text.replace('{', '{"x":1,'),
        { state: 'unreadable', code: 'malformed' },
      ],
      [
        '__proto__',
        (text) => text.replace('{', '{"__proto__":{"a":1},'),
        { state: 'unreadable', code: 'malformed' },
      ],
      [
        'a key twice',
        (text) => text.replace('{', '{"version":1,'),
        { state: 'unreadable', code: 'malformed' },
      ],
      ['a space', (text) => text.replace(',', ', '), { state: 'unreadable', code: 'malformed' }],
      ['a carriage return', (text) => text.replace('\n', '\r\n'), { state: 'unreadable', code: 'malformed' }],
      [
        'a number written otherwise',
        (text) => text.replace('"counter":5', '"counter":5.0'),
        { state: 'unreadable', code: 'malformed' },
      ],
      [
        'a number as text',
        (text) => text.replace('"counter":5', '"counter":"5"'),
        { state: 'unreadable', code: 'malformed' },
      ],
      [
        'one slot fewer',
        (text) => text.replace(/,\{"type":"recovery"[^}]*\}/, ''),
        { state: 'unreadable', code: 'malformed' },
      ],
      ['nothing', () => '', { state: 'unreadable', code: 'malformed' }],
      ['half of it', (text) => text.slice(0, 300), { state: 'unreadable', code: 'malformed' }],
      ['a mebibyte', (text) => text + ' '.repeat(2 ** 20), { state: 'unreadable', code: 'malformed' }],
      ['deep nesting', () => '['.repeat(16_000), { state: 'unreadable', code: 'malformed' }],
    ];
    for (const [name, edit, expected] of edits) {
      it(`[SEAL-05] ${name}: ${JSON.stringify(expected)}`, async () => {
        const before = readFileSync(join(folder, 'vault.json'), 'utf8');
        editHeader(folder, edit);
        assert.notEqual(readFileSync(join(folder, 'vault.json'), 'utf8'), before);
        assert.deepEqual(await refusal(), expected);
      });
    }

    it('[SEAL-05] signed again by another key: the MAC refuses it', async () => {
      const { publicKey, privateKey } = generateKeyPairSync('ed25519');
      const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(12);
      editHeader(folder, (text) => {
        const parsed = parseHeader(Buffer.from(text));
        assert.ok('header' in parsed);
        const header = { ...parsed.header, publicKey: raw, head: { ...parsed.header.head, counter: 9 } };
        const body = headerBody(header);
        const signature = sign(null, lengthPrefixed(body, parsed.mac), privateKey);
        const tail = { mac: parsed.mac.toString('hex'), signature: signature.toString('hex') };
        return `${body.toString().slice(0, -1)},${JSON.stringify(tail).slice(1)}\n`;
      });
      assert.ok('header' in parseHeader(readFileSync(join(folder, 'vault.json'))));
      assert.deepEqual(await refusal(), { state: 'tampered', what: 'header-altered' });
    });

    it('[SEAL-02] the header of an earlier time beside the rows of today is refused', async () => {
      const header = readFileSync(join(folder, 'vault.json'));
      const vault = await harness.open();
      await vault.remove('two');
      vault.lock();
      writeFileSync(join(folder, 'vault.json'), header);
      assert.deepEqual(await refusal(), { state: 'tampered', what: 'truncated' });
    });

    it('[SEAL-02] a log cut in the middle of a frame is truncated', async () => {
      truncateSync(logPath(folder), readFileSync(logPath(folder)).length - 10);
      assert.deepEqual(await refusal(), { state: 'tampered', what: 'truncated' });
    });
  });

  describe('parameters of scrypt', () => {
    const costs: readonly [string, unknown][] = [
      ['N=0', { N: 0, r: 8, p: 1 }],
      ['N=2', { N: 2, r: 1, p: 1 }],
      ['N=16384', { N: 16384, r: 8, p: 1 }],
      ['N=1000', { N: 1000, r: 8, p: 1 }],
      ['N=131073', { N: 131073, r: 8, p: 1 }],
      ['N=2^31', { N: 2 ** 31, r: 8, p: 1 }],
      ['r=0', { N: 131072, r: 0, p: 1 }],
      ['r=1', { N: 131072, r: 1, p: 1 }],
      ['p=0', { N: 131072, r: 8, p: 0 }],
      ['p=2^20', { N: 131072, r: 8, p: 2 ** 20 }],
    ];
    for (const [name, cost] of costs) {
      it(`[SEAL-04] V08 ${name}: refused before anything is derived`, async () => {
        let derived = 0;
        const place = harness.place('personal', {
          derive: (...given) => {
            derived++;
            return quickDerivation(...given);
          },
        });
        const password = Secret.fromText('a good password');
        const { secretKey } = await createPersonalVault(place, password);
        editHeader(place.folder, (text) => text.replace('{"N":131072,"r":8,"p":1}', JSON.stringify(cost)));
        derived = 0;
        assert.deepEqual(await openPersonalVault(place, { password, secretKey }), {
          state: 'tampered',
          what: 'downgraded',
        });
        assert.equal(derived, 0);
        assert.equal(isAcceptedCost(cost as { N: number; r: number; p: number }), false);
        await assert.rejects(derivePasswordKey(password, Buffer.alloc(32), cost as never), RangeError);
      });
    }

    it('[SEAL-04] V08 a number as text is malformed; control: the floor and the ceiling are accepted', async () => {
      const place = harness.place('personal');
      const password = Secret.fromText('a good password');
      const { secretKey } = await createPersonalVault(place, password);
      assert.equal((await openPersonalVault(place, { password, secretKey })).state, 'open');
      editHeader(place.folder, (text) => text.replace('"N":131072', '"N":"131072"'));
      assert.deepEqual(await openPersonalVault(place, { password, secretKey }), {
        state: 'unreadable',
        code: 'malformed',
      });
      assert.ok(isAcceptedCost({ N: 2 ** 17, r: 8, p: 1 }) && isAcceptedCost({ N: 2 ** 20, r: 8, p: 4 }));
    });
  });

  it('[SEAL-04] V12 a tag of 4, 8, 12, 13, 14 or 15 bytes opens nothing; control: 16 do', () => {
    const key = randomBytes(32);
    const sealed = seal(key, Buffer.alloc(0), Buffer.from('value'), new Randomness());
    for (const bytes of [4, 8, 12, 13, 14, 15])
      assert.throws(
        () => unseal(key, Buffer.alloc(0), sealed.subarray(0, sealed.length - 16 + bytes)),
        UnsealError,
      );
    assert.throws(() => unseal(key, Buffer.alloc(0), Buffer.alloc(27)), UnsealError);
    assert.equal(unseal(key, Buffer.alloc(0), sealed).toString(), 'value');
  });

  it('[SEAL-04] V13 a generator that repeats: nothing is saved', async () => {
    let isStuck = false;
    const random = (bytes: number) => (isStuck ? Buffer.alloc(bytes, 7) : randomBytes(bytes));
    const vault = await harness.open('vault', { random });
    await vault.save(loginDraft('good', 'x'));
    isStuck = true;
    const before = harness.contents();
    await assert.rejects(vault.save(loginDraft('bad', 'x')), { code: 'random-repeats' });
    assert.deepEqual(harness.contents(), before);
    isStuck = false;
    await vault.save(loginDraft('bad', 'x'));
  });

  it('[SEAL-02] V28 values of like length take the same room', () => {
    const lengthOf = (value: string) => sealedRow(value).row.length;
    assert.equal(lengthOf('a'), lengthOf('a'.repeat(60)));
    assert.notEqual(lengthOf('a'), lengthOf('a'.repeat(61)));
  });
});

function sealedRow(password = 'password') {
  const keyring = new Keyring('00112233445566778899aabbccddeeff', randomBytes(32));
  const summary: ItemSummary = {
    id: 'one',
    version: 1,
    title: 'One',
    kind: 'login',
    fields: [
      { name: 'user', kind: 'text' },
      { name: 'password', kind: 'secret' },
    ],
    hosts: [],
    tags: [],
    expiresAt: null,
    savedAt: 0,
  };
  const values = [Secret.fromText('user'), Secret.fromText(password)];
  return { keyring, summary, row: sealRow(keyring, summary, values, new Randomness()) };
}

/** What one with the vault's own key for MACs could do. */
function remac(keyring: Keyring, summary: ItemSummary, row: Buffer): void {
  const body = row.subarray(0, row.length - 32);
  const text = lengthPrefixed('row', keyring.vaultId, JSON.stringify(entryOf(summary)), body);
  hmac(keyring.rows, text).copy(row, row.length - 32);
}

function flipped(bytes: Buffer | undefined, at: number): Buffer {
  const copy = Buffer.from(bytes ?? '');
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

/** A row whose last value is some bytes shorter, with all lengths made right. */
function shortened(row: Buffer | undefined, by: number): Buffer {
  assert.ok(row);
  const mac = row.subarray(row.length - 32);
  const copy = Buffer.concat([row.subarray(0, row.length - 32 - by), mac]);
  copy.writeUInt32BE(copy.length - 4);
  const valueAt = row.length - 32 - 92 - 4;
  copy.writeUInt32BE(92 - by, valueAt);
  return copy;
}
