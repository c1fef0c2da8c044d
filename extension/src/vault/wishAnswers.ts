import * as z from 'zod/mini';
import type { Disposable } from '../disposable.ts';
import { KeptValue, type State } from '../keptValue.ts';

const answer = z.enum(['given', 'none']);
export type WishAnswer = z.infer<typeof answer>;

/** Whose wish it is: the plugin, and the scope of `wishScope`. */
export interface WishOwner {
  readonly principal: string;
  readonly scope: string;
}

const kept = z.record(z.string(), answer);
type Kept = Readonly<z.infer<typeof kept>>;

/**
 * What a person answered to the wishes of plugins, so that each is asked for once. It gives nothing by itself: a value is
 * used by a grant of the vault, and by that only while the answer here is `given`.
 */
export class WishAnswers implements Disposable {
  readonly #kept: KeptValue<Kept>;

  constructor(state: State, onError: (error: unknown) => void) {
    const parse = (value: unknown): Kept => z.safeParse(kept, value).data ?? {};
    this.#kept = new KeptValue(state, { name: 'sallyport.pluginWishes', parse, onError });
  }

  readonly onDidChange = (listener: () => void): Disposable => this.#kept.onDidChange(listener);

  get isEmpty(): boolean {
    return Object.keys(this.#kept.read()).length === 0;
  }

  /** Undefined where nobody has answered. */
  of(owner: WishOwner): WishAnswer | undefined {
    return new Map(Object.entries(this.#kept.read())).get(nameOf(owner));
  }

  async put(owner: WishOwner, value: WishAnswer): Promise<void> {
    await this.#kept.write({ ...this.#kept.read(), [nameOf(owner)]: value });
  }

  /** Forgets the answers to all other wishes. */
  async keepOnly(owners: readonly WishOwner[]): Promise<void> {
    const names = new Set(owners.map(nameOf));
    const all = Object.entries(this.#kept.read());
    const left = all.filter(([name]) => names.has(name));
    if (left.length < all.length) await this.#kept.write(Object.fromEntries(left));
  }

  dispose(): void {
    this.#kept.dispose();
  }
}

/** No principal has a space. */
function nameOf({ principal, scope }: WishOwner): string {
  return `${principal} ${scope}`;
}
