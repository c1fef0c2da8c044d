import { number, numberOrNull, text, type Database } from '../../store/database.ts';

/** A provider request as it was sent, without key. */
export interface SentRequest {
  readonly at: number;
  readonly connection: string;
  readonly path: string;
  readonly body: string;
  readonly status: number | null;
  readonly receivedBytes: number;
}

/** What is kept of one body, and how many requests of one conversation. */
const keptBody = 256 * 1024;
const keptRequests = 100;

/** The requests of conversations as they were sent. Bounded: of a long body the beginning and the end stay. */
export class SentRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the id by which `end` finds it. */
  begin(num: number, at: number, connection: string, path: string, body: string): number {
    const { rowId } = this.#database.run(
      'insert into sent_requests (conversation, at, connection, path, body) values (?, ?, ?, ?, ?)',
      num,
      at,
      connection,
      path,
      bound(body),
    );
    this.#database.run(
      `delete from sent_requests where conversation = ? and seq <= (
         select seq from sent_requests where conversation = ? order by seq desc limit 1 offset ?)`,
      num,
      num,
      keptRequests,
    );
    return rowId;
  }

  end(id: number, status: number | null, receivedBytes: number): void {
    this.#database.run(
      'update sent_requests set status = ?, received_bytes = ? where seq = ?',
      status,
      receivedBytes,
      id,
    );
  }

  /** Newest first, before the one with this id. */
  list(num: number, before: number, limit: number): { readonly id: number; readonly request: SentRequest }[] {
    return this.#database
      .all(
        'select * from sent_requests where conversation = ? and seq < ? order by seq desc limit ?',
        num,
        before,
        limit,
      )
      .map((row) => ({
        id: number(row, 'seq'),
        request: {
          at: number(row, 'at'),
          connection: text(row, 'connection'),
          path: text(row, 'path'),
          body: text(row, 'body'),
          status: numberOrNull(row, 'status'),
          receivedBytes: number(row, 'received_bytes'),
        },
      }));
  }
}

function bound(body: string): string {
  if (body.length <= keptBody) return body;
  const half = keptBody / 2;
  const cut = body.length - keptBody;
  return `${body.slice(0, half).toWellFormed()}\n[… ${cut} characters are not kept …]\n${body.slice(-half).toWellFormed()}`;
}
