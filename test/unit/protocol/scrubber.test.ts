import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createScrubber, removedMark, tooShort } from '../../../protocol/src/scrub/scrubber.ts';
import { spellingsOf } from '../../../protocol/src/scrub/spellings.ts';

const value = `s3cr3t/Value+with=chars"&<\\end's é`;

/** How programs print a value, and what they call that. */
const printed: Readonly<Record<string, (text: string) => string>> = {
  raw: (text) => text,
  JSON: (text) => JSON.stringify({ text }),
  'JSON in ASCII': (text) =>
    JSON.stringify(text).replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`),
  'JSON with escaped slashes': (text) => JSON.stringify(text).replaceAll('/', '\\/'),
  URI: (text) => `https://host/?q=${encodeURIComponent(text)}`,
  form: (text) => new URLSearchParams({ text }).toString(),
  'percent codes of everything': (text) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&'),
  HTML: (text) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
  shell: (text) => `'${text.replaceAll("'", `'\\''`)}'`,
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
  'upper-case hexadecimal': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  Base64: (text) => Buffer.from(text).toString('base64'),
  'Base64 at its second place': (text) => Buffer.from(`u${text}:x`).toString('base64'),
  'Base64 at its third place': (text) => Buffer.from(`ab${text}\n`).toString('base64'),
  base64url: (text) => Buffer.from(`user:${text}`).toString('base64url'),
  'Base64 in lines': (text) => Buffer.from(text).toString('base64').replaceAll(/.{20}/g, '$&\r\n'),
  'UTF-16': (text) => Buffer.from(text, 'utf16le').toString('latin1'),
  reversed: (text) => Array.from(text).reverse().join(''),
  coloured: (text) => `\u001b[31m${text.slice(0, 9)}\u001b[0m\u001b]8;;x\u0007${text.slice(9)}`,
};

describe('the scrubber', () => {
  for (const [name, print] of Object.entries(printed)) {
    it(`[VAULTUSE-01] finds a value in ${name}`, () => {
      const text = `before ${print(value)} after`;
      const bytes = Buffer.from(text, name === 'UTF-16' ? 'latin1' : 'utf8');
      const scrubbed = Buffer.from(createScrubber([value]).bytes(bytes)).toString('latin1');
      assert.ok(scrubbed.includes(removedMark), scrubbed);
      assert.match(scrubbed, /^before /);
      assert.ok(!scrubbed.includes('s3cr3t') && !scrubbed.includes('chars'), scrubbed);
      // Negative control: another value leaves it.
      assert.equal(Buffer.from(createScrubber(['another value']).bytes(bytes)).compare(bytes), 0);
    });
  }

  it('[VAULTUSE-01] finds each line of a value with several', () => {
    const key = `-----BEGIN KEY-----\n${'Mq'.repeat(20)}\n${'Zr'.repeat(20)}\n-----END KEY-----\n`;
    const scrubber = createScrubber([key]);
    for (const line of ['Mq', 'Zr']) {
      assert.equal(scrubber.text(`12: ${line.repeat(20)};`), `12: ${removedMark};`);
    }
    assert.equal(scrubber.text(key.replaceAll('\n', '\r\n')), `${removedMark}\r\n`);
  });

  it('[VAULTUSE-02] says which values are too short to be looked for', () => {
    assert.deepEqual(tooShort(['{', 'short', '  ab  ', 'longer value']), ['{', 'short', '  ab  ']);
    assert.equal(createScrubber(['{', 'ab']).text('{"ab":{}}'), '{"ab":{}}');
    assert.ok(createScrubber(['short']).isEmpty);
  });

  it('gives values that overlap one mark, and no rest of either', () => {
    const scrubber = createScrubber(['abcdefgh1', 'fgh1ijklm']);
    assert.equal(scrubber.text('-abcdefgh1ijklm-'), `-${removedMark}-`);
    assert.equal(scrubber.text('-abcdefgh1-fgh1ijklm-'), `-${removedMark}-${removedMark}-`);
  });

  it('leaves what holds no value as the very same object', () => {
    const bytes = Buffer.from('nothing here');
    assert.equal(createScrubber([value]).bytes(bytes), bytes);
    assert.equal(createScrubber([value]).finds(bytes), false);
  });

  it('[VAULTUSE-01] finds in a stream what it finds in the whole, wherever it is cut', () => {
    const secret = fc.string({ unit: 'grapheme', minLength: 6, maxLength: 40 });
    fc.assert(
      fc.property(
        fc.array(secret, { minLength: 1, maxLength: 4 }),
        fc.array(fc.oneof(fc.string(), fc.nat({ max: 400 })), { maxLength: 8 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        (secrets, parts, sizes) => {
          const spellings = secrets.flatMap(spellingsOf);
          const whole = Buffer.concat(
            parts.map((part) =>
              typeof part === 'string'
                ? Buffer.from(part)
                : (spellings[part % (spellings.length || 1)] ?? Buffer.alloc(0)),
            ),
          );
          const scrubber = createScrubber(secrets);
          const stream = scrubber.stream();
          const out: Uint8Array[] = [];
          for (let at = 0; at < whole.length;) {
            const size = Number(sizes.next().value);
            // A chunk of a pipe is written over by the next one.
            const chunk = Uint8Array.from(whole.subarray(at, at + size));
            out.push(Uint8Array.from(stream.push(chunk)));
            chunk.fill(0);
            at += size;
          }
          out.push(stream.end());
          assert.deepEqual(
            Buffer.concat(out).toString('latin1'),
            Buffer.from(scrubber.bytes(whole)).toString('latin1'),
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  it('holds back no more than a beginning, and gives a short one out when the writer pauses', () => {
    const stream = createScrubber(['secret-value']).stream();
    assert.equal(Buffer.from(stream.push(Buffer.from('Password: s'))).toString(), 'Password: ');
    assert.equal(Buffer.from(stream.idle()).toString(), 's');
    assert.equal(Buffer.from(stream.push(Buffer.from(' secret-v'))).toString(), ' ');
    assert.equal(stream.idle().length, 0);
    assert.equal(Buffer.from(stream.push(Buffer.from('alue.'))).toString(), `${removedMark}.`);
    assert.equal(Buffer.from(stream.push(Buffer.from('secret-va'))).toString(), '');
    assert.equal(Buffer.from(stream.end()).toString(), 'secret-va');
  });

  it('loses no more than three bytes of a value to a writer that pauses after each of its own', () => {
    const stream = createScrubber(['secret-value']).stream();
    const out = Array.from('a secret-value.', (sign) => [
      stream.push(Buffer.from(sign)),
      stream.idle(),
    ]).flat();
    assert.equal(Buffer.concat([...out, stream.end()]).toString(), `a sec${removedMark}.`);
  });

  it('is not stopped by escape sequences that never end', () => {
    const scrubber = createScrubber(['secret-value']);
    for (const start of ['\u001b]0;', '\u001b[', '\u001bP', '\u001b']) {
      const text = `${start}${'0'.repeat(400)}secret-value`;
      assert.ok(!scrubber.text(text).includes('secret-value'), JSON.stringify(start));
    }
    const stream = scrubber.stream();
    const out = Buffer.concat([
      stream.push(Buffer.from('secret\u001b[3')),
      stream.push(Buffer.from('1m-value')),
      stream.end(),
    ]);
    assert.equal(out.toString(), removedMark);
  });
});
