import { egressRecord, type EgressRecord } from '../../../protocol/src/runner.ts';
import { number, text, type Database } from './database.ts';

/** A request that a card made, with the card and the run that it belongs to. */
export type EgressEntry = EgressRecord & { readonly card: string; readonly runId: string };

/** Every network request of every card, allowed or not. */
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

  /** The newest first; `last` is the place to go on from, where there is more. */
  list(
    project: string | undefined,
    before: number | undefined,
    limit: number,
  ): { records: EgressEntry[]; last: number | undefined } {
    const rows = this.#database.all(
      `select egress.seq as seq, card, record_json, runs.id as run_id from egress join runs on runs.seq = egress.run
       where egress.seq < ? and (? is null or project = ?) order by egress.seq desc limit ?`,
      before ?? Number.MAX_SAFE_INTEGER,
      project ?? null,
      project ?? null,
      limit + 1,
    );
    const shown = rows.slice(0, limit);
    const lastRow = shown.at(-1);
    return {
      records: shown.map((row) => ({
        ...egressRecord.parse(JSON.parse(text(row, 'record_json'))),
        card: text(row, 'card'),
        runId: text(row, 'run_id'),
      })),
      last: rows.length > limit && lastRow ? number(lastRow, 'seq') : undefined,
    };
  }
}
