import assert from 'node:assert/strict';
import fc from 'fast-check';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { lineStarts, offsetAt, positionAt } from '../../../../language-server/src/manifests/positions.ts';

const text = fc
  .array(fc.constantFrom('a', '\n', '\r', '\r\n', '🧪', 'é', '"'), { maxLength: 30 })
  .map((parts) => parts.join(''));

describe('positions', () => {
  it('are those of the editor’s own library', () => {
    fc.assert(
      fc.property(text, fc.nat(40), (content, offset) => {
        const document = TextDocument.create('file:///x', 'json', 1, content);
        const within = Math.min(offset, content.length);
        const position = positionAt(lineStarts(content), within);
        const expected = document.positionAt(within);
        // The library takes an offset between \r and \n for the line's end; nothing of ours ever points there.
        if (content[within - 1] !== '\r' || content[within] !== '\n') assert.deepEqual(position, expected);
      }),
    );
  });

  it('lead back to their offset, and past the end to the end', () => {
    fc.assert(
      fc.property(text, fc.nat(40), fc.nat(10), fc.nat(50), (content, offset, line, character) => {
        const starts = lineStarts(content);
        const within = Math.min(offset, content.length);
        const inLineEnd = content[within - 1] === '\r' && content[within] === '\n';
        if (!inLineEnd) assert.equal(offsetAt(starts, content, positionAt(starts, within)), within);
        const document = TextDocument.create('file:///x', 'json', 1, content);
        assert.equal(offsetAt(starts, content, { line, character }), document.offsetAt({ line, character }));
      }),
    );
  });
});
