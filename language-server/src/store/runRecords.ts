import * as z from 'zod/mini';
import {
  cardState,
  keyPartChange,
  reason,
  runState,
  type CardStatus,
  type KeyPartChange,
  type RunState,
  type RunSummary,
} from '../../../protocol/src/engine.ts';
import { runtime, type Runtime } from '../../../protocol/src/manifests.ts';
import { parseAs } from '../../../protocol/src/parseJson.ts';
import { number, numberOrNull, text, textOrNull, type Database, type Row } from './database.ts';

/** Names a card run inside the database. */
export interface CardRunKey {
  /** `seq` of the run. */
  readonly run: number;
  /** Place of the card in the run. */
  readonly index: number;
}

export interface NewRun {
  readonly id: string;
  readonly engine: string;
  /** What history hangs on: the project's scope, or its path where it has none. */
  readonly project: string;
  readonly root: string;
  readonly projectName: string;
  readonly startedAt: number;
}

/** One card of a run as it is stored. `progress` of its status is not: it is worth nothing afterwards. */
export interface CardRunRecord {
  readonly card: string;
  readonly title: string;
  readonly runtime: Runtime;
  readonly viewOutput: string | null;
  readonly status: CardStatus;
  readonly key: string | null;
  readonly result: number | null;
  /** Why it ran instead of coming from the cache; empty where it did not run. */
  readonly why: readonly KeyPartChange[];
  readonly logLines: number;
  readonly logCutBytes: number;
}

export interface RunPage {
  readonly runs: RunSummary[];
  /** `seq` of the last one, where there are more. */
  readonly last: number | undefined;
}

/** A card run's id: it is also the id of its job, so it fits `jobSpec.jobId`. */
export function cardRunId(runId: string, index: number): string {
  return `${runId}-${index}`;
}

