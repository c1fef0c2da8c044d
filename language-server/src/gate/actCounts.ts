import { number, text, type Database, type Row } from '../store/database.ts';

/** How often one principal did one thing in one stretch of time. */
export interface ActCount {
  readonly principal: string;
  readonly tool: string;
  /** Milliseconds since the epoch, of the stretch's beginning. */
  readonly since: number;
  /** Of the last act in it. */
  readonly lastAt: number;
  readonly done: number;
  readonly failed: number;
  readonly refused: number;
}

/** Acts that are too many for a receipt each are counted over this long. */
export const stretchMs = 10 * 60_000;
const keptMs = 90 * 24 * 60 * 60_000;

/** The part of the ledger that holds counts in place of receipts. */
export class ActCounts {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Adds to what is there, all or nothing, and lets go of what is older than 90 days. */
  add(counts: Iterable<ActCount>, now: number): void {
    this.#database.transaction(() => {
      for (const { principal, tool, since, lastAt, done, failed, refused } of counts)
        this.#database.run(
          `insert into act_counts (principal, tool, since, last_at, done, failed, refused)
           values (?, ?, ?, ?, ?, ?, ?)
           on conflict (principal, since, tool) do update set
             last_at = max(last_at, excluded.last_at), done = done + excluded.done,
             failed = failed + excluded.failed, refused = refused + excluded.refused`,
          principal,
          tool,
          since,
          lastAt,
          done,
          failed,
          refused,
        );
      this.#database.run('delete from act_counts where last_at < ?', now - keptMs);
    });
  }

  /** The latest counts of an app's page and plugins, oldest first. */
  ofApp(app: string, most: number): ActCount[] {
    return this.#database
      .all(
        `select * from act_counts where principal = ? or (principal > ? and principal < ?)
         order by last_at desc, principal, tool limit ?`,
        `app:${app}`,
        `plugin:${app}/`,
        `plugin:${app}0`,
        most,
      )
      .map(toCount)
      .reverse();
  }
}

function toCount(row: Row): ActCount {
  return {
    principal: text(row, 'principal'),
    tool: text(row, 'tool'),
    since: number(row, 'since'),
    lastAt: number(row, 'last_at'),
    done: number(row, 'done'),
    failed: number(row, 'failed'),
    refused: number(row, 'refused'),
  };
}

/** A step of `store/schema.ts`. */
export const actCountTables = `
  create table act_counts (
    principal text not null,
    tool text not null,
    since integer not null,
    last_at integer not null,
    done integer not null,
    failed integer not null,
    refused integer not null,
    primary key (principal, since, tool)
  ) without rowid;
  create index act_counts_by_time on act_counts (last_at);
`;
