import { principal as principalSchema, type Principal } from '../../../protocol/src/gate.ts';
import { egressRecord, type EgressRecord } from '../../../protocol/src/runner.ts';
import { number, text, textOrNull, type Database } from './database.ts';

/** A request, with the card and the run that it belongs to, both empty where another principal made it. */
export type EgressEntry = EgressRecord & {
  readonly card: string;
  readonly runId: string;
  /** Who made it; absent for a card. */
  readonly principal?: Principal;
};

/**
 * A step of `schema.ts`: requests that belong to no run stand in the same table, so that one order holds for all.
 */
export const egressOfPrincipals = `
  create table egress_of_all (
    seq integer primary key autoincrement,
    run integer references runs (seq) on delete cascade,
    project text,
    principal text,
    card text not null,
    record_json text not null
  );
  insert into egress_of_all (seq, run, card, record_json) select seq, run, card, record_json from egress;
  drop table egress;
  alter table egress_of_all rename to egress;
  create index egress_by_run on egress (run);
`;

/** Every network request of every card and every other principal, allowed or not. */
export class EgressRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  append(run: number, card: string, record: EgressRecord): void {
    this.#database.run(
      'insert into egress (run, card, record_json) values (?, ?, ?)',
      run,
      card,
      JSON.stringify(record),
    );
  }

  /** The requests of a card in a run as they are stored, in their order. */
  textsOf(run: number, card: string): string[] {
    return this.#database
      .all('select record_json from egress where run = ? and card = ? order by seq', run, card)
      .map((row) => text(row, 'record_json'));
  }

  /** A request that no card made. `project` is what history hangs on: the project's scope, or its path. */
  appendOf(by: Principal, project: string, record: EgressRecord): void {
    this.#database.run(
      "insert into egress (project, principal, card, record_json) values (?, ?, '', ?)",
      project,
      by,
      JSON.stringify(record),
    );
  }

  /** The newest first; `last` is the place to go on from, where there is more. */
  list(
    project: string | undefined,
    before: number | undefined,
    limit: number,
  ): { records: EgressEntry[]; last: number | undefined } {
    const rows = this.#database.all(
      `select egress.seq as seq, card, principal, record_json, runs.id as run_id
       from egress left join runs on runs.seq = egress.run
       where egress.seq < ? and (? is null or coalesce(runs.project, egress.project) = ?)
       order by egress.seq desc limit ?`,
      before ?? Number.MAX_SAFE_INTEGER,
      project ?? null,
      project ?? null,
      limit + 1,
    );
    const shown = rows.slice(0, limit);
    const lastRow = shown.at(-1);
    return {
      records: shown.map((row) => {
        const by = textOrNull(row, 'principal');
        return {
          ...egressRecord.parse(JSON.parse(text(row, 'record_json'))),
          card: text(row, 'card'),
          runId: textOrNull(row, 'run_id') ?? '',
          ...(by === null ? {} : { principal: principalSchema.parse(by) }),
        };
      }),
      last: rows.length > limit && lastRow ? number(lastRow, 'seq') : undefined,
    };
  }
}
