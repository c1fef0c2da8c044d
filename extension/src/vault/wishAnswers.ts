import * as z from 'zod/mini';
import { Emitter } from '../emitter.ts';
import type { Disposable } from '../disposable.ts';

/** The part of VS Code's `Memento` that this needs: `globalState`, which no workspace can write. */
export interface State {
  get(name: string): unknown;
  update(name: string, value: unknown): PromiseLike<void>;
}

const answer = z.enum(['given', 'none']);
export type WishAnswer = z.infer<typeof answer>;

/** Whose wish it is: the plugin, and the scope of `wishScope`. */
export interface WishOwner {
  readonly principal: string;
  readonly scope: string;
}

const stateName = 'sallyport.pluginWishes';
const kept = z.record(z.string(), answer);

/**
 * What a person answered to the wishes of plugins, so that each is asked for once. It gives nothing by itself: a value is
 * used by a grant of the vault, and by that only while the answer here is `given`.
 */
export class WishAnswers implements Disposable {
  readonly #state: State;
  readonly #changed: Emitter<void>;

  constructor(state: State, onError: (error: unknown) => void) {
    this.#state = state;
    this.#changed = new Emitter(onError);
  }

  readonly onDidChange = (listener: () => void): Disposable => this.#changed.on(listener);

  get isEmpty(): boolean {
    return Object.keys(this.#all()).length === 0;
  }

  /** Undefined where nobody has answered. */
  of(owner: WishOwner): WishAnswer | undefined {
    return new Map(Object.entries(this.#all())).get(nameOf(owner));
  }

  async put(owner: WishOwner, value: WishAnswer): Promise<void> {
    await this.#write({ ...this.#all(), [nameOf(owner)]: value });
  }

  /** Forgets the answers to all other wishes. */
  async keepOnly(owners: readonly WishOwner[]): Promise<void> {
    const names = new Set(owners.map(nameOf));
    const all = Object.entries(this.#all());
    const left = all.filter(([name]) => names.has(name));
    if (left.length < all.length) await this.#write(Object.fromEntries(left));
  }

  dispose(): void {
    this.#changed.dispose();
  }

  #all(): Readonly<Record<string, WishAnswer>> {
    return z.safeParse(kept, this.#state.get(stateName)).data ?? {};
  }

  async #write(all: Readonly<Record<string, WishAnswer>>): Promise<void> {
    await this.#state.update(stateName, all);
    this.#changed.fire();
  }
}

/** No principal has a space. */
function nameOf({ principal, scope }: WishOwner): string {
  return `${principal} ${scope}`;
}
