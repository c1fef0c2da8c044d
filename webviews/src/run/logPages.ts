import type { LogLine } from '../../../protocol/src/engine.ts';

export const logPageLines = 400;
const keptPages = 24;

/** A part of a log to ask the extension for. */
export interface LogRequest {
  readonly fromLine: number;
  readonly count: number;
}

/**
 * The loaded part of one card's log, in pages; those not seen for longest go first, so the memory of a view is bounded
 * however long the log is. Line numbers start at 0.
 */
export class LogPages {
  readonly #pages = new Map<number, readonly LogLine[]>();
  readonly #wanted = new Set<number>();
  #totalLines = 0;

  get totalLines(): number {
    return this.#totalLines;
  }

  /** Number of lines held. */
  get loadedLines(): number {
    let lines = 0;
    for (const page of this.#pages.values()) lines += page.length;
    return lines;
  }

  /** Says how long the log is now. The last page is asked for again where it has grown. */
  grow(totalLines: number): void {
    if (totalLines <= this.#totalLines) return;
    const last = Math.floor(Math.max(0, this.#totalLines - 1) / logPageLines);
    const page = this.#pages.get(last);
    if (page && page.length < logPageLines) this.#wanted.delete(last);
    this.#totalLines = totalLines;
  }

  /** The line, or undefined while it is not loaded. */
  line(index: number): LogLine | undefined {
    return this.#pages.get(Math.floor(index / logPageLines))?.[index % logPageLines];
  }

  /** What has to be asked for to show these lines. Asking marks it, so it is asked for once. */
  missing(firstLine: number, endLine: number): LogRequest[] {
    const requests: LogRequest[] = [];
    const end = Math.min(endLine, this.#totalLines);
    for (let page = Math.floor(firstLine / logPageLines); page * logPageLines < end; page++) {
      const wantedLines = Math.min(logPageLines, this.#totalLines - page * logPageLines);
      const held = this.#pages.get(page);
      if (held) this.#touch(page, held);
      if (this.#wanted.has(page) || (held?.length ?? 0) >= wantedLines) continue;
      this.#wanted.add(page);
      requests.push({ fromLine: page * logPageLines, count: logPageLines });
    }
    return requests;
  }

  /** Takes an answer. `totalLines` is the log's length at that time. */
  store(request: LogRequest, lines: readonly LogLine[], totalLines: number): void {
    const page = request.fromLine / logPageLines;
    this.#wanted.delete(page);
    const held = this.#pages.get(page);
    this.#touch(page, held && held.length > lines.length ? held : lines);
    this.#totalLines = Math.max(this.#totalLines, totalLines);
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= keptPages) break;
      this.#pages.delete(oldest);
    }
  }

  /** An answer that did not come: the part may be asked for again. */
  forget(request: LogRequest): void {
    this.#wanted.delete(request.fromLine / logPageLines);
  }

  /** Loaded lines with their numbers, in order. */
  *loaded(): Iterable<readonly [number, LogLine]> {
    for (const page of [...this.#pages.keys()].sort((a, b) => a - b)) {
      for (const [index, line] of (this.#pages.get(page) ?? []).entries()) {
        yield [page * logPageLines + index, line];
      }
    }
  }

  #touch(page: number, lines: readonly LogLine[]): void {
    this.#pages.delete(page);
    this.#pages.set(page, lines);
  }
}
