import assert from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../../../../language-server/src/store/database.ts';
import { openHome, type Home } from '../../../../language-server/src/store/home.ts';
import { markDamaged, openDatabase } from '../../../../language-server/src/store/openDatabase.ts';
import { migrate } from '../../../../language-server/src/store/schema.ts';
import { watchLeases } from '../../../../language-server/src/store/lease.ts';
import { openStore, type Store } from '../../../../language-server/src/store/store.ts';
import { UserError, type ErrorCode } from '../../../../protocol/src/errors.ts';
import { mountSmallDisk } from '../../../support/smallDisk.ts';
import { until } from '../../../support/until.ts';
import { asOrdinaryUser, useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const failsWith = (code: ErrorCode, path: string) => (error: unknown) => {
  assert.ok(error instanceof UserError, String(error));
  assert.equal(error.code, code);
  assert.ok(error.message.includes(path), error.message);
  return true;
};

describe('store', () => {
  const folder = useTemporaryFolder();
  const opened: Store[] = [];
  let home: Home;
  const open = () => {
    const store = openStore(home);
    opened.push(store);
    return store;
  };
  const newRun = (store: Store, engine = store.engineId, id = `r${Math.random().toString(16).slice(2)}`) =>
    store.runs.insert({ id, engine, project: 'p', root: '/p', projectName: 'p', startedAt: 1 });
  beforeEach(() => {
    home = openHome(join(folder(), 'home'));
  });
  afterEach(() => {
    for (const store of opened.splice(0)) store.close();
  });

  it('[STO-01] keeps everything private to the person', () => {
    chmodSync(home.path, 0o755);
    chmodSync(home.database, 0o644);
    openHome(home.path);
    open();
    for (const name of readdirSync(home.path, { recursive: true, encoding: 'utf8' })) {
      const { mode } = statSync(join(home.path, name));
      assert.ok((mode & 0o077) === 0 || name.startsWith('engines/'), `${name} ${mode.toString(8)}`);
    }
    assert.equal(statSync(home.path).mode & 0o777, 0o700);
  });

  it('ends no run of an engine that is gone while another engine takes it up', () => {
    const [one, other] = [open(), open()];
    const seq = newRun(one, 'e-of-before');
    const { database } = one;
    const transaction = database.transaction.bind(database);
    database.transaction = (work) => {
      other.runs.takeOver(seq, other.engineId);
      return transaction(work);
    };
    one.recover();
    assert.equal(one.runs.summary(seq)?.state, 'running');
    assert.equal(one.runs.engineOf(seq), other.engineId);
  });

  /** Ways in which a database file goes bad. */
  const damages: readonly (readonly [string, (path: string) => void])[] = [
    ['cut to half', (path) => truncateSync(path, Math.floor(statSync(path).size / 2 / 4096) * 4096 + 100)],
    ['overwritten from the start', (path) => writeFileSync(path, 'this is no database'.repeat(500))],
    [
      'with a torn page',
      (path) => {
        const bytes = readFileSync(path);
        bytes.fill(0xa5, 4096, 3 * 4096);
        writeFileSync(path, bytes);
      },
    ],
  ];
  for (const [what, damage] of damages) {
    it(`[STO-02] sets a database ${what} aside under another name and goes on with a fresh one`, () => {
      const store = openStore(home);
      newRun(store);
      store.close();
      writeFileSync(join(home.blobs, 'kept'), 'x');
      damage(home.database);
      const next = open();
      assert.ok(next.setAside);
      assert.ok(statSync(next.setAside.path).size > 0);
      assert.ok(next.setAside.path.startsWith(`${home.database}.damaged-`));
      assert.equal(next.runs.list(undefined, undefined, 9).runs.length, 0);
      newRun(next);
      assert.ok(readdirSync(home.blobs).includes('kept'));
    });
  }

  it('[STO-02] an undamaged database is not set aside (control)', () => {
    const store = openStore(home);
    newRun(store);
    store.close();
    markDamaged(home.database);
    const next = openDatabase(home.database);
    assert.equal(next.setAside, null);
    next.database.close();
  });

  it('[STO-03] names the file and the remedy where it can’t be written, and leaves it as it was', async () => {
    openStore(home).close();
    chmodSync(home.database, 0o400);
    chmodSync(home.path, 0o500);
    const bytes = readFileSync(home.database);
    await asOrdinaryUser(folder(), async () => {
      assert.throws(() => openStore(home), failsWith('unreadable', home.path));
      assert.throws(() => openHome(join(home.path, 'inner')), failsWith('unreadable', 'SALLYPORT_HOME'));
    });
    assert.deepEqual(readFileSync(home.database), bytes);
  });

  it('[STO-03] a full disk writes nothing of a transaction, and the next one works', () => {
    const { database } = open();
    const fill = () =>
      database.transaction(() => {
        for (let at = 0; at < 1000; at++)
          database.run('insert into captures values (?, ?, ?)', `f${at}`, 'x'.repeat(1000), '{}');
      });
    const { page_count: pages } = database.get('pragma page_count') ?? {};
    database.exec(`pragma max_page_count = ${Number(pages) + 20}`);
    assert.throws(fill, failsWith('disk-full', home.database));
    assert.equal(database.all('select * from captures').length, 0);
    database.exec('pragma max_page_count = 100000');
    fill();
    assert.equal(database.all('select * from captures').length, 1000);
  });

  it('[STO-03] a disk that is full says so, keeps what was there, and is used again when there is space', function () {
    const disk = join(folder(), 'disk');
    const unmount = mountSmallDisk(disk);
    if (!unmount) return this.skip();
    try {
      home = openHome(join(disk, 'home'));
      const store = open();
      const kept = newRun(store);
      writeFileSync(join(disk, 'ballast'), Buffer.alloc(100_000));
      const fill = () => {
        for (let at = 0; at < 1000; at++)
          store.database.run('insert into captures values (?, ?, ?)', `f${at}`, 'x'.repeat(10_000), '{}');
      };
      assert.throws(fill, failsWith('disk-full', home.database));
      assert.equal(store.runs.summary(kept)?.state, 'running');
      rmSync(join(disk, 'ballast'));
      store.database.exec('delete from captures');
      newRun(store);
      const again = open();
      assert.equal(again.setAside, null);
      assert.equal(again.runs.list(undefined, undefined, 9).runs.length, 2);
    } finally {
      for (const store of opened.splice(0)) store.close();
      unmount();
    }
  });

  it('[STO-04] refuses a database of a newer version and leaves it alone', () => {
    const { database } = open();
    const { user_version: version } = database.get('pragma user_version') ?? {};
    database.exec('pragma user_version = 99');
    assert.throws(() => openStore(home), failsWith('conflict', 'newer'));
    assert.equal(readdirSync(home.path).filter((name) => name.includes('damaged')).length, 0);
    database.exec(`pragma user_version = ${String(version)}`);
  });

  it('reaches the same version from any earlier one, once, with two engines at it', () => {
    const path = join(folder(), 'other.db');
    const one = new Database(path);
    const other = new Database(path);
    migrate(one, ['create table a (x)']);
    migrate(other, ['create table a (x)', 'create table b (x)']);
    migrate(other, ['create table a (x)', 'create table b (x)']);
    assert.equal(one.all("select name from sqlite_master where type = 'table'").length, 2);
    one.close();
    other.close();
  });

  it('[STO-05] tells a living engine from one that is gone', () => {
    const living = open();
    const gone = openStore(home);
    const seqs = [newRun(living), newRun(gone), newRun(gone, 'e-of-before')];
    gone.database.run('insert into engines (id, pid, opened_at) values (?, 1, 1)', 'e-never-there');
    assert.equal(living.recover(), 1);
    assert.deepEqual(
      seqs.map((seq) => living.runs.summary(seq)?.state),
      ['running', 'running', 'unknown'],
    );
    gone.close();
    assert.equal(living.recover(), 1);
    assert.deepEqual(
      seqs.map((seq) => living.runs.summary(seq)?.state),
      ['running', 'unknown', 'unknown'],
    );
    assert.deepEqual(
      readdirSync(home.leases).filter((name) => !name.includes('-journal')),
      [living.engineId],
    );
  });

  it('[STO-05] tells whether another engine lives, and a look is no change', async () => {
    const one = open();
    assert.equal(one.hasOthers(), false);
    const other = openStore(home);
    writeFileSync(join(home.leases, 'e-left'), '');
    one.database.run("insert into engines (id, pid, opened_at) values ('e-left', 1, 0)");
    let changes = 0;
    const stop = watchLeases(home.leases, () => (changes += 1));
    assert.equal(one.hasOthers(), true);
    assert.deepEqual([one.isAlive(other.engineId), one.isAlive('e-unknown')], [true, false]);
    // What is told of the folder comes in order: this change is the first.
    other.close();
    assert.equal(one.hasOthers(), false);
    await until(() => changes > 0);
    stop?.();
    assert.ok(changes <= 2, String(changes));
    assert.equal(
      watchLeases(join(home.path, 'nothing'), () => undefined),
      undefined,
    );
  });

  it('a second engine writes while the first reads', () => {
    const one = open();
    const other = open();
    one.database.transaction(() => {
      newRun(one);
      assert.equal(other.runs.list(undefined, undefined, 9).runs.length, 0);
    });
    newRun(other);
    assert.equal(one.runs.list(undefined, undefined, 9).runs.length, 2);
  });
});
