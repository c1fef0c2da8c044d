import type { Disposable } from './disposable.ts';
import { Emitter } from './emitter.ts';

/** The part of VS Code's `Memento` in which something is kept: `globalState`, which no workspace can write. */
export interface State {
  get(name: string): unknown;
  update(name: string, value: unknown): PromiseLike<void>;
}

export interface KeptValueOptions<T> {
  /** What it is kept under. */
  readonly name: string;
  /** Reads what is kept, which may be absent, damaged or of another version. Never throws. */
  readonly parse: (value: unknown) => T;
  /** Told what a listener throws. */
  readonly onError: (error: unknown) => void;
}

/** One value that outlives the window. It is read anew each time: another window may have changed it. */
export class KeptValue<T> implements Disposable {
  readonly #state: State;
  readonly #options: KeptValueOptions<T>;
  readonly #changed: Emitter<void>;

  constructor(state: State, options: KeptValueOptions<T>) {
    this.#state = state;
    this.#options = options;
    this.#changed = new Emitter(options.onError);
  }

  /** Told of what this window writes. */
  readonly onDidChange = (listener: () => void): Disposable => this.#changed.on(listener);

  read(): T {
    return this.#options.parse(this.#state.get(this.#options.name));
  }

  async write(value: T): Promise<void> {
    await this.#state.update(this.#options.name, value);
    this.#changed.fire();
  }

  dispose(): void {
    this.#changed.dispose();
  }
}
