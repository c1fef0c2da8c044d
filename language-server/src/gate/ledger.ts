import * as z from 'zod/mini';
import {
  approval,
  receipt,
  type Approval,
  type Grant,
  type GrantKind,
  type Receipt,
} from '../../../protocol/src/gate.ts';
import { parseAs } from '../../../protocol/src/parseJson.ts';
import { number, numberOrNull, text, textOrNull, type Database, type Row } from '../store/database.ts';

export type ApprovalState = 'waiting' | 'allowed' | 'declined' | 'expired' | 'withdrawn' | 'consumed';

export interface ReceiptBeginning {
  readonly opId: string;
  readonly principal: string;
  readonly conversation: string | null;
  readonly scope: string;
  readonly root: string;
  readonly callId: string;
  readonly tool: string;
  readonly effect: string;
  readonly argumentDigest: string;
  readonly at: number;
}

/** What ends a receipt. `result` is JSON text. */
export interface ReceiptEnding {
  readonly state: 'done' | 'failed' | 'refused';
  /** JSON text; null where it is not kept. */
  readonly result: string | null;
  readonly waitMs: number;
  readonly runMs: number;
  readonly at: number;
}

/**
 * Receipts, approvals and grants in SQLite. Every step that opens something is one immediate transaction, so two
 * windows that answer at once, or a crash in between, leave one truth.
 */
export class Ledger {
  readonly #database: Database;
  readonly #engine: string;
  #grants: GrantIndex | undefined;

  constructor(database: Database, engine: string) {
    this.#database = database;
    this.#engine = engine;
  }

