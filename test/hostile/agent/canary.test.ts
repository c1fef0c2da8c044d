import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { DatabaseSync } from 'node:sqlite';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { Canary } from './canary.ts';

/** The control of every search for a key: a leak in any of these dresses is found. */
describe('the search for a canary', () => {
  const folder = useTemporaryFolder();
  const canary = new Canary();
  const { value } = canary;

  const dresses: Readonly<Record<string, (text: string) => string | Uint8Array>> = {
    'as it is': (text) => text,
    'in JSON': (text) => JSON.stringify({ error: `key "${text}" was refused` }),
    'in JSON in JSON': (text) => JSON.stringify(JSON.stringify({ text })),
    'escaped for JSON by code point': (text) =>
      text.replaceAll(/./g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`),
    'as URI component': encodeURIComponent,
    'percent-encoded whole': (text) =>
      [...Buffer.from(text)].map((code) => `%${code.toString(16).padStart(2, '0')}`).join(''),
    'in base64': (text) => Buffer.from(text).toString('base64'),
    'in base64 after one byte': (text) => Buffer.from(`:${text}`).toString('base64'),
    'in base64 after two bytes': (text) => Buffer.from(`::${text}?`).toString('base64'),
    'as basic authorization': (text) => `Basic ${Buffer.from(`person:${text}`).toString('base64')}`,
    'in base64url': (text) => Buffer.from(`??>${text}`).toString('base64url'),
    'in hex': (text) => Buffer.from(text).toString('hex'),
    'in upper-case hex': (text) => Buffer.from(text).toString('hex').toUpperCase(),
    'as array of bytes': (text) => JSON.stringify([...Buffer.from(text)]),
    'in UTF-16': (text) => Buffer.from(text, 'utf16le'),
    'as HTML references': (text) => text.replaceAll(/./g, (each) => `&#${each.charCodeAt(0)};`),
    gzipped: gzipSync,
    deflated: deflateSync,
    'as brotli': brotliCompressSync,
    'without its ends': (text) => text.slice(3, -3),
    backwards: (text) => Buffer.from(text).reverse(),
  };
  for (const [dress, wear] of Object.entries(dresses)) {
    it(`[ATTACK-03] finds it ${dress}`, () => {
      assert.notDeepEqual(canary.in(wear(value)), []);
      assert.deepEqual(canary.in(wear(new Canary().value)), [], 'Another secret is not this one.');
    });
  }

  it('[ATTACK-03] finds it in files, names of files and cells of a database, and follows no link', () => {
    mkdirSync(join(folder(), 'home/deep'), { recursive: true });
    mkdirSync(join(folder(), 'elsewhere'));
    writeFileSync(join(folder(), 'elsewhere/secret'), value);
    symlinkSync(join(folder(), 'elsewhere'), join(folder(), 'home/link'));
    assert.deepEqual(canary.below(join(folder(), 'home')), []);
    writeFileSync(join(folder(), 'home/deep/log'), `401 for ${value}`);
    writeFileSync(join(folder(), 'home/deep', value.replaceAll('/', '_')), '');
    assert.equal(canary.below(join(folder(), 'home')).length, 2);

    const path = join(folder(), 'state.db');
    const database = new DatabaseSync(path);
    database.exec('create table notes (text, bytes)');
    // Long enough that it lies across two overflow pages.
    const insert = database.prepare('insert into notes values (?, ?)');
    insert.run(`${'x'.repeat(8178)}${value}${'y'.repeat(9000)}`, Buffer.from(value));
    database.close();
    assert.deepEqual(canary.inDatabase(path), ['notes.text: raw', 'notes.bytes: raw']);
  });
});