/** Runs and the cards in them. */
export class RunRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the run's `seq`. */
  insert(run: NewRun): number {
    return this.#database.run(
      `insert into runs (id, engine, project, root, project_name, state, started_at)
       values (?, ?, ?, ?, ?, 'running', ?)`,
      run.id,
      run.engine,
      run.project,
      run.root,
      run.projectName,
      run.startedAt,
    ).rowId;
  }

  /** Stores the card, or what changed of it. */
  saveCard(key: CardRunKey, card: CardRunRecord): void {
    const { status } = card;
    this.#database.run(
      `insert into card_runs (run, idx, card, title, runtime, view_output, state, cached, reason_json, exit_code,
         isolation, run_ms, wait_ms, started_at, finished_at, output_bytes, key, result, why_json, log_lines,
         log_cut_bytes, place)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict do update set state = excluded.state, cached = excluded.cached, reason_json = excluded.reason_json,
         exit_code = excluded.exit_code, isolation = excluded.isolation, run_ms = excluded.run_ms,
         wait_ms = excluded.wait_ms, started_at = excluded.started_at, finished_at = excluded.finished_at,
         output_bytes = excluded.output_bytes, key = excluded.key, result = excluded.result,
         why_json = excluded.why_json, log_lines = excluded.log_lines, log_cut_bytes = excluded.log_cut_bytes`,
      key.run,
      key.index,
      card.card,
      card.title,
      card.runtime,
      card.viewOutput,
      status.state,
      status.cached ? 1 : 0,
      status.reason && JSON.stringify(status.reason),
      status.exitCode,
      status.isolation,
      status.runMs,
      status.waitMs,
      status.startedAt,
      status.finishedAt,
      status.outputBytes,
      card.key,
      card.result,
      card.why.length > 0 ? JSON.stringify(card.why) : null,
      card.logLines,
      card.logCutBytes,
      status.place ?? null,
    );
  }

  finish(seq: number, state: RunState, finishedAt: number): void {
    const { counts, cachedCards } = this.#count(seq);
    this.#database.run(
      'update runs set state = ?, finished_at = ?, counts_json = ?, cached_cards = ? where seq = ?',
      state,
      finishedAt,
      JSON.stringify(counts),
      cachedCards,
      seq,
    );
  }

  engineOf(seq: number): string | undefined {
    const row = this.#database.get('select engine from runs where seq = ?', seq);
    return row && text(row, 'engine');
  }

  /** A run goes on under this engine: what an earlier one has left of it is looked after again. */
  takeOver(seq: number, engine: string): void {
    this.#database.run(
      "update runs set engine = ?, state = 'running', finished_at = null, counts_json = null where seq = ?",
      engine,
      seq,
    );
  }

  /** A run that was taken over is over again, unless a card of it goes on. */
  endTakenOver(seq: number, at: number): void {
    const goesOn = this.cards(seq).some(({ status: { state } }) => state === 'queued' || state === 'running');
    if (!goesOn) this.finish(seq, this.#endOf(seq), at);
  }

  /** After a card of a finished run got another end: its counts, and its own end where that was not known. */
  recount(seq: number, at: number): void {
    const summary = this.summary(seq);
    if (!summary || summary.state === 'running') return;
    this.finish(seq, this.#endOf(seq), summary.finishedAt ?? at);
  }

  /** Forgets a run with its cards, logs and requests. */
  remove(seq: number): void {
    this.#database.run('delete from runs where seq = ?', seq);
  }

  /** False too for a run that is not there. `project` is what history hangs on. */
  belongsTo(runId: string, project: string): boolean {
    return (
      this.#database.get('select 1 from runs where id = ? and project = ?', runId, project) !== undefined
    );
  }

  seqOf(runId: string): number | undefined {
    const row = this.#database.get('select seq from runs where id = ?', runId);
    return row && number(row, 'seq');
  }

  summary(seq: number): RunSummary | undefined {
    const row = this.#database.get('select * from runs where seq = ?', seq);
    return row && this.#toSummary(row);
  }

  /** The newest runs first; `before` is the `seq` where the last page ended. */
  list(project: string | undefined, before: number | undefined, limit: number): RunPage {
    const start = before ?? Number.MAX_SAFE_INTEGER;
    const rows =
      project === undefined
        ? this.#database.all('select * from runs where seq < ? order by seq desc limit ?', start, limit + 1)
        : this.#database.all(
            'select * from runs where project = ? and seq < ? order by seq desc limit ?',
            project,
            start,
            limit + 1,
          );
    const shown = rows.slice(0, limit);
    const lastRow = shown.at(-1);
    return {
      runs: shown.map((row) => this.#toSummary(row)),
      last: rows.length > limit && lastRow ? number(lastRow, 'seq') : undefined,
    };
  }

  cards(seq: number): CardRunRecord[] {
    const runId = this.#idOf(seq);
    return this.#database
      .all('select * from card_runs where run = ? order by idx', seq)
      .map((row) => toCard(runId, row));
  }

  /** Finds one card of a run by its name. */
  find(seq: number, card: string): CardRunRecord | undefined {
    const row = this.#database.get('select * from card_runs where card = ? and run = ?', card, seq);
    return row && toCard(this.#idOf(seq), row);
  }

  card(key: CardRunKey): CardRunRecord | undefined {
    const row = this.#database.get('select * from card_runs where run = ? and idx = ?', key.run, key.index);
    return row && toCard(this.#idOf(key.run), row);
  }

  /** The latest run of a project. */
  latest(project: string): { seq: number; id: string } | undefined {
    const row = this.#database.get(
      'select seq, id from runs where project = ? order by seq desc limit 1',
      project,
    );
    return row && { seq: number(row, 'seq'), id: text(row, 'id') };
  }

  /** The card's place in the latest run of this project that it was part of. */
  latestOf(project: string, card: string): CardRunRecord | undefined {
    const row = this.#database.get(
      `select card_runs.*, runs.id as run_id from card_runs join runs on runs.seq = card_runs.run
       where card = ? and project = ? order by card_runs.run desc limit 1`,
      card,
      project,
    );
    return row && toCard(text(row, 'run_id'), row);
  }

  /** The key under which the card last got as far as having one, before run `before`, and how that ended. */
  previous(project: string, card: string, before: number): { key: string; state: string } | undefined {
    const row = this.#database.get(
      `select key, card_runs.state as state from card_runs join runs on runs.seq = card_runs.run
       where card = ? and project = ? and card_runs.run < ? and key is not null
       order by card_runs.run desc limit 1`,
      card,
      project,
      before,
    );
    return row && { key: text(row, 'key'), state: text(row, 'state') };
  }

  /** Runs that no one has finished yet, with the engine that they belong to. */
  unfinished(): { seq: number; engine: string }[] {
    return this.#database
      .all("select seq, engine from runs where state = 'running'")
      .map((row) => ({ seq: number(row, 'seq'), engine: text(row, 'engine') }));
  }

  /** What the ends of its cards make of a run. */
  #endOf(seq: number): RunState {
    const states = this.cards(seq).map(({ status }) => status);
    const isOpen = states.some(
      ({ state, reason: why }) =>
        state === 'unknown' || state === 'running' || (state === 'skipped' && why?.kind === 'interrupted'),
    );
    const has = (state: string) => states.some((each) => each.state === state);
    if (isOpen) return 'unknown';
    return has('cancelled') ? 'cancelled' : has('failed') ? 'failed' : 'done';
  }

  #toSummary(row: Row): RunSummary {
    const seq = number(row, 'seq');
    const stored = textOrNull(row, 'counts_json');
    const { counts, cachedCards } =
      stored === null
        ? this.#count(seq)
        : { counts: parseAs(cardCounts, stored) ?? {}, cachedCards: number(row, 'cached_cards') };
    return {
      runId: text(row, 'id'),
      root: text(row, 'root'),
      projectName: text(row, 'project_name'),
      state: runState.parse(text(row, 'state')),
      startedAt: number(row, 'started_at'),
      finishedAt: numberOrNull(row, 'finished_at'),
      counts,
      cachedCards,
    };
  }

  #count(seq: number): { counts: Record<string, number>; cachedCards: number } {
    const rows = this.#database.all(
      'select state, count(*) as cards, sum(cached) as cached from card_runs where run = ? group by state',
      seq,
    );
    return {
      counts: Object.fromEntries(rows.map((row) => [text(row, 'state'), number(row, 'cards')])),
      cachedCards: rows.reduce((sum, row) => sum + number(row, 'cached'), 0),
    };
  }

  #idOf(seq: number): string {
    return text(this.#database.get('select id from runs where seq = ?', seq) ?? { id: '' }, 'id');
  }
}

