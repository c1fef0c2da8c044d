import type { QuickjsThread } from './quickjsThread.ts';

export interface QuickjsPoolOptions {
  /** Starts a thread that may use `memoryPages` of WebAssembly memory. */
  readonly start: (memoryPages: number) => QuickjsThread;
  /** The size that standby threads have. */
  readonly memoryPages: number;
  /** Threads kept ready; 0 keeps none. */
  readonly standby: number;
  /** Standby threads end after this long without a card. */
  readonly idleMs: number;
  /** Runs something later without keeping the process alive; returns how to call it off. */
  readonly setTimer: (run: () => void, ms: number) => () => void;
}

/**
 * Threads that stand by for `js` cards. Each holds an instance without a card's code, is used once and then ends.
 * Nothing is started before the first card, and all are gone after an idle time; a waiting thread costs no CPU.
 */
export class QuickjsPool {
  readonly #options: QuickjsPoolOptions;
  readonly #standby: QuickjsThread[] = [];
  readonly #alive = new Set<QuickjsThread>();
  #stopTimer: () => void = () => undefined;
  #disposed = false;

  constructor(options: QuickjsPoolOptions) {
    this.#options = options;
  }

  /** Threads that stand by, ready or starting. */
  get standby(): number {
    return this.#standby.length;
  }

  /** A thread for one card: one that stands by where there is one of this size, else a fresh one. */
  take(memoryPages: number): QuickjsThread {
    if (memoryPages === this.#options.memoryPages)
      for (let thread = this.#standby.shift(); thread; thread = this.#standby.shift())
        if (!thread.ended) return thread;
    return this.#start(memoryPages);
  }

  /** To be called when a card is done: fills up for the next one and starts the idle time anew. */
  refill(): void {
    if (this.#disposed) return;
    while (this.#standby.length < this.#options.standby)
      this.#standby.push(this.#start(this.#options.memoryPages));
    this.#stopTimer();
    this.#stopTimer = this.#options.setTimer(() => void this.#endStandby(), this.#options.idleMs);
  }

  /** Ends every thread, in use or not, and resolves when they are gone. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    this.#stopTimer();
    this.#standby.length = 0;
    await Promise.all([...this.#alive].map((thread) => thread.end()));
  }

  #start(memoryPages: number): QuickjsThread {
    const thread = this.#options.start(memoryPages);
    this.#alive.add(thread);
    void thread.gone.then(() => this.#alive.delete(thread));
    return thread;
  }

  async #endStandby(): Promise<void> {
    await Promise.all(this.#standby.splice(0).map((thread) => thread.end()));
  }
}