  /**
   * Begins an act. False where its id is taken: then `receipt` says by what.
   */
  begin(act: ReceiptBeginning): boolean {
    return (
      this.#database.run(
        `insert into receipts (op_id, engine, principal, conversation, scope, root, call_id, tool, effect,
           argument_digest, state, created_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', ?)
         on conflict do nothing`,
        act.opId,
        this.#engine,
        act.principal,
        act.conversation,
        act.scope,
        act.root,
        act.callId,
        act.tool,
        act.effect,
        act.argumentDigest,
        act.at,
      ).changes === 1
    );
  }

  /** The effect is about to start. False where the act is no longer waiting. */
  start(opId: string): boolean {
    return (
      this.#database.run(
        `update receipts set state = 'running' where op_id = ? and engine = ? and state = 'waiting'`,
        opId,
        this.#engine,
      ).changes === 1
    );
  }

  finish(opId: string, ending: ReceiptEnding): void {
    this.#database.run(
      `update receipts set state = ?, result_json = ?, wait_ms = ?, run_ms = ?, finished_at = ?
       where op_id = ? and engine = ? and state in ('waiting', 'running')`,
      ending.state,
      ending.result,
      Math.round(ending.waitMs),
      Math.round(ending.runMs),
      ending.at,
      opId,
      this.#engine,
    );
  }

  receipt(opId: string): Receipt | null {
    const row = this.#database.get('select * from receipts where op_id = ?', opId);
    return row ? toReceipt(row) : null;
  }

  /** The scope and conversation that an act belongs to, which a replay must share. */
  owner(opId: string): { scope: string; conversation: string | null; principal: string } | null {
    const row = this.#database.get(
      'select scope, conversation, principal from receipts where op_id = ?',
      opId,
    );
    if (!row) return null;
    return {
      scope: text(row, 'scope'),
      conversation: textOrNull(row, 'conversation'),
      principal: text(row, 'principal'),
    };
  }

  /** Something waits for a person. Supersedes nothing: one act has one approval at a time. */
  ask(opId: string, review: Approval): void {
    this.#database.run(
      `insert into approvals (id, op_id, engine, state, review_json, review_digest, expires_at)
       values (?, ?, ?, 'waiting', ?, ?, ?)`,
      review.id,
      opId,
      this.#engine,
      JSON.stringify(review),
      review.reviewDigest,
      review.expiresAt,
    );
  }

  /** What waits in this engine, oldest first. A row that does not fit its schema waits for nobody. */
  waiting(): Approval[] {
    return this.#database
      .all(
        `select review_json from approvals where state = 'waiting' and engine = ? order by rowid`,
        this.#engine,
      )
      .flatMap((row) => {
        const shown = parseAs(approval, text(row, 'review_json'));
        return shown ? [shown] : [];
      });
  }

  /** Answers what waits under this id and digest, before its time is over. False where there is no such thing. */
  answer(id: string, reviewDigest: string, state: 'allowed' | 'declined', at: number): boolean {
    return (
      this.#database.run(
        `update approvals set state = ?, answered_at = ?
         where id = ? and review_digest = ? and engine = ? and state = 'waiting' and expires_at > ?`,
        state,
        at,
        id,
        reviewDigest,
        this.#engine,
        at,
      ).changes === 1
    );
  }

  close(id: string, state: 'expired' | 'withdrawn', at: number): void {
    this.#database.run(
      `update approvals set state = ?, answered_at = ? where id = ? and state in ('waiting', 'allowed')`,
      state,
      at,
      id,
    );
  }

  /** Uses up an approval and starts the act it was for, both or neither. An approval is used at most once. */
  consume(id: string, opId: string): boolean {
    return this.#database.transaction(() => {
      const { changes } = this.#database.run(
        `update approvals set state = 'consumed' where id = ? and op_id = ? and engine = ? and state = 'allowed'`,
        id,
        opId,
        this.#engine,
      );
      if (changes !== 1) return false;
      if (this.start(opId)) return true;
      throw new Error('Failed to start an approved act: it is no longer waiting');
    });
  }

  approvalState(id: string): ApprovalState | null {
    const row = this.#database.get('select state from approvals where id = ?', id);
    return row ? (text(row, 'state') as ApprovalState) : null;
  }

  /** Number of questions that were asked for one conversation. */
  questions(conversation: string): number {
    const row = this.#database.get(
      `select count(*) as questions from approvals join receipts using (op_id) where conversation = ?`,
      conversation,
    );
    return row ? number(row, 'questions') : 0;
  }

  grants(scope: string): Grant[] {
    return this.#database
      .all('select * from grants where scope = ? and revoked_at is null order by created_at, id', scope)
      .map(toGrant);
  }

  /** The grants of this kind that may cover an act of this conversation: its own, and those of the whole project. */
  grantsFor(scope: string, kind: GrantKind, conversation: string | null): readonly Grant[] {
    const version = this.#dataVersion();
    if (this.#grants?.scope !== scope || this.#grants.version !== version) {
      this.#grants = { scope, version, byKey: indexGrants(this.grants(scope)) };
    }
    const { byKey } = this.#grants;
    const own = conversation === null ? [] : (byKey.get(grantKey(kind, conversation)) ?? []);
    return [...own, ...(byKey.get(grantKey(kind, null)) ?? [])];
  }

  /** Changes with every commit of another connection; our own are seen by dropping the index. */
  #dataVersion(): number {
    return number(this.#database.get('pragma data_version') ?? {}, 'data_version');
  }

  give(grant: Grant): void {
    this.#grants = undefined;
    this.#database.run(
      `insert into grants (id, kind, scope, conversation, folder, created_at) values (?, ?, ?, ?, ?, ?)`,
      grant.id,
      grant.kind,
      grant.scope,
      grant.conversation,
      grant.folder,
      grant.createdAt,
    );
  }

  revoke(id: string, at: number): boolean {
    this.#grants = undefined;
    return (
      this.#database.run('update grants set revoked_at = ? where id = ? and revoked_at is null', at, id)
        .changes === 1
    );
  }

  /**
   * Ends what engines that are gone left open: an act that was waiting was not begun; one that was running is
   * `unknown`, and is never tried again by itself. `isAlive` tells by engine id.
   */
  recover(isAlive: (engine: string) => boolean, at: number): number {
    return this.#database.transaction(() => {
      const engines = this.#database
        .all(
          `select distinct engine from receipts where state in ('waiting', 'running')
           union select distinct engine from approvals where state in ('waiting', 'allowed')`,
        )
        .map((row) => text(row, 'engine'));
      let ended = 0;
      for (const engine of engines) {
        if (engine === this.#engine || isAlive(engine)) continue;
        ended += this.#database.run(
          `update receipts set state = 'unknown', finished_at = ? where engine = ? and state = 'running'`,
          at,
          engine,
        ).changes;
        ended += this.#database.run(
          `update receipts set state = 'refused', finished_at = ?, result_json = ?
           where engine = ? and state = 'waiting'`,
          at,
          JSON.stringify({
            code: 'cancelled',
            reason: 'Sallyport ended while this waited; nothing was done',
          }),
          engine,
        ).changes;
        this.#database.run(
          `update approvals set state = 'withdrawn', answered_at = ? where engine = ? and state in ('waiting', 'allowed')`,
          at,
          engine,
        );
      }
      return ended;
    });
  }
}

