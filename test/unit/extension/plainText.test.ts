import assert from 'node:assert/strict';
import fc from 'fast-check';
import { hasHidden, plain, short } from '../../../extension/src/plainText.ts';

describe('plain', () => {
  const rows: [what: string, value: string, expected: string][] = [
    ['ordinary text', 'Monthly means – größe 5 €, 東京', 'Monthly means – größe 5 €, 東京'],
    ['a bidirectional override', 'a\u202eb', 'a\\u{202E}b'],
    ['isolates', '\u2066x\u2069', '\\u{2066}x\\u{2069}'],
    ['a zero-width space', 'ap\u200bi.example.org', 'ap\\u{200B}i.example.org'],
    ['a soft hyphen', 'a\u00adb', 'a\\u{AD}b'],
    ['a no-break space', 'a\u00a0b', 'a\\u{A0}b'],
    ['a Hangul filler', 'a\u3164b', 'a\\u{3164}b'],
    ['a tag character', 'a\u{e0041}b', 'a\\u{E0041}b'],
    ['a variation selector', 'a\ufe0fb', 'a\\u{FE0F}b'],
    ['a lone surrogate', 'a\ud800b', 'a\\u{D800}b'],
    ['line breaks and tabs', 'a\nb\tc', 'a\\u{A}b\\u{9}c'],
    ['an ANSI code', '\u001b[31mred', '\\u{1B}[31mred'],
    ['an icon', '$(shield) Accepted', '$ (shield) Accepted'],
    ['a link', '[Yes](command:x)', '[Yes] (command:x)'],
  ];
  for (const [what, value, expected] of rows) {
    it(`shows ${what}`, () => {
      assert.equal(plain(value), expected);
    });
  }

  it('leaves nothing hidden and no syntax in any text, and changes none twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const text = plain(value);
        assert.ok(!hasHidden(text));
        assert.ok(!text.includes('$(') && !text.includes(']('));
        assert.equal(plain(text), text);
      }),
    );
  });

  it('cuts only where asked', () => {
    assert.equal(short('abcdef', 4), 'abc…');
    assert.equal(short('abcd', 4), 'abcd');
    assert.equal(plain('x'.repeat(10_000)).length, 10_000);
  });
});
