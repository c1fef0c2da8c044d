import type { WorkerView } from '../../../protocol/src/pinnedWorker.ts';
import { parsePlace, type PlaceView, type VmStatus } from '../../../protocol/src/places.ts';
import type { Disposable } from '../disposable.ts';
import { Emitter } from '../emitter.ts';
import type { Engine } from '../engine.ts';
import type { Log } from '../log.ts';

/** Everywhere that cards can run besides this computer, as far as it is known without connecting. */
export interface KnownPlaces {
  readonly places: readonly PlaceView[];
  readonly workers: readonly WorkerView[];
  readonly image: VmStatus['image'];
}

/** The places as the engine has them, kept up to date by its events. Read on first need. */
export class PlacesList implements Disposable {
  readonly #engine: Engine;
  readonly #log: Log;
  readonly #changed: Emitter<undefined>;
  readonly #subscriptions: readonly Disposable[];
  #reading: Promise<KnownPlaces> | undefined;

  constructor(engine: Engine, log: Log) {
    this.#engine = engine;
    this.#log = log;
    this.#changed = new Emitter((error) => log.error('A listener failed', error));
    this.#subscriptions = [
      engine.on('place/changed', (view) => this.update(view)),
      engine.on('project/changed', () => this.forget()),
    ];
  }

  readonly onDidChange = (listener: () => void): Disposable => this.#changed.on(listener);

  known(): Promise<KnownPlaces> {
    return (this.#reading ??= this.#read());
  }

  /** Takes in what is known of one place now. */
  update(view: PlaceView): void {
    const updated = this.#reading?.then((known) => ({
      ...known,
      places: [...known.places.filter(({ id }) => id !== view.id), view].sort(byId),
    }));
    // Whoever reads next hears of a failure; nobody may be reading now.
    updated?.catch(() => undefined);
    this.#reading = updated;
    this.#changed.fire(undefined);
  }

  /** What was read no longer counts. */
  forget(): void {
    this.#reading = undefined;
    this.#changed.fire(undefined);
  }

  dispose(): void {
    for (const each of this.#subscriptions) each.dispose();
    this.#changed.dispose();
  }

  /** What could not be read is read again the next time. */
  async #read(): Promise<KnownPlaces> {
    try {
      const [listed, workers, { image }] = await Promise.all([
        this.#engine.call('place/list', {}),
        this.#engine.call('worker/list', {}),
        this.#engine.call('vm/status', {}),
      ]);
      const ids = [...(image ? ['vm'] : []), ...workers.map(({ name }) => `worker:${name}`)];
      const unlisted = ids.filter((id) => !listed.some((each) => each.id === id)).flatMap(closedPlace);
      return { places: [...listed, ...unlisted].sort(byId), workers, image };
    } catch (error) {
      this.#log.error('Failed to list the places', error);
      this.#reading = undefined;
      throw error;
    }
  }
}

function byId(a: PlaceView, b: PlaceView): number {
  return a.id < b.id ? -1 : 1;
}

function closedPlace(id: string): PlaceView[] {
  const kind = parsePlace(id)?.kind;
  if (!kind) return [];
  return [{ id, kind, state: 'closed', detail: '', remedy: '', facts: null, running: 0, latencyMs: null }];
}
