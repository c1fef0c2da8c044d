import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Cursors } from '../../../../language-server/src/store/cursors.ts';
import { UserError } from '../../../../protocol/src/errors.ts';

const refused = (error: unknown) => error instanceof UserError && error.code === 'bad-message';

describe('cursors', () => {
  const cursors = new Cursors();

  it('[STO-06] opens what it sealed, for the same list alone', () => {
    const cursor = cursors.seal('runs a', 12);
    assert.equal(cursors.open('runs a', cursor), 12);
    assert.throws(() => cursors.open('runs b', cursor), refused);
    assert.throws(() => cursors.open('egress a', cursor), refused);
  });

  it('[STO-06] refuses the cursor of an earlier start', () => {
    assert.throws(() => new Cursors().open('runs a', cursors.seal('runs a', 12)), refused);
  });

  it('[STO-06] refuses every altered or made-up cursor', () => {
    const sealed = cursors.seal('runs a', 12);
    const [, signature = ''] = sealed.split('.');
    const table = [
      '',
      '12',
      '12.',
      `13.${signature}`,
      `012.${signature}`,
      `12.${signature}=`,
      `12.${signature.slice(1)}`,
      `${sealed} `,
      ` ${sealed}`,
      `-12.${signature}`,
      `1e1.${signature}`,
    ];
    for (const cursor of table) assert.throws(() => cursors.open('runs a', cursor), refused, cursor);
    fc.assert(
      fc.property(fc.string(), (cursor) => assert.throws(() => cursors.open('runs a', cursor), refused)),
    );
    fc.assert(
      fc.property(fc.nat(sealed.length - 1), fc.stringMatching(/^[0-9A-Za-z_.-]$/), (at, letter) => {
        const altered = sealed.slice(0, at) + letter + sealed.slice(at + 1);
        fc.pre(altered !== sealed);
        assert.throws(() => cursors.open('runs a', altered), refused, altered);
      }),
    );
  });
});
