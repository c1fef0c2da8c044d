import { randomBytes } from 'node:crypto';
import { ConsentRecords } from './consentRecords.ts';
import { Cursors } from './cursors.ts';
import { text, type Database } from './database.ts';
import { EgressRecords } from './egressRecords.ts';
import type { Home } from './home.ts';
import { Lease } from './lease.ts';
import { LogRecords } from './logRecords.ts';
import { openDatabase, type SetAside } from './openDatabase.ts';
import { ResultRecords } from './resultRecords.ts';
import { RunRecords } from './runRecords.ts';

/** Everything that is remembered, opened by one engine. Other engines may have it open too. */
export interface Store {
  readonly engineId: string;
  readonly home: Home;
  readonly database: Database;
  readonly runs: RunRecords;
  readonly logs: LogRecords;
  readonly results: ResultRecords;
  readonly consents: ConsentRecords;
  readonly egress: EgressRecords;
  readonly cursors: Cursors;
  /** Where the database was damaged at opening: what was kept, under which name. */
  readonly setAside: SetAside | null;
  /** Ends what engines that are gone left unfinished. Returns the number of runs. */
  recover(): number;
  close(): void;
}

/** Opens the database of this home and registers as an engine. The owner closes it. Throws `UserError`. */
export function openStore(home: Home, now: () => number = Date.now): Store {
  const { database, setAside } = openDatabase(home.database, now);
  const engineId = `e${randomBytes(8).toString('hex')}`;
  let lease: Lease;
  try {
    lease = new Lease(home.leases, engineId);
    database.run('insert into engines (id, pid, opened_at) values (?, ?, ?)', engineId, process.pid, now());
  } catch (error) {
    database.close();
    throw error;
  }
  const recover = () => recoverEngines(database, lease, now());
  recover();
  return {
    engineId,
    home,
    database,
    runs: new RunRecords(database),
    logs: new LogRecords(database),
    results: new ResultRecords(database),
    consents: new ConsentRecords(database),
    egress: new EgressRecords(database),
    cursors: new Cursors(),
    setAside,
    recover,
    close: () => {
      database.run('delete from engines where id = ?', engineId);
      database.close();
      lease.release();
    },
  };
}

const interrupted = JSON.stringify({
  kind: 'interrupted',
  detail: 'Sallyport ended while this card ran; how it ended is not known',
  remedy: 'Run it again.',
});
const neverStarted = JSON.stringify({
  kind: 'interrupted',
  detail: 'Sallyport ended before this card started',
  remedy: 'Run it again.',
});

/**
 * A run belongs to the engine that started it. Where that one is gone (no lease, or never registered here), what was
 * running is `unknown`, what was waiting is `skipped`, and what had finished stays as it is.
 */
function recoverEngines(database: Database, lease: Lease, at: number): number {
  const gone = new Set<string>();
  const owners = database.all(
    "select id from engines union select distinct engine as id from runs where state = 'running'",
  );
  for (const row of owners) {
    const id = text(row, 'id');
    if (!lease.isHeld(id)) gone.add(id);
  }
  let recovered = 0;
  for (const engine of gone) {
    recovered += database.transaction(() => endRunsOf(database, engine, at));
    lease.forget(engine);
  }
  return recovered;
}

function endRunsOf(database: Database, engine: string, at: number): number {
  const open = "(select seq from runs where engine = ? and state = 'running')";
  database.run(
    `update card_runs set state = 'unknown', reason_json = ?, finished_at = ? where state = 'running' and run in ${open}`,
    interrupted,
    at,
    engine,
  );
  database.run(
    `update card_runs set state = 'skipped', reason_json = ?, finished_at = ? where state = 'queued' and run in ${open}`,
    neverStarted,
    at,
    engine,
  );
  const { changes } = database.run(
    "update runs set state = 'unknown', finished_at = ? where engine = ? and state = 'running'",
    at,
    engine,
  );
  database.run('delete from engines where id = ?', engine);
  return changes;
}
