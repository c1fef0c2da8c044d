import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync, gunzipSync, brotliDecompressSync } from 'node:zlib';
import { DatabaseSync } from 'node:sqlite';

/**
 * A secret that can be found again in any dress. Its middle is of letters and digits alone, so that nothing which quotes
 * or escapes it can hide it; what surrounds it is there to be mishandled.
 */
export class Canary {
  readonly value: string;
  readonly #needles: readonly (readonly [string, Buffer])[];

  constructor(prefix = 'sk-') {
    const core = `canary${randomBytes(12).toString('hex')}`;
    this.value = `${prefix}${core}+/=`;
    this.#needles = spellings(core).map(([name, text]) => [name, Buffer.from(text, 'latin1')]);
  }

  /** The spellings in which it stands in these bytes; of the bytes themselves and of what they are compressed from. */
  in(bytes: Uint8Array | string): string[] {
    const plain = typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(bytes);
    const found = this.#search(plain);
    for (const [name, inflate] of inflaters) {
      try {
        found.push(
          ...this.#search(inflate(plain, { maxOutputLength: 1 << 26 })).map(
            (spelling) => `${name} ${spelling}`,
          ),
        );
      } catch {
        // It is not compressed in this way.
      }
    }
    return found;
  }

  /** Every file below a folder in which it stands, or whose name it is part of, with the spelling. Links are not followed. */
  below(folder: string): string[] {
    const found: string[] = [];
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      found.push(...this.in(name).map((spelling) => `the name of ${path}: ${spelling}`));
      const stat = lstatSync(path);
      if (stat.isDirectory()) found.push(...this.below(path));
      else if (stat.isFile())
        found.push(...this.in(readFileSync(path)).map((spelling) => `${path}: ${spelling}`));
    }
    return found;
  }

  /** Every cell of an SQLite database in which it stands: long values lie scattered over a file's pages. */
  inDatabase(path: string): string[] {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const found: string[] = [];
      const tables = database.prepare(`select name from sqlite_schema where type = 'table'`).all();
      for (const { name } of tables as { name: string }[]) {
        const rows = database.prepare(`select * from "${name.replaceAll('"', '""')}"`).all();
        for (const row of rows)
          for (const [column, cell] of Object.entries(row))
            if (typeof cell === 'string' || cell instanceof Uint8Array)
              found.push(...this.in(cell).map((spelling) => `${name}.${column}: ${spelling}`));
      }
      return found;
    } finally {
      database.close();
    }
  }

  #search(bytes: Buffer): string[] {
    return this.#needles.filter(([, needle]) => bytes.includes(needle)).map(([name]) => name);
  }
}

const inflaters = [
  ['gzip', gunzipSync],
  ['deflate', inflateSync],
  ['brotli', brotliDecompressSync],
] as const;

/** What a text looks like in each encoding. Those of the text in quotes or as URI component are the text itself. */
function spellings(core: string): (readonly [string, string])[] {
  const bytes = Buffer.from(core);
  const codes = [...bytes].map((code) => code.toString(16).padStart(2, '0'));
  const hex = codes.join('');
  return [
    ['raw', core],
    ['upper case', core.toUpperCase()],
    ['reversed', Buffer.from(core).reverse().toString()],
    ['hex', hex],
    ['hex in upper case', hex.toUpperCase()],
    ['bytes with commas', bytes.join(',')],
    ['percent encoding', codes.map((code) => `%${code}`).join('')],
    ['percent encoding in upper case', codes.map((code) => `%${code.toUpperCase()}`).join('')],
    ['JSON escapes', codes.map((code) => `\\u00${code}`).join('')],
    ['HTML references', [...bytes].map((code) => `&#${code};`).join('')],
    ['UTF-16', bytes.toString('latin1').split('').join('\0')],
    ...[0, 1, 2].flatMap((shift) => base64At(bytes, shift)),
  ];
}

/** The characters of a base64 text that only these bytes decide, where they begin `shift` bytes into a group. */
function base64At(bytes: Buffer, shift: number): (readonly [string, string])[] {
  const filled = Buffer.concat([Buffer.alloc(shift), bytes]);
  const first = shift === 0 ? 0 : shift + 1;
  const last = Math.floor((filled.length * 8) / 6);
  return (['base64', 'base64url'] as const).map((encoding) => [
    `${encoding} after ${shift} bytes`,
    filled.toString(encoding).slice(first, last),
  ]);
}
