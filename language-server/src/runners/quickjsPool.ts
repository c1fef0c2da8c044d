/** What a pool needs to know of a thread. */
export interface PooledThread {
  readonly ended: boolean;
  readonly gone: Promise<void>;
  end(): Promise<void>;
}

export interface QuickjsPoolOptions<Thread extends PooledThread> {
  /** Starts a thread that may use `memoryPages` of WebAssembly memory. */
  readonly start: (memoryPages: number) => Thread;
  /** The size that standby threads have. */
  readonly memoryPages: number;
  /** Threads kept ready; 0 keeps none. */
  readonly standby: number;
  /** Standby threads end after this long without being taken. */
  readonly idleMs: number;
  /** Runs something later without keeping the process alive; returns how to call it off. */
  readonly setTimer: (run: () => void, ms: number) => () => void;
}

/**
 * Threads that stand by for `js` cards or plugins. Each holds an instance without their code and is taken once.
 * Nothing is started before the first one is taken, and all are gone after an idle time; a waiting thread costs no CPU.
 */
export class QuickjsPool<Thread extends PooledThread> {
  readonly #options: QuickjsPoolOptions<Thread>;
  readonly #standby: Thread[] = [];
  readonly #alive = new Set<Thread>();
  #stopTimer: () => void = () => undefined;
  #disposed = false;

  constructor(options: QuickjsPoolOptions<Thread>) {
    this.#options = options;
  }

  /** Threads that stand by, ready or starting. */
  get standby(): number {
    return this.#standby.length;
  }

  /** A thread for one card or plugin: one that stands by where there is one of this size, else a fresh one. */
  take(memoryPages: number): Thread {
    if (memoryPages === this.#options.memoryPages)
      for (let thread = this.#standby.shift(); thread; thread = this.#standby.shift())
        if (!thread.ended) return thread;
    return this.#start(memoryPages);
  }

  /** To be called when a card is done or a plugin is started: fills up for the next one and starts the idle time anew. */
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

  #start(memoryPages: number): Thread {
    const thread = this.#options.start(memoryPages);
    this.#alive.add(thread);
    void thread.gone.then(() => this.#alive.delete(thread));
    return thread;
  }

  async #endStandby(): Promise<void> {
    await Promise.all(this.#standby.splice(0).map((thread) => thread.end()));
  }
}
