import { UserError } from '../../../../protocol/src/errors.ts';
import type { AgentMode, Usage } from '../../../../protocol/src/agent.ts';
import { number, numberOrNull, text, textOrNull, type Database, type Row } from '../../store/database.ts';

export type ConversationState = 'idle' | 'answering' | 'waiting' | 'failed';

/** A conversation as it is stored. `engine` is the one that is answering it. */
export interface StoredConversation {
  readonly num: number;
  readonly id: string;
  readonly scope: string;
  readonly root: string;
  readonly title: string;
  readonly isTitled: boolean;
  readonly mode: AgentMode;
  readonly connection: string | null;
  readonly model: string | null;
  readonly state: ConversationState;
  readonly engine: string | null;
  readonly lastSeq: number;
  readonly lastTurn: number;
  readonly items: number;
  readonly usage: Usage;
  readonly contextTokens: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface NewConversation {
  readonly id: string;
  readonly scope: string;
  readonly root: string;
  readonly title: string;
  readonly mode: AgentMode;
  readonly connection: string | null;
  readonly model: string | null;
  readonly at: number;
}

/** The conversations themselves, apart from their rows. */
export class ConversationRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  create(made: NewConversation): StoredConversation {
    this.#database.run(
      `insert into conversations (id, scope, root, title, is_titled, mode, connection, model, state, touched,
         created_at, updated_at)
       values (?, ?, ?, ?, 0, ?, ?, ?, 'idle', (select coalesce(max(touched), 0) + 1 from conversations), ?, ?)`,
      made.id,
      made.scope,
      made.root,
      made.title,
      made.mode,
      made.connection,
      made.model,
      made.at,
      made.at,
    );
    return this.get(made.id);
  }

  /** Throws `not-found`. */
  get(id: string): StoredConversation {
    const found = this.find(id);
    if (!found) throw new UserError('not-found', 'This conversation is not there any more', { id });
    return found;
  }

  find(id: string): StoredConversation | undefined {
    const row = this.#database.get('select * from conversations where id = ?', id);
    return row && toStored(row);
  }

  /** Latest used first, those with `query` in their title or any of their rows. `before` is a `touched` mark. */
  list(
    scope: string,
    query: string,
    before: number,
    limit: number,
  ): { readonly mark: number; readonly found: StoredConversation }[] {
    const like = `%${query.replace(/[\\%_]/g, '\\$&')}%`;
    return this.#database
      .all(
        `select * from conversations as c where scope = ? and touched < ? and (? = '' or title like ? escape '\\'
           or exists (select 1 from items where conversation = c.num and text like ? escape '\\'))
         order by touched desc limit ?`,
        scope,
        before,
        query,
        like,
        like,
        limit,
      )
      .map((row) => ({ mark: number(row, 'touched'), found: toStored(row) }));
  }

  configure(
    id: string,
    change: { title?: string; mode?: AgentMode; connection?: string; model?: string },
  ): void {
    this.#database.run(
      `update conversations set title = coalesce(?, title), is_titled = case when ? is null then is_titled else 1 end,
         mode = coalesce(?, mode), connection = coalesce(?, connection), model = coalesce(?, model) where id = ?`,
      change.title ?? null,
      change.title ?? null,
      change.mode ?? null,
      change.connection ?? null,
      change.model ?? null,
      id,
    );
  }

  /** Names a conversation that no person has named. */
  suggestTitle(id: string, title: string): void {
    this.#database.run(
      'update conversations set title = ?, is_titled = 1 where id = ? and is_titled = 0',
      title,
      id,
    );
  }

  /** Takes the conversation for this engine to answer. False where another one has it. */
  take(id: string, engine: string): boolean {
    return (
      this.#database.run(
        'update conversations set engine = ? where id = ? and (engine is null or engine = ?)',
        engine,
        id,
        engine,
      ).changes === 1
    );
  }

  setState(id: string, state: ConversationState, engine: string | null): void {
    this.#database.run('update conversations set state = ?, engine = ? where id = ?', state, engine, id);
  }

  /** The next row number, with the count of rows kept. */
  nextSeq(id: string, at: number): number {
    const row = this.#database.get(
      `update conversations set last_seq = last_seq + 1, items = items + 1, updated_at = ?,
         touched = (select max(touched) + 1 from conversations) where id = ? returning last_seq`,
      at,
      id,
    );
    if (!row) throw new UserError('not-found', 'This conversation is not there any more', { id });
    return number(row, 'last_seq');
  }

  nextTurn(id: string): number {
    const row = this.#database.get(
      'update conversations set last_turn = last_turn + 1 where id = ? returning last_turn',
      id,
    );
    return row ? number(row, 'last_turn') : 1;
  }

  addUsage(id: string, usage: Usage): void {
    this.#database.run(
      `update conversations set input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
         cached_tokens = cached_tokens + ?,
         cost = case when ? is null then cost else coalesce(cost, 0) + ? end where id = ?`,
      usage.inputTokens,
      usage.outputTokens,
      usage.cachedTokens,
      usage.cost,
      usage.cost,
      id,
    );
  }

  setContext(id: string, tokens: number): void {
    this.#database.run('update conversations set context_tokens = ? where id = ?', tokens, id);
  }

  /** What a fork carries over. */
  setProgress(id: string, lastSeq: number, lastTurn: number, items: number): void {
    this.#database.run(
      'update conversations set last_seq = ?, last_turn = ?, items = ? where id = ?',
      lastSeq,
      lastTurn,
      items,
      id,
    );
  }

  delete(id: string): boolean {
    return this.#database.run('delete from conversations where id = ?', id).changes === 1;
  }

  /** Conversations that some engine is answering. */
  taken(): StoredConversation[] {
    return this.#database.all('select * from conversations where engine is not null').map(toStored);
  }
}

function toStored(row: Row): StoredConversation {
  return {
    num: number(row, 'num'),
    id: text(row, 'id'),
    scope: text(row, 'scope'),
    root: text(row, 'root'),
    title: text(row, 'title'),
    isTitled: number(row, 'is_titled') === 1,
    // A word that is not known is the stricter one.
    mode: text(row, 'mode') === 'act' ? 'act' : 'plan',
    connection: textOrNull(row, 'connection'),
    model: textOrNull(row, 'model'),
    state: toState(text(row, 'state')),
    engine: textOrNull(row, 'engine'),
    lastSeq: number(row, 'last_seq'),
    lastTurn: number(row, 'last_turn'),
    items: number(row, 'items'),
    usage: {
      inputTokens: number(row, 'input_tokens'),
      outputTokens: number(row, 'output_tokens'),
      cachedTokens: number(row, 'cached_tokens'),
      cost: numberOrNull(row, 'cost'),
    },
    contextTokens: number(row, 'context_tokens'),
    createdAt: number(row, 'created_at'),
    updatedAt: number(row, 'updated_at'),
  };
}

function toState(value: string): ConversationState {
  return value === 'answering' || value === 'waiting' || value === 'failed' ? value : 'idle';
}
