import type { LogLine } from '../../../protocol/src/engine.ts';
import { number, text, type Database, type Row } from './database.ts';
import { readLines, type LogChunk } from './logLines.ts';
import type { CardRunKey } from './runRecords.ts';

/** A window of a card's log. */
export interface LogWindow {
  readonly lines: LogLine[];
  readonly totalLines: number;
  /** Bytes that the log limit left out. */
  readonly cutBytes: number;
}

/** The logs of card runs, as chunks with a line index. */
export class LogRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Stores this in place of what was stored of the log, in one step. */
  replace(key: CardRunKey, chunks: readonly LogChunk[], totalLines: number): void {
    this.#database.transaction(() => {
      this.#database.run('delete from log_chunks where run = ? and idx = ?', key.run, key.index);
      this.append(key, chunks, totalLines);
    });
  }

  append(key: CardRunKey, chunks: readonly LogChunk[], totalLines: number): void {
    this.#database.transaction(() => {
      for (const chunk of chunks) {
        this.#database.run(
          'insert into log_chunks (run, idx, first_line, line_count, bytes, data) values (?, ?, ?, ?, ?, ?)',
          key.run,
          key.index,
          chunk.firstLine,
          chunk.lineCount,
          chunk.bytes,
          chunk.data,
        );
      }
      this.#database.run(
        'update card_runs set log_lines = ? where run = ? and idx = ?',
        totalLines,
        key.run,
        key.index,
      );
    });
  }

  /** Lines `fromLine` … `fromLine + count - 1`, as far as there are any. */
  read(key: CardRunKey, fromLine: number, count: number): Pick<LogWindow, 'lines'> {
    const end = fromLine + count;
    const found = this.#database.all(
      `select first_line, line_count, bytes, data from log_chunks
       where run = ? and idx = ? and line_count > 0 and first_line < ? and first_line >= coalesce(
         (select max(first_line) from log_chunks where run = ? and idx = ? and line_count > 0 and first_line <= ?), 0)
       order by first_line`,
      key.run,
      key.index,
      end,
      key.run,
      key.index,
      fromLine,
    );
    const lines = found.flatMap((row) => readLines(toChunk(row), fromLine, end));
    for (const [line, bytes] of this.#continued(key, fromLine, end)) {
      const shown = lines[line - fromLine];
      if (shown) lines[line - fromLine] = { ...shown, cutBytes: shown.cutBytes + bytes };
    }
    return { lines };
  }

  #continued(key: CardRunKey, from: number, end: number): Map<number, number> {
    const rows = this.#database.all(
      `select first_line, sum(bytes) as bytes from log_chunks
       where run = ? and idx = ? and line_count = 0 and first_line >= ? and first_line < ? group by first_line`,
      key.run,
      key.index,
      from,
      end,
    );
    return new Map(rows.map((row) => [number(row, 'first_line'), number(row, 'bytes')]));
  }
}

function toChunk(row: Row): LogChunk {
  return {
    firstLine: number(row, 'first_line'),
    lineCount: number(row, 'line_count'),
    bytes: number(row, 'bytes'),
    data: text(row, 'data'),
  };
}