const cardCounts = z.record(z.string(), z.int());
const changes = z.array(keyPartChange);

function toCard(runId: string, row: Row): CardRunRecord {
  const reasonJson = textOrNull(row, 'reason_json');
  const whyJson = textOrNull(row, 'why_json');
  const place = textOrNull(row, 'place');
  return {
    card: text(row, 'card'),
    title: text(row, 'title'),
    runtime: runtime.parse(text(row, 'runtime')),
    viewOutput: textOrNull(row, 'view_output'),
    status: {
      runId,
      cardRunId: cardRunId(runId, number(row, 'idx')),
      state: cardState.parse(text(row, 'state')),
      cached: number(row, 'cached') === 1,
      reason: reasonJson === null ? null : reason.parse(JSON.parse(reasonJson)),
      exitCode: numberOrNull(row, 'exit_code'),
      isolation: textOrNull(row, 'isolation'),
      runMs: numberOrNull(row, 'run_ms'),
      waitMs: numberOrNull(row, 'wait_ms'),
      startedAt: numberOrNull(row, 'started_at'),
      finishedAt: numberOrNull(row, 'finished_at'),
      outputBytes: number(row, 'output_bytes'),
      progress: null,
      ...(place === null ? {} : { place }),
    },
    key: textOrNull(row, 'key'),
    result: numberOrNull(row, 'result'),
    why: whyJson === null ? [] : (parseAs(changes, whyJson) ?? []),
    logLines: number(row, 'log_lines'),
    logCutBytes: number(row, 'log_cut_bytes'),
  };
}