interface GrantIndex {
  readonly scope: string;
  readonly version: number;
  readonly byKey: ReadonlyMap<string, Grant[]>;
}

function grantKey(kind: GrantKind, conversation: string | null): string {
  return conversation === null ? kind : `${kind} ${conversation}`;
}

function indexGrants(grants: readonly Grant[]): Map<string, Grant[]> {
  const byKey = new Map<string, Grant[]>();
  for (const grant of grants) {
    const key = grantKey(grant.kind, grant.conversation);
    const list = byKey.get(key);
    if (list) list.push(grant);
    else byKey.set(key, [grant]);
  }
  return byKey;
}

/** Tables of the gate; a step of `store/schema.ts`. */
export const gateTables = `
  create table receipts (
    op_id text primary key,
    engine text not null,
    principal text not null,
    conversation text,
    scope text not null,
    root text not null,
    call_id text not null,
    tool text not null,
    effect text not null,
    argument_digest text not null,
    state text not null,
    result_json text,
    wait_ms integer not null default 0,
    run_ms integer not null default 0,
    created_at integer not null,
    finished_at integer
  ) without rowid;
  create index receipts_by_conversation on receipts (conversation);
  create index receipts_by_state on receipts (state, engine);

  create table approvals (
    id text not null unique,
    op_id text not null references receipts (op_id) on delete cascade,
    engine text not null,
    state text not null,
    review_json text not null,
    review_digest text not null,
    expires_at integer not null,
    answered_at integer
  );
  create index approvals_by_state on approvals (state, engine);
  create index approvals_by_operation on approvals (op_id);

  create table grants (
    id text primary key,
    kind text not null,
    scope text not null,
    conversation text,
    folder text not null,
    created_at integer not null,
    revoked_at integer
  ) without rowid;
  create index grants_by_scope on grants (scope);
`;

function toReceipt(row: Row): Receipt {
  return z.parse(receipt, {
    opId: text(row, 'op_id'),
    principal: text(row, 'principal'),
    tool: text(row, 'tool'),
    state: text(row, 'state'),
    argumentDigest: text(row, 'argument_digest'),
    result: textOrNull(row, 'result_json'),
    waitMs: number(row, 'wait_ms'),
    runMs: number(row, 'run_ms'),
    createdAt: number(row, 'created_at'),
    finishedAt: numberOrNull(row, 'finished_at'),
  });
}

function toGrant(row: Row): Grant {
  return {
    id: text(row, 'id'),
    kind: text(row, 'kind') as GrantKind,
    scope: text(row, 'scope'),
    conversation: textOrNull(row, 'conversation'),
    folder: text(row, 'folder'),
    createdAt: number(row, 'created_at'),
  };
}
