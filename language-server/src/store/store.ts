import { randomBytes } from 'node:crypto';
import { ConsentRecords } from './consentRecords.ts';
import { Cursors } from './cursors.ts';
import { text, type Database } from './database.ts';
import { EgressRecords } from './egressRecords.ts';
import type { Home } from './home.ts';
import { Lease } from './lease.ts';
import { LogRecords } from './logRecords.ts';
import { openDatabase, type SetAside } from './openDatabase.ts';
import { RemoteJobRecords } from './remoteJobRecords.ts';
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
  readonly remoteJobs: RemoteJobRecords;
  /** Where the database was damaged at opening: what was kept, under which name. */
  readonly setAside: SetAside | null;
  /** Ends what engines that are gone left unfinished, and what was abandoned. Returns the number of runs. */
  recover(): number;
  /** True while the engine of this id lives; false where it ended in whatever way. */
  isAlive(engine: string): boolean;
  /** True while another engine of this home lives. */
  hasOthers(): boolean;
  /** Gives up a run of this engine whose end could not be stored: the next `recover` stores it. */
  abandon(seq: number): void;
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
  const abandoned = new Set<number>();
  const recover = () => endLostRuns(database, lease, abandoned, now());
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
    remoteJobs: new RemoteJobRecords(database),
    setAside,
    recover,
    isAlive: (engine) => {
      if (lease.isHeld(engine)) return true;
      lease.forget(engine);
      return false;
    },
    hasOthers: () =>
      database
        .all('select id from engines where id <> ?', engineId)
        .some((row) => lease.isHeld(text(row, 'id'))),
    abandon: (seq) => void abandoned.add(seq),
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
 * A run belongs to the engine that started it. Where that one is gone (its lease is free), or has given the run up, what
 * was running is `unknown`, what was waiting is `skipped`, and what had finished stays as it is.
 */
function endLostRuns(database: Database, lease: Lease, abandoned: Set<number>, at: number): number {
  // Looked at and ended in one: another engine may take up what is left at the same time.
  const { gone, lost } = database.transaction(() => {
    const engines = new Set(database.all('select id from engines').map((row) => text(row, 'id')));
    const runs = new RunRecords(database).unfinished();
    for (const { engine } of runs) engines.add(engine);
    const gone = new Set([...engines].filter((engine) => !lease.isHeld(engine)));
    const lost = runs.filter(({ seq, engine }) => gone.has(engine) || abandoned.has(seq));
    for (const { seq } of lost) endRun(database, seq, at);
    for (const engine of gone) database.run('delete from engines where id = ?', engine);
    return { gone, lost };
  });
  for (const engine of gone) lease.forget(engine);
  abandoned.clear();
  return lost.length;
}

function endRun(database: Database, seq: number, at: number): void {
  const end = 'update card_runs set state = ?, reason_json = ?, finished_at = ? where run = ? and state = ?';
  // A job for another place is noted before anything of it is sent: one without a note was not.
  const unsent = `${end} and place is not null and not exists (
    select 1 from remote_jobs where job_id = (select id from runs where seq = run) || '-' || idx)`;
  database.run(unsent, 'skipped', neverStarted, at, seq, 'running');
  database.run(end, 'unknown', interrupted, at, seq, 'running');
  database.run(end, 'skipped', neverStarted, at, seq, 'queued');
  database.run(
    "update runs set state = 'unknown', finished_at = ? where seq = ? and state = 'running'",
    at,
    seq,
  );
}
