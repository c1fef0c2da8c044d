import type { Change } from '../../../protocol/src/agent.ts';
import type { Principal } from '../../../protocol/src/gate.ts';
import { number, text, textOrNull, type Database, type Row } from '../store/database.ts';
import { absent, digestOf, fileState, type FileState } from './fileState.ts';
import { absolutePath, type Place } from './place.ts';

/** Who changes something, and what it belongs to. Set by the engine, never by the one who asks. */
export interface ChangeContext {
  /** Absolute real path of the project. */
  readonly root: string;
  readonly principal: Principal;
  readonly conversation: string | null;
  /** Undone together: a turn, a run, one undo. */
  readonly group: string;
  readonly groupTitle: string;
}

export type ChangeKind = Change['kind'];

/** One path changed once. */
export interface Entry {
  readonly seq: number;
  readonly id: string;
  readonly root: string;
  readonly group: string;
  readonly groupTitle: string;
  readonly principal: string;
  readonly conversation: string | null;
  readonly place: Place;
  readonly kind: ChangeKind;
  readonly before: FileState;
  /** Null: begun, and its end was not seen yet. */
  readonly after: FileState | null;
  readonly sizeBytes: number;
  /** Where it is itself an undo or a redo of others. */
  readonly origin: Direction | null;
  readonly undone: boolean;
  /** Its content was given up for space. */
  readonly pruned: boolean;
  readonly at: number;
}

export type Direction = 'undo' | 'redo';

export interface Beginning {
  readonly id: string;
  readonly engine: string;
  readonly context: ChangeContext;
  readonly place: Place;
  readonly before: FileState;
  readonly origin: Direction | null;
  /** `seq` of the entries that this one takes back or does again. */
  readonly reverts: readonly number[];
  readonly at: number;
}

