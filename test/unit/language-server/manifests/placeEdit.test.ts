import assert from 'node:assert/strict';
import { placeEdit } from '../../../../language-server/src/manifests/placeEdit.ts';

function edited(text: string, place: string): string {
  return placeEdit(text, place)
    .toSorted((a, b) => b.start - a.start)
    .reduce((all, edit) => all.slice(0, edit.start) + edit.text + all.slice(edit.end), text);
}

const bare = '{\n  "version": 1,\n  "title": "A" // kept\n}\n';
const withNetwork = '{\n\t"permissions": {\n\t\t"network": ["a.test"]\n\t}\n}\n';

describe('the change of a card’s place', () => {
  it('[PLACEUI-02] adds it as the text is indented, and keeps comments', () => {
    const text = edited(bare, 'ssh:lab');
    assert.ok(text.includes('// kept'));
    assert.match(text, /\n {2}"permissions": \{\n {4}"executionService": "ssh:lab"\n {2}\}/);
    assert.match(edited(withNetwork, 'vm'), /\["a\.test"\],\n\t\t"executionService": "vm"\n\t\}/);
  });

  it('[PLACEUI-02] replaces it, and nothing else', () => {
    const text = edited(withNetwork, 'ssh:lab');
    assert.equal(edited(text, 'worker:big'), text.replace('ssh:lab', 'worker:big'));
  });

  it('[PLACEUI-02] takes it out for this computer, with permissions where it is alone', () => {
    assert.deepEqual(JSON.parse(edited(edited('{"version":1}', 'vm'), 'local')), { version: 1 });
    assert.deepEqual(JSON.parse(edited(edited(withNetwork, 'vm'), 'local')), JSON.parse(withNetwork));
  });

  it('[PLACEUI-02] changes nothing where nothing is to change', () => {
    assert.deepEqual(placeEdit(bare, 'local'), []);
    const text = edited(bare, 'vm');
    assert.equal(edited(text, 'vm'), text);
  });

  for (const text of ['', '{', '[]', '{"permissions": 7}', '{"a": 1,,}'])
    it(`[PLACEUI-02] refuses ${JSON.stringify(text)}`, () => {
      assert.throws(() => placeEdit(text, 'vm'), /has errors, so nothing was changed/);
    });

  for (const place of ['', 'ssh', 'ssh:-x', 'moon:1', 'local:x'])
    it(`[PLACEUI-02] refuses the place ${JSON.stringify(place)}`, () => {
      assert.throws(() => placeEdit('{}', place), /names no place/);
    });
});
