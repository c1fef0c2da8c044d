import { UserError } from '../../../../protocol/src/errors.ts';
import {
  localPlace,
  parsePlace,
  placeKinds,
  type PlaceKind,
  type PlaceName,
} from '../../../../protocol/src/places.ts';
import { Slots } from '../../runs/slots.ts';
import type { PlaceRunner } from './placeRunner.ts';

/** Makes the runner of a place; called once for each id. */
export type PlaceFactory = (id: string, name: PlaceName) => PlaceRunner;

export interface PlaceRegistryOptions {
  readonly factories: Readonly<Partial<Record<Exclude<PlaceKind, 'local'>, PlaceFactory>>>;
  /** The turns of this machine. */
  readonly localSlots: Slots;
}

/** The places in use other than this machine, and the turns of each. Nothing connects before a runner is asked to. */
export class PlaceRegistry {
  readonly #options: PlaceRegistryOptions;
  readonly #runners = new Map<string, PlaceRunner>();
  readonly #slots = new Map<string, { readonly parallel: number; readonly slots: Slots }>();

  constructor(options: PlaceRegistryOptions) {
    this.#options = options;
  }

  /** The kinds of place that cards can run in. */
  get kinds(): readonly PlaceKind[] {
    return placeKinds.filter((kind) => kind === localPlace || this.#options.factories[kind] !== undefined);
  }

  /** The place of this id. Throws `not-found` for an id that is none, or of a kind that is not offered. */
  get(id: string): PlaceRunner {
    const known = this.#runners.get(id);
    if (known) return known;
    const name = parsePlace(id);
    const create = name && name.kind !== localPlace ? this.#options.factories[name.kind] : undefined;
    if (!name || !create)
      throw new UserError('not-found', `“${id}” names no place where cards can run`, { place: id });
    const runner = create(id, name);
    this.#runners.set(id, runner);
    return runner;
  }

  /**
   * The turns of a place. Elsewhere there are twice as many as run at once there: while one job's end is on its way
   * here, the next is there already.
   */
  slots(id: string): Slots {
    if (id === localPlace) return this.#options.localSlots;
    const parallel = this.#runners.get(id)?.view().facts?.parallel ?? 1;
    const known = this.#slots.get(id);
    if (known?.parallel === parallel) return known.slots;
    const slots = new Slots(2 * parallel);
    this.#slots.set(id, { parallel, slots });
    return slots;
  }

  /** Those that were asked for since the start, in the order of their ids. */
  inUse(): PlaceRunner[] {
    return [...this.#runners.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Lets go of a place; it is made anew when it is next asked for. Throws `conflict` where jobs of this engine are in it. */
  async drop(id: string): Promise<void> {
    const runner = this.#runners.get(id);
    if (!runner) return;
    if (runner.view().running > 0)
      throw new UserError('conflict', `Cards run in “${id}”. Wait for them or cancel them first.`, {
        place: id,
      });
    this.#runners.delete(id);
    this.#slots.delete(id);
    await runner.dispose();
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.dispose()));
    this.#runners.clear();
  }
}
