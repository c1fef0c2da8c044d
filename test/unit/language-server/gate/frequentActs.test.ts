import assert from 'node:assert/strict';
import { BridgeError } from '../../../../protocol/src/bridge.ts';
import { countLines } from '../../../../language-server/src/apps/countLines.ts';
import { ActCounts, stretchMs, type ActCount } from '../../../../language-server/src/gate/actCounts.ts';
import { FrequentActs } from '../../../../language-server/src/gate/frequentActs.ts';
import { storageAct } from '../../../../language-server/src/plugins/storageAct.ts';
import { openHome } from '../../../../language-server/src/store/home.ts';
import { openStore, type Store } from '../../../../language-server/src/store/store.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('frequent acts', () => {
  const folder = useTemporaryFolder();
  let store: Store;
  let clock: number;
  let timers: (() => void)[];
  let problems: unknown[];
  let acts: FrequentActs;
  let counts: ActCounts;
  beforeEach(() => {
    clock = stretchMs * 100;
    timers = [];
    problems = [];
    store = openStore(openHome(folder()), () => clock);
    counts = new ActCounts(store.database);
    acts = new FrequentActs({
      counts,
      now: () => clock,
      setTimer: (run) => {
        timers.push(run);
        return () => void timers.splice(timers.indexOf(run), 1);
      },
      onProblem: (error) => void problems.push(error),
    });
  });
  afterEach(() => store.close());

  const put = storageAct('app:notes', 'notes', 'files.put', 16);
  const short = (found: readonly ActCount[]) =>
    found.map(({ principal, tool, done, failed, refused }) => [principal, tool, done, failed, refused]);

  it('[GATE-16] count what was done, what failed and what was refused, in one write', () => {
    for (let n = 0; n < 1000; n++)
      assert.equal(
        acts.pass(put, () => n),
        n,
      );
    assert.throws(
      () =>
        acts.pass(put, () => {
          throw new BridgeError('quota', 'full');
        }),
      { code: 'quota' },
    );
    let reached = false;
    assert.throws(
      () => acts.pass(storageAct('app:notes', 'board', 'files.put', 16), () => (reached = true)),
      { code: 'not-allowed' },
    );
    assert.throws(() => acts.pass(storageAct('app:notes', 'notes', 'files.put', 0), () => (reached = true)), {
      code: 'not-allowed',
    });
    assert.equal(reached, false);
    assert.deepEqual(counts.ofApp('notes', 10), []);
    assert.equal(timers.length, 1, 'one write is planned, however many acts there were');
    timers[0]?.();
    assert.deepEqual(short(counts.ofApp('notes', 10)), [['app:notes', 'files.put', 1000, 1, 2]]);
    assert.equal(timers.length, 0, 'nothing goes on when nothing is done');
  });

  it('[GATE-16] are added up over ten minutes, by who did what', () => {
    const act = (
      principal: 'app:notes' | 'plugin:notes/search' | 'plugin:notes-2/x',
      app: string,
      tool: string,
    ) => {
      acts.pass(storageAct(principal, app, tool, 16), () => undefined);
      acts.flush();
    };
    act('app:notes', 'notes', 'files.get');
    clock += 1000;
    act('app:notes', 'notes', 'files.get');
    act('plugin:notes/search', 'notes', 'storage.put');
    act('plugin:notes-2/x', 'notes-2', 'storage.put');
    clock += stretchMs;
    act('app:notes', 'notes', 'files.get');
    assert.deepEqual(short(counts.ofApp('notes', 10)), [
      ['plugin:notes/search', 'storage.put', 1, 0, 0],
      ['app:notes', 'files.get', 2, 0, 0],
      ['app:notes', 'files.get', 1, 0, 0],
    ]);
    assert.deepEqual(
      countLines(counts.ofApp('notes', 10)).map(({ source, text }) => `${source} ${text}`),
      [
        'plugin search: storage.put: once in ten minutes',
        'page files.get: 2 times in ten minutes',
        'page files.get: once in ten minutes',
      ],
    );
    assert.deepEqual(
      countLines([
        { principal: 'app:notes', tool: 'files.put', since: 0, lastAt: 0, done: 5, failed: 1, refused: 2 },
      ])[0]?.text,
      'files.put: 5 times in ten minutes, once without success, 2 times refused',
    );
  });

  it('are let go of after 90 days, and a ledger that fails stops no act', () => {
    acts.pass(put, () => undefined);
    acts.flush();
    clock += 91 * 24 * 60 * 60_000;
    acts.pass(put, () => undefined);
    acts.flush();
    assert.equal(counts.ofApp('notes', 10).length, 1);
    store.close();
    acts.pass(put, () => undefined);
    acts.flush();
    assert.equal(problems.length, 1);
    store = openStore(openHome(folder()), () => clock);
  });
});
