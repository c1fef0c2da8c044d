import assert from 'node:assert/strict';
import fc from 'fast-check';
import { terminalPieces, terminalTextUnits } from '../../../protocol/src/placeTerminal.ts';

describe('pieces of what is typed into a terminal', () => {
  it('are the text again, each within the bound, and no character is cut', () => {
    const long = fc.tuple(fc.string({ unit: 'grapheme' }), fc.nat(3)).map(([text, more]) => {
      const filler = 'a'.repeat(terminalTextUnits * more + (more > 0 ? terminalTextUnits - 1 : 0));
      return `${filler}🙂${text}`;
    });
    fc.assert(
      fc.property(long, (text) => {
        const pieces = terminalPieces(text);
        assert.equal(pieces.join(''), text);
        for (const piece of pieces) {
          assert.ok(piece.length > 0 && piece.length <= terminalTextUnits);
          assert.equal(piece.isWellFormed(), text.isWellFormed() || piece.isWellFormed());
        }
      }),
    );
  });

  it('of nothing are none', () => {
    assert.deepEqual(terminalPieces(''), []);
  });
});
