import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Database, type Row } from '../../../../language-server/src/store/database.ts';
import { writeProject } from '../../../support/projectFolder.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { TestEngine } from '../../../support/testEngine.ts';

type All = (this: Database, sql: string, ...values: never[]) => Row[];

describe('a run of many cards', () => {
  const folder = useTemporaryFolder();

  /** Rows of consents that a run of so many cards reads. */
  async function consentRows(count: number): Promise<number> {
    const network = { permissions: { network: ['example.org'] } };
    const cards = Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, network]));
    const root = writeProject(join(folder(), `project-${count}`), cards);
    const engine = new TestEngine(join(folder(), `home-${count}`), root);
    assert.equal(await engine.acceptAll(), count);
    const whole = Object.getOwnPropertyDescriptor(Database.prototype, 'all') as TypedPropertyDescriptor<All>;
    let rows = 0;
    Object.defineProperty(Database.prototype, 'all', {
      ...whole,
      value(this: Database, sql: string, ...values: never[]): Row[] {
        const found = whole.value?.call(this, sql, ...values) ?? [];
        if (sql.includes('from consents')) rows += found.length;
        return found;
      },
    });
    try {
      const { cards: ended } = await engine.run();
      assert.ok(ended.every(({ status }) => status.state === 'done'));
    } finally {
      Object.defineProperty(Database.prototype, 'all', whole);
      await engine.dispose();
    }
    return rows;
  }

  it('reads what was accepted in proportion to its cards, though each step asks anew', async () => {
    const [few, many] = [await consentRows(10), await consentRows(40)];
    assert.ok(many <= 5 * few, `${few} rows for 10 cards, ${many} for 40`);
  });
});