/** The journal's rows. Each method is one statement or runs inside the caller's transaction. */
export class Entries {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** An entry whose end is not known. Returns its `seq`. */
  begin(entry: Beginning): number {
    const { context, place, before } = entry;
    const { rowId } = this.#database.run(
      `insert into history_entries (id, engine, root, group_id, group_title, principal, conversation, base, path, kind,
         before_json, before_digest, size_bytes, origin, at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, 'edit', ?, ?, 0, ?, ?)`,
      entry.id,
      entry.engine,
      context.root,
      context.group,
      context.groupTitle,
      context.principal,
      context.conversation,
      place.base,
      place.path,
      JSON.stringify(before),
      digestOf(before),
      entry.origin,
      entry.at,
    );
    for (const reverted of entry.reverts) {
      this.#database.run(
        'insert into history_reverts (entry, reverted) values (?, ?) on conflict do nothing',
        rowId,
        reverted,
      );
    }
    return rowId;
  }

  finish(seq: number, before: FileState, after: FileState, kind: ChangeKind): void {
    this.#database.run(
      'update history_entries set after_json = ?, after_digest = ?, kind = ?, size_bytes = ? where seq = ?',
      JSON.stringify(after),
      digestOf(after),
      kind,
      sizeOf(before) + sizeOf(after),
      seq,
    );
  }

  /** For a beginning after which nothing happened. */
  drop(seq: number): void {
    this.#database.run('delete from history_entries where seq = ?', seq);
  }

  /** Entries of engines other than `engine` whose end was not seen, in order. */
  unfinished(engine: string): { entry: Entry; engine: string }[] {
    return this.#database
      .all('select * from history_entries where after_json is null and engine <> ? order by seq', engine)
      .map((row) => ({ entry: toEntry(row), engine: text(row, 'engine') }));
  }

  /** Newest first, those with a `seq` below `before`. */
  list(root: string, conversation: string | undefined, before: number, limit: number): Entry[] {
    const rows =
      conversation === undefined
        ? this.#database.all(
            'select * from history_entries where root = ? and seq < ? order by seq desc limit ?',
            root,
            before,
            limit,
          )
        : this.#database.all(
            `select * from history_entries where conversation = ? and root = ? and seq < ?
             order by seq desc limit ?`,
            conversation,
            root,
            before,
            limit,
          );
    return rows.map(toEntry);
  }

  get(id: string): Entry | undefined {
    const row = this.#database.get('select * from history_entries where id = ?', id);
    return row && toEntry(row);
  }

  ofGroup(root: string, group: string): Entry[] {
    return this.#database
      .all('select * from history_entries where root = ? and group_id = ? order by seq', root, group)
      .map(toEntry);
  }

  /** Marks entries as undone or done again, and with them the undos and redos that they are or that were made of them. */
  turn(seqs: readonly number[], direction: Direction): void {
    const undone = direction === 'undo';
    const database = this.#database;
    const mark = (value: boolean, seq: number) =>
      database.run('update history_entries set undone = ? where seq = ?', Number(value), seq);
    for (const seq of seqs) {
      mark(undone, seq);
      const row = database.get('select origin from history_entries where seq = ?', seq);
      const origin = row ? textOrNull(row, 'origin') : null;
      if (origin !== null) {
        // Taking an undo back does its originals again; taking a redo back undoes them.
        const value = (origin === 'undo') !== undone;
        for (const reverted of this.revertedBy(seq)) mark(value, reverted);
      }
      // What had turned this entry the other way is spent.
      database.run(
        `update history_entries set undone = 1 where origin = ? and undone = 0
           and seq in (select entry from history_reverts where reverted = ?)`,
        undone ? 'redo' : 'undo',
        seq,
      );
    }
  }

  /** The `seq` of the entries that this one takes back or does again. */
  revertedBy(seq: number): number[] {
    return this.#database
      .all('select reverted from history_reverts where entry = ?', seq)
      .map((row) => number(row, 'reverted'));
  }

  /** Each content that an entry still needs, with the newest entry that does, oldest first. */
  needed(): { digest: string; seq: number }[] {
    return this.#database
      .all(
        `select digest, max(seq) as seq from (
           select before_digest as digest, seq from history_entries where pruned = 0 and before_digest is not null
           union all
           select after_digest, seq from history_entries where pruned = 0 and after_digest is not null
         ) group by digest order by seq`,
      )
      .map((row) => ({ digest: text(row, 'digest'), seq: number(row, 'seq') }));
  }

  /** True where an entry, or a folder's record that is not finished, needs this content. */
  needs(digest: string): boolean {
    return (
      this.#database.get(
        `select 1 where exists (select 1 from history_entries where before_digest = ? and pruned = 0)
           or exists (select 1 from history_entries where after_digest = ? and pruned = 0)`,
        digest,
        digest,
      ) !== undefined
    );
  }

  hasOpen(): boolean {
    return (
      this.#database.get(
        `select 1 where exists (select 1 from history_entries where after_json is null)
           or exists (select 1 from history_folders)`,
      ) !== undefined
    );
  }

  /** Marks everything that needs this content as pruned. */
  prune(digest: string): void {
    this.#database.run(
      'update history_entries set pruned = 1 where before_digest = ? or after_digest = ?',
      digest,
      digest,
    );
  }
}

/** As the person's side gets it. */
export function toChange(entry: Entry): Change {
  const { id, group, groupTitle, principal, conversation, kind, before, after, sizeBytes, undone, at } =
    entry;
  return {
    id,
    group,
    groupTitle,
    principal,
    conversation,
    path: shownPath(entry.root, entry.place),
    kind,
    before: digestOf(before),
    after: digestOf(after ?? absent),
    sizeBytes,
    undone,
    at,
  };
}

/** Relative to the project where it lies in it, else absolute. */
export function shownPath(root: string, place: Place): string {
  return place.base === root ? place.path : absolutePath(place);
}

/** Bytes that the history keeps for a state. */
export function sizeOf(state: FileState): number {
  return state.kind === 'file' ? state.sizeBytes : 0;
}

function toEntry(row: Row): Entry {
  const after = textOrNull(row, 'after_json');
  return {
    seq: number(row, 'seq'),
    id: text(row, 'id'),
    root: text(row, 'root'),
    group: text(row, 'group_id'),
    groupTitle: text(row, 'group_title'),
    principal: text(row, 'principal'),
    conversation: textOrNull(row, 'conversation'),
    place: { base: text(row, 'base'), path: text(row, 'path') },
    kind: text(row, 'kind') as ChangeKind,
    before: fileState.parse(JSON.parse(text(row, 'before_json'))),
    after: after === null ? null : fileState.parse(JSON.parse(after)),
    sizeBytes: number(row, 'size_bytes'),
    origin: textOrNull(row, 'origin') as Direction | null,
    undone: number(row, 'undone') === 1,
    pruned: number(row, 'pruned') === 1,
    at: number(row, 'at'),
  };
}
