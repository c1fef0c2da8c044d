import type { CardStatus } from '../../../protocol/src/engine.ts';
import type { EgressRecord, JobResult } from '../../../protocol/src/runner.ts';
import type { LeftJob } from '../runners/places/remoteJobs.ts';
import type { CardRunKey, CardRunRecord } from '../store/runRecords.ts';
import type { Store } from '../store/store.ts';
import type { AwaitedRelease } from '../vault/awaitedRelease.ts';
import { sumBytes, toOutputs } from './cardJob.ts';
import type { LogStream } from '../store/logLines.ts';
import { LogWriter } from './logWriter.ts';
import { leftBehind, toEnding, unknownEnding, type Ending } from './outcome.ts';
import type { FrozenCard } from './snapshot.ts';

export interface LeftCardOptions {
  readonly store: Store;
  readonly now: () => number;
  readonly key: CardRunKey;
  readonly record: CardRunRecord;
  /** What of its card is needed to judge its result. */
  readonly card: Pick<FrozenCard, 'outputs' | 'runtime'>;
  readonly logLimitBytes: number;
  readonly awaited: AwaitedRelease | undefined;
  readonly events: LeftCardEvents;
  /** True where another card has brought the run under this engine already. */
  readonly isTakenOver: boolean;
  /** Nothing more is told of it. */
  readonly onOver: () => void;
}

/** What is told while a card is looked after that an earlier engine has started. */
export interface LeftCardEvents {
  delta(run: number, card: string, status: CardStatus): void;
  log(cardRunId: string, totalLines: number): void;
  problem(error: unknown): void;
}

/**
 * A card of a run that an earlier engine has started, as it goes on elsewhere. The run goes on too, under this engine:
 * should this one be killed, the next one finds it as any other. Its log comes anew from the first line on and takes the
 * place of what is stored when it is as long, so that it has neither a gap nor a line twice and nothing is lost with a
 * place that ends; of its requests only those are stored that are not yet.
 */
export class LeftCard implements LeftJob {
  readonly logLimitBytes: number;
  readonly awaited: AwaitedRelease | undefined;
  readonly #options: LeftCardOptions;
  readonly #cancelled = new AbortController();
  readonly #log: LogWriter;
  readonly #storedRequests: Map<string, number>;
  /** False where the run itself is looked after by another engine. */
  readonly ownsRun: boolean;
  /** Until it has as many lines as were stored. */
  #early: { readonly texts: (readonly [LogStream, string])[]; lines: number } | undefined;
  #record: CardRunRecord;
  #timer: NodeJS.Timeout | undefined;

  /** To be called in a transaction. */
  constructor(options: LeftCardOptions) {
    const { store, key, events } = options;
    this.#options = options;
    this.logLimitBytes = options.logLimitBytes;
    this.awaited = options.awaited;
    this.#record = options.record;
    this.ownsRun = options.isTakenOver || canTakeOver(store, key.run);
    const { cardRunId } = options.record.status;
    this.#log = new LogWriter(
      store.logs,
      key,
      (totalLines) => events.log(cardRunId, totalLines),
      (error) => events.problem(error),
      true,
    );
    this.#early = { texts: [], lines: 0 };
    this.#storedRequests = countEach(store.egress.textsOf(key.run, options.record.card));
    if (this.ownsRun) {
      store.runs.takeOver(key.run, store.engineId);
      this.#record = this.#with({ state: 'running', reason: null, finishedAt: null });
    }
    store.runs.saveCard(key, this.#record);
    this.#tellSoon();
  }

  get signal(): AbortSignal {
    return this.#cancelled.signal;
  }

  get status(): CardStatus {
    return this.#record.status;
  }

  get card(): string {
    return this.#record.card;
  }

  get runId(): string {
    return this.#record.status.runId;
  }

  cancel(): void {
    this.#cancelled.abort();
  }

  started(): void {
    // It had, for all that an earlier engine knew.
  }

  log(stream: LogStream, text: string): void {
    if (!this.#early) {
      this.#log.push(stream, text);
      return;
    }
    this.#early.texts.push([stream, text]);
    this.#early.lines += text.split('\n').length - 1;
    if (this.#early.lines >= this.#options.record.logLines) this.#showLog();
  }

  #showLog(): void {
    for (const [stream, text] of this.#early?.texts ?? []) this.#log.push(stream, text);
    this.#early = undefined;
  }

  progress(fraction: number, text: string): void {
    const shown = {
      fraction: Math.min(1, Math.max(0, fraction || 0)),
      text: text.slice(0, progressCharacters),
    };
    this.#record = this.#with({ progress: shown });
    this.#tellSoon();
  }

  egress(record: EgressRecord): void {
    const { store, key, events } = this.#options;
    const text = JSON.stringify(record);
    const stored = this.#storedRequests.get(text) ?? 0;
    if (stored > 0) {
      this.#storedRequests.set(text, stored - 1);
      return;
    }
    try {
      store.egress.append(key.run, this.#record.card, record);
    } catch (error) {
      events.problem(error);
    }
  }

  ended(result: JobResult): boolean {
    const { card, store } = this.#options;
    const ending = toEnding(result, card);
    const outputs = ending.state === 'done' ? toOutputs(card, result.outputs) : [];
    this.#showLog();
    this.#log.close(leftBehind(result.outputProblems));
    return this.#end(ending, () => {
      const stored =
        ending.state === 'done' && this.#record.key !== null
          ? store.results.add(this.#record.key, outputs)
          : null;
      this.#record = {
        ...this.#with({
          isolation: result.isolation,
          runMs: result.runMs,
          outputBytes: sumBytes(outputs),
        }),
        result: stored,
        logCutBytes: result.logCutBytes,
      };
      store.remoteJobs.settle(this.#record.status.cardRunId);
    });
  }

  left(why: string): void {
    if (!this.#early) this.#log.close();
    this.#end(unknownEnding(why), () => undefined);
  }

  #end(ending: Ending, change: () => void): boolean {
    const { store, key, now, onOver, events } = this.#options;
    let isStored = true;
    try {
      store.database.transaction(() => {
        change();
        this.#record = {
          ...this.#with({ ...ending, finishedAt: now(), progress: null }),
          logLines: this.#early ? this.#record.logLines : this.#log.totalLines,
        };
        store.runs.saveCard(key, this.#record);
        if (this.ownsRun) store.runs.endTakenOver(key.run, now());
        else store.runs.recount(key.run, now());
      });
    } catch (error) {
      isStored = false;
      store.abandon(key.run);
      events.problem(error);
    }
    onOver();
    this.#tell();
    return isStored;
  }

  #with(status: Partial<CardStatus>): CardRunRecord {
    return { ...this.#record, status: { ...this.#record.status, ...status } };
  }

  #tellSoon(): void {
    this.#timer ??= setTimeout(() => this.#tell(), deltaMs);
  }

  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { events, key } = this.#options;
    try {
      events.delta(key.run, this.#record.card, this.#record.status);
    } catch (error) {
      events.problem(error);
    }
  }
}

/** A run that a living engine goes on with stays that one's. */
function canTakeOver(store: Store, run: number): boolean {
  if (store.runs.summary(run)?.state !== 'running') return true;
  const engine = store.runs.engineOf(run);
  return engine === undefined || !store.isAlive(engine);
}

function countEach(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

const deltaMs = 50;
const progressCharacters = 200;
