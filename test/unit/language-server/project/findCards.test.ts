import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findCards } from '../../../../language-server/src/project/findCards.ts';
import { limits } from '../../../../protocol/src/limits.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('findCards', () => {
  const temporary = useTemporaryFolder();

  it('takes as many cards as a project may have, and refuses the project with one more [MAN-15]', () => {
    const make = (name: string) => mkdirSync(join(temporary(), 'cards', name), { recursive: true });
    for (const name of ['a', 'b', 'c']) make(name);
    const pattern = { parts: ['cards'], every: true, at: { start: 0, end: 1 } };
    const find = () => findCards(temporary(), [pattern], () => true, 3);
    assert.deepEqual([...find().cards.keys()], ['a', 'b', 'c']);
    assert.deepEqual(find().problems, []);
    make('d');
    assert.deepEqual([...find().cards.keys()], ['a', 'b', 'c']);
    assert.deepEqual(
      find().problems.map(({ code, severity, message }) => [code, severity, message]),
      [['too-many-cards', 'error', 'This project has more than 3 cards and does not run. Split it.']],
    );
    assert.equal(limits.cardsPerProject, 10_000);
  });
});
