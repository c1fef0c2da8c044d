import { UserError } from '../../../protocol/src/errors.ts';
import { conversationTables } from '../agent/conversations/tables.ts';
import { appInstallations, appTables } from '../apps/tables.ts';
import { actCountTables } from '../gate/actCounts.ts';
import { gateTables } from '../gate/ledger.ts';
import { historyTables } from '../history/tables.ts';
import { pluginTables } from '../plugins/pluginRecords.ts';
import { number, type Database } from './database.ts';
import { egressOfPrincipals } from './egressRecords.ts';
import { remoteJobTables } from './remoteJobRecords.ts';

/**
 * The database, one statement list for each version: version N is reached by running the first N. A published entry
 * is never edited. JSON columns end in `_json`; times are milliseconds since the epoch and are shown, never ordered by:
 * order is `seq`, which no clock can turn back.
 */
const migrations: readonly string[] = [
  `
  create table engines (id text primary key, pid integer not null, opened_at integer not null) without rowid;

  create table runs (
    seq integer primary key autoincrement,
    id text not null unique,
    engine text not null,
    project text not null,
    root text not null,
    project_name text not null,
    state text not null,
    started_at integer not null,
    finished_at integer,
    counts_json text,
    cached_cards integer
  );
  create index runs_by_project on runs (project, seq);
  create index runs_by_state on runs (state);

  create table card_runs (
    run integer not null references runs (seq) on delete cascade,
    idx integer not null,
    card text not null,
    title text not null,
    runtime text not null,
    view_output text,
    state text not null,
    cached integer not null,
    reason_json text,
    exit_code integer,
    isolation text,
    run_ms real,
    wait_ms real,
    started_at integer,
    finished_at integer,
    output_bytes integer not null,
    key text,
    result integer,
    why_json text,
    log_lines integer not null,
    log_cut_bytes integer not null,
    primary key (run, idx)
  ) without rowid;
  create index card_runs_by_card on card_runs (card, run);

  create table results (id integer primary key autoincrement, key text not null, outputs_json text not null);
  create index results_by_key on results (key, id);
  create table key_parts (key text primary key, parts_json text not null) without rowid;
  create table clean_ups (count integer not null);
  insert into clean_ups values (0);
  create table captures (folder text primary key, signature text not null, artifact_json text not null) without rowid;

  create table log_chunks (
    seq integer primary key,
    run integer not null references runs (seq) on delete cascade,
    idx integer not null,
    first_line integer not null,
    line_count integer not null,
    bytes integer not null,
    data text not null
  );
  create index log_chunks_by_line on log_chunks (run, idx, first_line);

  create table egress (
    seq integer primary key autoincrement,
    run integer not null references runs (seq) on delete cascade,
    card text not null,
    record_json text not null
  );
  create index egress_by_run on egress (run);

  create table consents (
    scope text not null,
    card text not null,
    key text not null,
    permission_json text not null,
    accepted_at integer not null,
    primary key (scope, card, key)
  ) without rowid;
  `,
  gateTables,
  conversationTables,
  historyTables,
  egressOfPrincipals,
  remoteJobTables,
  appTables,
  pluginTables,
  appInstallations,
  actCountTables,
];

/** Brings the database to the newest version. Throws `conflict` where a newer Sallyport has written it. */
export function migrate(database: Database, steps: readonly string[] = migrations): void {
  if (versionOf(database) === steps.length) return;
  database.transaction(() => {
    const version = versionOf(database);
    if (version > steps.length) {
      throw new UserError(
        'conflict',
        `${database.path} was written by a newer Sallyport. Update this one, or set SALLYPORT_HOME to another folder.`,
        { path: database.path },
      );
    }
    for (const step of steps.slice(version)) database.exec(step);
    database.exec(`pragma user_version = ${steps.length}`);
  });
}

function versionOf(database: Database): number {
  return number(database.get('pragma user_version') ?? {}, 'user_version');
}
