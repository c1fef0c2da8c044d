import { item, type Item } from '../../../../protocol/src/agent.ts';
import { parseAs } from '../../../../protocol/src/parseJson.ts';
import { number, text, type Database, type Row } from '../../store/database.ts';
import { wire, type Wire } from './wire.ts';

/** A row of a conversation with what the model is told of it. */
export interface StoredItem {
  readonly row: Item;
  readonly wire: Wire;
  readonly step: number;
}

export interface StoredImage {
  readonly mediaType: string;
  readonly base64: string;
}

/** JSON text of one window: a message holds twice as much, for what is escaped. */
const windowLength = 3 * 1024 * 1024;

const columns = 'seq, step, row_json, wire_json';

/** The rows of conversations. `num` is the conversation's number in the database. */
export class ItemRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  add(num: number, { row, wire: told, step }: StoredItem): void {
    this.#database.run(
      `insert into items (conversation, seq, turn, step, kind, row_json, wire_json, text)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
      num,
      row.seq,
      row.turn,
      step,
      row.kind,
      JSON.stringify(row),
      JSON.stringify(told),
      searchText(row),
    );
  }

  update(num: number, row: Item, told?: Wire): void {
    this.#database.run(
      'update items set row_json = ?, wire_json = coalesce(?, wire_json), text = ? where conversation = ? and seq = ?',
      JSON.stringify(row),
      told === undefined ? null : JSON.stringify(told),
      searchText(row),
      num,
      row.seq,
    );
  }

  get(num: number, seq: number): StoredItem | undefined {
    const row = this.#database.get(
      `select ${columns} from items where conversation = ? and seq = ?`,
      num,
      seq,
    );
    return row && toStored(row);
  }

  remove(num: number, seq: number): void {
    this.#database.run('delete from items where conversation = ? and seq = ?', num, seq);
  }

  /**
   * Up to `limit` rows before `before`, oldest first; fewer where they would not fit one message, but at least one. A
   * row that does not fit its schema is left out.
   */
  window(num: number, before: number, limit: number): Item[] {
    const window: Item[] = [];
    let left = windowLength;
    for (const row of this.#database.all(
      'select row_json from items where conversation = ? and seq < ? order by seq desc limit ?',
      num,
      before,
      limit,
    )) {
      const json = text(row, 'row_json');
      left -= json.length;
      if (left < 0 && window.length > 0) break;
      const shown = parseAs(item, json);
      if (shown) window.push(shown);
    }
    return window.reverse();
  }

  /** Everything after `after`, oldest first. */
  since(num: number, after: number): StoredItem[] {
    return this.#database
      .all(`select ${columns} from items where conversation = ? and seq > ? order by seq`, num, after)
      .flatMap((row) => toStored(row) ?? []);
  }

  lastSummary(num: number): StoredItem | undefined {
    const row = this.#database.get(
      `select ${columns} from items where conversation = ? and kind = 'summary' order by seq desc limit 1`,
      num,
    );
    return row && toStored(row);
  }

  /** Rows that were left in the middle: an answer that streams, a call without an end. */
  unfinished(num: number): StoredItem[] {
    return this.#database
      .all(
        `select ${columns} from items where conversation = ? and
           (row_json like '%"ending":"streaming"%' or row_json like '%"state":"writing"%'
            or row_json like '%"state":"waiting"%' or row_json like '%"state":"running"%') order by seq`,
        num,
      )
      .flatMap((row) => toStored(row) ?? [])
      .filter(({ row }) => isUnfinished(row));
  }

  /** Rows of calls that changed files, oldest first. */
  withChanges(num: number): Item[] {
    return this.#database
      .all(
        `select ${columns} from items where conversation = ? and kind = 'tool'
           and row_json like '%"changeId":%' order by seq`,
        num,
      )
      .flatMap((row) => toStored(row)?.row ?? []);
  }

  /** Messages that wait their turn, oldest first. */
  queued(num: number): StoredItem[] {
    return this.#database
      .all(
        `select ${columns} from items where conversation = ? and kind = 'person'
           and row_json like '%"isQueued":true%' order by seq`,
        num,
      )
      .flatMap((row) => toStored(row) ?? [])
      .filter(({ row }) => row.kind === 'person' && row.isQueued);
  }

  addImages(num: number, seq: number, images: readonly StoredImage[]): void {
    for (const [index, { mediaType, base64 }] of images.entries()) {
      this.#database.run(
        'insert into item_images (conversation, seq, idx, media_type, data) values (?, ?, ?, ?, ?)',
        num,
        seq,
        index,
        mediaType,
        Buffer.from(base64, 'base64'),
      );
    }
  }

  images(num: number, seq: number): StoredImage[] {
    return this.#database
      .all(
        'select media_type, data from item_images where conversation = ? and seq = ? order by idx',
        num,
        seq,
      )
      .map((row) => ({
        mediaType: text(row, 'media_type'),
        base64: Buffer.from(row['data'] as Uint8Array).toString('base64'),
      }));
  }

  /** Copies rows up to and with `upTo` into another conversation. Returns how many. */
  copy(from: number, to: number, upTo: number): number {
    const { changes } = this.#database.run(
      `insert into items (conversation, seq, turn, step, kind, row_json, wire_json, text)
       select ?, seq, turn, step, kind, row_json, wire_json, text from items where conversation = ? and seq <= ?`,
      to,
      from,
      upTo,
    );
    this.#database.run(
      `insert into item_images (conversation, seq, idx, media_type, data)
       select ?, seq, idx, media_type, data from item_images where conversation = ? and seq <= ?`,
      to,
      from,
      upTo,
    );
    return changes;
  }
}

/** True for an answer that is coming and a call that has not ended. */
function isUnfinished(row: Item): boolean {
  if (row.kind === 'answer') return row.ending === 'streaming';
  return row.kind === 'tool' && ['writing', 'waiting', 'running'].includes(row.state);
}

function searchText(row: Item): string {
  switch (row.kind) {
    case 'person':
    case 'notice':
      return row.text;
    case 'answer':
    case 'summary':
      return row.markdown;
    case 'tool':
      return row.title;
  }
}

function toStored(row: Row): StoredItem | undefined {
  const shown = parseAs(item, text(row, 'row_json'));
  const told = parseAs(wire, text(row, 'wire_json'));
  if (!shown || !told || shown.kind !== told.kind) return undefined;
  return { row: shown, wire: told, step: number(row, 'step') };
}
