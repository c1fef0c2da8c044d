import { LogPacker, type LogStream } from '../store/logLines.ts';
import type { LogRecords } from '../store/logRecords.ts';
import type { CardRunKey } from '../store/runRecords.ts';

/**
 * Stores the log of one card while it runs, a few times a second, and tells how long it has become. With `replaces`, in
 * place of what was stored of it before.
 */
export class LogWriter {
  readonly #logs: LogRecords;
  readonly #key: CardRunKey;
  readonly #onAppended: (totalLines: number) => void;
  readonly #onProblem: (error: unknown) => void;
  readonly #packer = new LogPacker();
  #replaces: boolean;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    logs: LogRecords,
    key: CardRunKey,
    onAppended: (totalLines: number) => void,
    onProblem: (error: unknown) => void,
    replaces = false,
  ) {
    this.#logs = logs;
    this.#key = key;
    this.#onAppended = onAppended;
    this.#onProblem = onProblem;
    this.#replaces = replaces;
  }

  get totalLines(): number {
    return this.#packer.totalLines;
  }

  push(stream: LogStream, text: string): void {
    this.#packer.push(stream, text);
    this.#timer ??= setTimeout(() => this.#flush(false), flushMs);
  }

  /** Stores the rest, then lines that are not the card's own. Nothing may be pushed after it. */
  close(lastWords: readonly string[] = []): void {
    this.#flush(true);
    if (lastWords.length === 0) return;
    for (const line of lastWords) this.#packer.push('stderr', `${line}\n`);
    this.#flush(true);
  }

  #flush(final: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const chunks = this.#packer.take(final);
    if (chunks.length === 0 && !(final && this.#replaces)) return;
    const { totalLines } = this.#packer;
    try {
      if (this.#replaces) this.#logs.replace(this.#key, chunks, totalLines);
      else this.#logs.append(this.#key, chunks, totalLines);
      this.#replaces = false;
      this.#onAppended(this.#packer.totalLines);
    } catch (error) {
      this.#onProblem(error);
    }
  }
}

const flushMs = 100;
