import { EventEmitter, type Pseudoterminal, type TerminalDimensions } from 'vscode';
import { terminalPieces } from '../../../protocol/src/placeTerminal.ts';
import type { Engine } from '../engine.ts';
import { placeTerminal } from '../placeViewMessages.ts';

/**
 * A terminal of VS Code over one that the engine has opened in a VM: bytes, size and end go between them as they are.
 * Output is fetched when the last piece was shown; input waits for its turn, and beyond a bound is dropped and said so.
 */
export class VmTerminal implements Pseudoterminal {
  readonly #engine: Engine;
  readonly #terminal: string;
  readonly #written = new EventEmitter<string>();
  readonly #closed = new EventEmitter<number | undefined>();
  readonly #stop = new AbortController();
  #typed = '';
  #isSending = false;
  #isOver = false;

  /** `terminal` is what `place/terminalOpen` gave. It is closed with this one. */
  constructor(engine: Engine, terminal: string) {
    this.#engine = engine;
    this.#terminal = terminal;
  }

  readonly onDidWrite = this.#written.event;
  /** With the exit code of the shell; the reason where there is none is in the terminal, which a key then closes. */
  readonly onDidClose = this.#closed.event;

  open(size: TerminalDimensions | undefined): void {
    if (size) this.setDimensions(size);
    this.#written.fire(line(placeTerminal.welcome()));
    this.#show().catch(() => this.#endWith(placeTerminal.lost()));
  }

  setDimensions({ columns, rows }: TerminalDimensions): void {
    const size = { columns: within(columns), rows: within(rows) };
    this.#engine.call('place/terminalResize', { terminal: this.#terminal, ...size }).catch(() => undefined);
  }

  handleInput(text: string): void {
    if (this.#isOver) {
      this.#closed.fire(undefined);
      return;
    }
    if (this.#typed.length + text.length > mostTyped) {
      this.#written.fire(line(placeTerminal.dropped()));
      return;
    }
    this.#typed += text;
    if (!this.#isSending) void this.#send();
  }

  close(): void {
    this.#stop.abort();
    this.#engine.call('place/terminalClose', { terminal: this.#terminal }).catch(() => undefined);
    this.#written.dispose();
    this.#closed.dispose();
  }

  async #show(): Promise<void> {
    const { signal } = this.#stop;
    for (;;) {
      const { text, end } = await this.#engine.call(
        'place/terminalRead',
        { terminal: this.#terminal },
        signal,
      );
      if (text !== '') this.#written.fire(text);
      if (!end) continue;
      if (end.code !== null) this.#closed.fire(end.code);
      else this.#endWith(end.signal === null ? placeTerminal.lost() : placeTerminal.stopped(end.signal));
      return;
    }
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    try {
      while (this.#typed !== '') {
        const [piece = ''] = terminalPieces(this.#typed);
        this.#typed = this.#typed.slice(piece.length);
        await this.#engine.call('place/terminalWrite', { terminal: this.#terminal, text: piece });
      }
    } catch {
      // How it ended is what reading says.
      this.#typed = '';
    } finally {
      this.#isSending = false;
    }
  }

  #endWith(text: string): void {
    if (this.#stop.signal.aborted) return;
    this.#isOver = true;
    this.#written.fire(line(text));
  }
}

/** In UTF-16 units: more than a person pastes. */
const mostTyped = 4 * 1024 * 1024;

/** On a line of its own, whatever stood there. */
function line(text: string): string {
  return `\r\n\u001b[0m${text}\r\n`;
}

function within(value: number): number {
  return Math.min(1000, Math.max(1, Math.floor(value)));
}
