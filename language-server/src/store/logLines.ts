import type { LogLine } from '../../../protocol/src/engine.ts';
import { limits } from '../../../protocol/src/limits.ts';

export type LogStream = LogLine['stream'];

/**
 * A stored stretch of log. `data` holds whole lines, each led by `1` (stdout) or `2` (stderr) and ended by a line feed.
 * A line too long for one stretch goes on in stretches of `lineCount` 0, whose `data` is bare text of line `firstLine`.
 */
export interface LogChunk {
  readonly firstLine: number;
  readonly lineCount: number;
  readonly bytes: number;
  readonly data: string;
}

/**
 * Cuts the two streams of a card into numbered lines and packs them into chunks. Lines of one stream keep their order;
 * a line gets its number when its first part is stored, so a half-written line of one stream holds up none of the other.
 */
export class LogPacker {
  readonly #open = { stdout: new OpenLine('1'), stderr: new OpenLine('2') };
  #lines: string[] = [];
  #bytes = 0;
  #firstLine = 0;
  #ready: LogChunk[] = [];

  /** Lines stored so far, cut lines included. */
  get totalLines(): number {
    return this.#firstLine + this.#lines.length;
  }

  push(stream: LogStream, text: string): void {
    const line = this.#open[stream];
    const parts = text.split('\n');
    for (const [index, part] of parts.entries()) {
      if (part !== '') this.#extend(line, part);
      if (index < parts.length - 1) this.#end(line);
    }
  }

  /** What is ready to be stored. With `final` the last lines need no line feed. */
  take(final = false): LogChunk[] {
    if (final) for (const line of [this.#open.stdout, this.#open.stderr]) if (line.isOpen) this.#end(line);
    this.#pack();
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  #extend(line: OpenLine, part: string): void {
    line.text += part;
    line.isOpen = true;
    while (line.text.length >= limits.logChunkBytes) this.#store(line);
  }

  #end(line: OpenLine): void {
    if (line.number === undefined) this.#append(line.mark + line.text);
    else if (line.text !== '') this.#continue(line.number, line.text);
    line.reset();
  }

  /** Stores the beginning of a line that is longer than a chunk, or more of it. */
  #store(line: OpenLine): void {
    const end = splitPoint(line.text, limits.logChunkBytes);
    const piece = line.text.slice(0, end);
    line.text = line.text.slice(end);
    if (line.number === undefined) {
      line.number = this.totalLines;
      this.#append(line.mark + piece);
    } else this.#continue(line.number, piece);
  }

  #append(line: string): void {
    this.#lines.push(line);
    this.#bytes += line.length;
    if (this.#bytes >= limits.logChunkBytes || this.#lines.length >= chunkLines) this.#pack();
  }

  #continue(number: number, data: string): void {
    this.#pack();
    this.#ready.push({ firstLine: number, lineCount: 0, bytes: Buffer.byteLength(data), data });
  }

  #pack(): void {
    if (this.#lines.length === 0) return;
    const data = this.#lines.map((line) => `${line}\n`).join('');
    const lineCount = this.#lines.length;
    this.#ready.push({
      firstLine: this.#firstLine,
      lineCount,
      bytes: Buffer.byteLength(data) - 2 * lineCount,
      data,
    });
    this.#firstLine += lineCount;
    this.#lines = [];
    this.#bytes = 0;
  }
}

/** The lines of a chunk that lie in [from, to), cut at what is shown of one line. */
export function readLines(chunk: LogChunk, from: number, to: number): LogLine[] {
  const lines = chunk.data.split('\n');
  return lines
    .slice(Math.max(0, from - chunk.firstLine), Math.min(chunk.lineCount, to - chunk.firstLine))
    .map((line) => cutLine(line.startsWith('2') ? 'stderr' : 'stdout', line.slice(1)));
}

function cutLine(stream: LogStream, text: string): LogLine {
  const bytes = Buffer.byteLength(text);
  if (bytes <= limits.logLineShownBytes) return { stream, text, cutBytes: 0 };
  const shown = cutAtBytes(text, limits.logLineShownBytes);
  return { stream, text: shown, cutBytes: bytes - Buffer.byteLength(shown) };
}

/** The longest beginning of `text` that has at most `limitBytes` bytes of UTF-8 and ends between characters. */
function cutAtBytes(text: string, limitBytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(limitBytes));
  return text.slice(0, read);
}

/** `at`, or one less where it would part a surrogate pair. */
function splitPoint(text: string, at: number): number {
  const unit = text.charCodeAt(at - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? at - 1 : at;
}

class OpenLine {
  readonly mark: '1' | '2';
  text = '';
  isOpen = false;
  /** The number of a line whose beginning is stored already. */
  number: number | undefined;

  constructor(mark: '1' | '2') {
    this.mark = mark;
  }

  reset(): void {
    this.text = '';
    this.isOpen = false;
    this.number = undefined;
  }
}

const chunkLines = 2000;
