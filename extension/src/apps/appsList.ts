import type { AppView } from '../../../protocol/src/apps.ts';
import type { Disposable } from '../disposable.ts';
import { Emitter } from '../emitter.ts';
import type { Engine } from '../engine.ts';
import type { Log } from '../log.ts';

/** The apps as the engine has them, the deleted ones that can be brought back among them. Read on first need. */
export class AppsList implements Disposable {
  readonly #engine: Engine;
  readonly #log: Log;
  readonly #changed: Emitter<undefined>;
  readonly #subscription: Disposable;
  #reading: Promise<readonly AppView[]> | undefined;

  constructor(engine: Engine, log: Log) {
    this.#engine = engine;
    this.#log = log;
    this.#changed = new Emitter((error) => log.error('A listener failed', error));
    this.#subscription = engine.on('app/changed', () => this.forget());
  }

  readonly onDidChange = (listener: () => void): Disposable => this.#changed.on(listener);

  async all(): Promise<readonly AppView[]> {
    this.#reading ??= this.#read();
    return this.#reading;
  }

  /** Those that are installed. */
  async apps(): Promise<readonly AppView[]> {
    return (await this.all()).filter(({ deletedUntil }) => deletedUntil === null);
  }

  async deleted(): Promise<readonly AppView[]> {
    return (await this.all()).filter(({ deletedUntil }) => deletedUntil !== null);
  }

  /** What was read no longer counts. */
  forget(): void {
    this.#reading = undefined;
    this.#changed.fire(undefined);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
  }

  /** A list that could not be read is read again the next time. */
  async #read(): Promise<readonly AppView[]> {
    try {
      return await this.#engine.call('app/list', { withDeleted: true });
    } catch (error) {
      this.#log.error('Failed to list the apps', error);
      this.#reading = undefined;
      throw error;
    }
  }
}
