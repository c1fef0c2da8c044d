import type { KeyPartChange, LogLine, RunSummary, RunView } from '../../../protocol/src/engine.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { limits } from '../../../protocol/src/limits.ts';
import type { EgressEntry } from '../store/egressRecords.ts';
import type { CardRunKey, CardRunRecord } from '../store/runRecords.ts';
import type { Store } from '../store/store.ts';
import type { Runs } from './runs.ts';

/** What is remembered of runs, as people look at it. Every method throws `not-found` for what is not there. */
export class History {
  readonly #store: Store;
  readonly #live: Pick<Runs, 'liveStatus'>;

  constructor(store: Store, live: Pick<Runs, 'liveStatus'>) {
    this.#store = store;
    this.#live = live;
  }

  /** The newest runs first; of one project where `project` (its scope or path) is given. */
  list(
    project: string | undefined,
    cursor: string | undefined,
    limit: number,
  ): { runs: RunSummary[]; cursor?: string } {
    const { cursors, runs } = this.#store;
    this.#store.recover();
    const name = `runs ${project ?? ''}`;
    const before = cursor === undefined ? undefined : cursors.open(name, cursor);
    const page = runs.list(project, before, pageLimit(limit));
    return { runs: page.runs, ...(page.last === undefined ? {} : { cursor: cursors.seal(name, page.last) }) };
  }

  view(runId: string): RunView {
    const seq = this.#seqOf(runId);
    const summary = this.#store.runs.summary(seq);
    if (!summary) throw missing('run', runId);
    const cards = this.#store.runs.cards(seq).map((record) => ({
      id: record.card,
      title: record.title,
      runtime: record.runtime,
      status: this.#live.liveStatus(runId, record.card) ?? record.status,
      outputs: this.#outputsOf(record),
      logLines: record.logLines,
      logCutBytes: record.logCutBytes,
    }));
    return { summary, cards };
  }

  /** Empty for a card that came from the cache or did not run. */
  why(runId: string, card: string): KeyPartChange[] {
    const record = this.#store.runs.find(this.#seqOf(runId), card);
    if (!record) throw missing('card', card);
    return [...record.why];
  }

  /** At most `count` lines, fewer where they would make too large a message: go on from the line after the last. */
  log(
    cardRunId: string,
    fromLine: number,
    count: number,
  ): { lines: LogLine[]; totalLines: number; cutBytes: number } {
    const key = this.#keyOf(cardRunId);
    const record = this.#store.runs.card(key);
    if (!record) throw missing('card run', cardRunId);
    const from = Math.max(0, fromLine);
    const { lines } = this.#store.logs.read(key, from, Math.min(Math.max(0, count), linesPerRead));
    return { lines: withinBytes(lines), totalLines: record.logLines, cutBytes: record.logCutBytes };
  }

  egress(
    project: string | undefined,
    cursor: string | undefined,
    limit: number,
  ): { records: EgressEntry[]; cursor?: string } {
    const { cursors, egress } = this.#store;
    const name = `egress ${project ?? ''}`;
    const before = cursor === undefined ? undefined : cursors.open(name, cursor);
    const page = egress.list(project, before, pageLimit(limit));
    return {
      records: page.records,
      ...(page.last === undefined ? {} : { cursor: cursors.seal(name, page.last) }),
    };
  }

  #outputsOf(record: CardRunRecord): RunView['cards'][number]['outputs'] {
    if (record.result === null) return [];
    return (this.#store.results.byId(record.result)?.outputs ?? []).map((output) => ({
      ...output,
      isView: output.port === record.viewOutput,
    }));
  }

  #seqOf(runId: string): number {
    const seq = this.#store.runs.seqOf(runId);
    if (seq === undefined) throw missing('run', runId);
    return seq;
  }

  #keyOf(cardRunId: string): CardRunKey {
    const match = /^(r[0-9a-f]{16})-([0-9]{1,6})$/.exec(cardRunId);
    if (!match?.[1]) throw missing('card run', cardRunId);
    return { run: this.#seqOf(match[1]), index: Number(match[2]) };
  }
}

const linesPerRead = 10_000;
const bytesPerRead = limits.messageBytes / 4;

function pageLimit(limit: number): number {
  return Math.min(Math.max(1, limit), limits.pageSize);
}

function withinBytes(lines: readonly LogLine[]): LogLine[] {
  let bytes = 0;
  const end = lines.findIndex(
    (line) => (bytes += Buffer.byteLength(line.text) + lineOverheadBytes) > bytesPerRead,
  );
  return end === -1 ? [...lines] : lines.slice(0, Math.max(1, end));
}

const lineOverheadBytes = 64;

function missing(what: string, name: string): UserError {
  return new UserError('not-found', `There is no ${what} “${name.slice(0, 100)}” in the history.`, {
    name: name.slice(0, 100),
  });
}
