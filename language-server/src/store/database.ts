import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { toStoreError } from './sqliteErrors.ts';

/** One row as SQLite gives it. */
export type Row = Record<string, SQLOutputValue>;

/**
 * A SQLite connection with its prepared statements. Every error names the file and the remedy (`toStoreError`).
 * The owner closes it.
 */
export class Database {
  readonly path: string;
  readonly #connection: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #depth = 0;

  /** Opens or creates `path`. Waits up to `busyMs` where another process writes. Throws `UserError`. */
  constructor(path: string, busyMs = 10_000) {
    this.path = path;
    this.#connection = this.#guard(() => new DatabaseSync(path, { timeout: busyMs }));
  }

  /** Runs statements that return nothing. */
  exec(sql: string): void {
    this.#guard(() => this.#connection.exec(sql));
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#guard(() => this.#prepare(sql).get(...values));
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#guard(() => this.#prepare(sql).all(...values));
  }

  /** Runs one statement; returns the number of rows it changed and the row id of the last insert. */
  run(sql: string, ...values: SQLInputValue[]): { changes: number; rowId: number } {
    const { changes, lastInsertRowid } = this.#guard(() => this.#prepare(sql).run(...values));
    return { changes: Number(changes), rowId: Number(lastInsertRowid) };
  }

  /**
   * Runs `work` in one immediate transaction: all of it is durable or none, and no other writer comes between. A call
   * inside another one joins it. `work` is synchronous, so that no transaction stays open while something is awaited.
   */
  transaction<T>(work: () => T): T {
    if (this.#depth > 0) return work();
    this.exec('begin immediate');
    this.#depth++;
    try {
      const result = work();
      this.exec('commit');
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    } finally {
      this.#depth--;
    }
  }

  close(): void {
    this.#statements.clear();
    if (this.#connection.isOpen) this.#connection.close();
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#connection.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** SQLite rolls back by itself on some errors (a full disk): then there is nothing left to do. */
  #rollBack(): void {
    if (this.#connection.isTransaction) this.#connection.exec('rollback');
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw toStoreError(this.path, error);
    }
  }
}

/** A column that the schema says is text. */
export function text(row: Row, column: string): string {
  return String(row[column]);
}

/** A column that the schema says is a number. */
export function number(row: Row, column: string): number {
  return Number(row[column]);
}

/** A text column that may be null. */
export function textOrNull(row: Row, column: string): string | null {
  const value = row[column];
  return value === null || value === undefined ? null : String(value);
}

/** A number column that may be null. */
export function numberOrNull(row: Row, column: string): number | null {
  const value = row[column];
  return value === null || value === undefined ? null : Number(value);
}
