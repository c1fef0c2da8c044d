import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { openIndex, parseFrameHead, sealFrame, noContent } from '../../../extension/src/vault/core/frames.ts';
import type { ItemSummary } from '../../../extension/src/vault/core/items.ts';
import { Keyring } from '../../../extension/src/vault/core/keyring.ts';
import { Randomness } from '../../../extension/src/vault/core/randomness.ts';
import { claimOf, openRow, sealRow } from '../../../extension/src/vault/core/rows.ts';
import { UnsealError } from '../../../extension/src/vault/core/sealing.ts';
import { Secret } from '../../../extension/src/vault/core/secret.ts';
import { headerText, parseHeader } from '../../../extension/src/vault/core/vaultHeader.ts';
import { loginDraft, VaultHarness } from '../../support/vaultHarness.ts';

const headerRuns = 50_000;
const rowRuns = 50_000;

/** One thing that somebody does to bytes. */
const change = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), bit: fc.nat({ max: 7 }) }),
  fc.record({ kind: fc.constant('set' as const), at: fc.nat(), byte: fc.nat({ max: 255 }) }),
  fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }),
  fc.record({ kind: fc.constant('drop' as const), at: fc.nat(), length: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ kind: fc.constant('repeat' as const), at: fc.nat(), length: fc.integer({ min: 1, max: 40 }) }),
  fc.record({
    kind: fc.constant('insert' as const),
    at: fc.nat(),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }),
  }),
  fc.record({
    kind: fc.constant('number' as const),
    at: fc.nat(),
    value: fc.constantFrom(0, 1, 0x7fffffff, 0x80000000, 0xffffffff),
  }),
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function changed(bytes: Buffer, changes: readonly Change[]): Buffer {
  let result = Buffer.from(bytes);
  for (const each of changes) {
    const at = each.at % Math.max(result.length, 1);
    const rest = result.subarray(at);
    switch (each.kind) {
      case 'flip':
        if (result.length > 0) result[at] = (result[at] ?? 0) ^ (1 << each.bit);
        break;
      case 'set':
        if (result.length > 0) result[at] = each.byte;
        break;
      case 'cut':
        result = Buffer.from(result.subarray(0, at));
        break;
      case 'drop':
        result = Buffer.concat([result.subarray(0, at), rest.subarray(each.length)]);
        break;
      case 'repeat':
        result = Buffer.concat([result.subarray(0, at), rest.subarray(0, each.length), rest]);
        break;
      case 'insert':
        result = Buffer.concat([result.subarray(0, at), each.bytes, rest]);
        break;
      case 'number':
        if (at + 4 <= result.length) result.writeUInt32BE(each.value, at);
        break;
    }
  }
  return result;
}

const changes = fc.array(change, { minLength: 1, maxLength: 3 });

describe('a vault’s files with anything done to them', () => {
  let harness: VaultHarness;
  let header: Buffer;
  before(async () => {
    harness = new VaultHarness();
    const vault = await harness.create();
    for (let at = 0; at < 4; at++) await vault.save(loginDraft(`item-${at}`, `value ${at}`));
    vault.lock();
    header = readFileSync(join(harness.root, 'vault', 'vault.json'));
  });
  after(() => harness.close());

  it(`[SEAL-05] V20 ${headerRuns} headers: the one text, or a typed refusal, at once`, () => {
    let accepted = 0;
    fc.assert(
      fc.property(changes, (list) => {
        const bytes = changed(header, list);
        const parsed = parseHeader(bytes);
        if (!('header' in parsed)) return;
        accepted++;
        // What is read is exactly what would be written.
        assert.equal(headerText(parsed.header, parsed.mac, parsed.signature), bytes.toString());
      }),
      { numRuns: headerRuns },
    );
    // Digits of a digest may change and still be digits: the signature is for that.
    assert.ok(accepted > 0 && accepted < headerRuns / 2, `${accepted}`);
  });

  it('[SEAL-05] V20 texts that are no headers', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.uint8Array({ maxLength: 400 })), (value) => {
        assert.ok(!('header' in parseHeader(Buffer.from(value as string))));
      }),
      { numRuns: 5000 },
    );
  });

  it(`[SEAL-02] V20 ${rowRuns} rows: the row that was sealed, or an UnsealError`, () => {
    const keyring = new Keyring('00112233445566778899aabbccddeeff', Buffer.alloc(32, 1));
    const summary: ItemSummary = {
      id: 'one',
      version: 1,
      title: 'One',
      kind: 'login',
      fields: [{ name: 'user', kind: 'text' }],
      hosts: [],
      tags: [],
      expiresAt: null,
      savedAt: 0,
    };
    const row = sealRow(keyring, summary, [Secret.fromText('value')], new Randomness());
    fc.assert(
      fc.property(changes, (list) => {
        const bytes = changed(row, list);
        claimOf(bytes);
        parseFrameHead(bytes);
        if (bytes.equals(row)) return;
        assert.throws(() => openRow(keyring, summary, bytes, 0), UnsealError);
      }),
      { numRuns: rowRuns },
    );
    assert.equal(
      openRow(keyring, summary, row, 0).use((bytes) => bytes.toString()),
      'value',
    );
  });

  it('[SEAL-02] an index opens in its own place and log alone', () => {
    const keyring = new Keyring('00112233445566778899aabbccddeeff', Buffer.alloc(32, 1));
    const frame = sealFrame(keyring, { log: 3, sequence: 5 }, noContent, new Randomness());
    const index = frame.subarray(16);
    assert.deepEqual(openIndex(keyring, { log: 3, sequence: 5 }, index).items, []);
    fc.assert(
      fc.property(fc.nat({ max: 9 }), fc.nat({ max: 9 }), (log, sequence) => {
        if (log === 3 && sequence === 5) return;
        assert.throws(() => openIndex(keyring, { log, sequence }, index), UnsealError);
      }),
    );
  });

  it('[SEAL-02] 1,500 whole vaults: opened as they were, or a typed refusal, and never touched', async () => {
    const folder = join(harness.root, 'vault');
    const logName = 'rows-1';
    const log = readFileSync(join(folder, logName));
    const states = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(fc.boolean(), changes, async (isLog, list) => {
        const bytes = changed(isLog ? log : header, list);
        writeFileSync(join(folder, isLog ? logName : 'vault.json'), bytes);
        try {
          const found = await harness.state();
          const name = JSON.stringify([found['state'], found['what']]);
          states.set(name, (states.get(name) ?? 0) + 1);
          if (found['state'] === 'open') {
            // Bytes beyond the end that the header names are no part of the vault.
            assert.ok(isLog ? bytes.subarray(0, log.length).equals(log) : bytes.equals(header));
          } else {
            assert.deepEqual(readFileSync(join(folder, isLog ? logName : 'vault.json')), bytes);
          }
        } finally {
          writeFileSync(join(folder, logName), log);
          writeFileSync(join(folder, 'vault.json'), header);
        }
      }),
      { numRuns: 1500 },
    );
    assert.ok(states.size >= 5, JSON.stringify([...states]));
    assert.deepEqual(await harness.state(), { state: 'open' });
  });
});
