type Stream = 'stdout' | 'stderr';

export interface LogPumpOptions {
  readonly send: (stream: Stream, text: string) => void;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** The most UTF-16 units of one message. */
  readonly chunkLength: number;
}

/** Messages that one window may hold before they are put together. */
const messagesPerWindow = 20;
const windowMs = 50;

/**
 * Turns many small pieces of log into few messages. A piece goes out at once while there are few, so that a card that
 * is killed has its last lines out; a flood is put together into whole chunks. `tick` is called now and then while the
 * card computes, `flush` at its end.
 */
export class LogPump {
  readonly #options: LogPumpOptions;
  #stream: Stream = 'stdout';
  #held = '';
  #windowStart = -Infinity;
  #sent = 0;

  constructor(options: LogPumpOptions) {
    this.#options = options;
  }

  write(stream: Stream, text: string): void {
    if (stream !== this.#stream) this.flush();
    this.#stream = stream;
    this.#held += text;
    if (this.#held.length >= this.#options.chunkLength) this.flush();
    else this.tick();
  }

  tick(): void {
    if (this.#held === '') return;
    if (this.#options.now() - this.#windowStart >= windowMs) {
      this.#windowStart = this.#options.now();
      this.#sent = 0;
    }
    if (this.#sent < messagesPerWindow) this.flush();
  }

  flush(): void {
    const { chunkLength, send } = this.#options;
    for (let at = 0; at < this.#held.length; at += chunkLength)
      send(this.#stream, this.#held.slice(at, at + chunkLength));
    this.#sent += 1;
    this.#held = '';
  }
}
