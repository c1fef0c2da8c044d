import type { Frame } from './frames.ts';
import type { Grant, UseLine } from './grants.ts';
import type { ItemSummary } from './items.ts';

/** Where a version's row is in the log. */
export interface StoredVersion {
  readonly summary: ItemSummary;
  readonly rowAt: number;
  readonly rowLength: number;
}

export const keptUses = 10_000;

/** What the frames of a log come to: everything but the values, in memory. */
export class VaultIndex {
  /** Versions of each item, oldest first. */
  readonly #items = new Map<string, StoredVersion[]>();
  readonly #removed = new Map<string, number>();
  readonly #grants = new Map<string, Grant>();
  #uses: UseLine[] = [];
  #sorted: readonly ItemSummary[] | undefined;

  /** `rowsAt` is where the frame's rows begin in the log. */
  apply(frame: Frame, rowsAt: number): void {
    let rowAt = rowsAt;
    for (const { summary, rowLength } of frame.items) {
      const stored = { summary, rowAt, rowLength };
      const versions = this.#items.get(summary.id);
      if (versions) versions.push(stored);
      else this.#items.set(summary.id, [stored]);
      rowAt += rowLength;
    }
    for (const { id, version } of frame.removed) {
      this.#items.delete(id);
      this.#removed.set(id, version);
    }
    for (const use of frame.uses) this.#count(use);
    for (const grant of frame.grants) this.#grants.set(grant.id, grant);
    if (frame.items.length > 0 || frame.removed.length > 0) this.#sorted = undefined;
  }

  list(): readonly ItemSummary[] {
    this.#sorted ??= sorted([...this.#items.values()].flatMap((versions) => versions.at(-1)?.summary ?? []));
    return this.#sorted;
  }

  current(item: string): ItemSummary | undefined {
    return this.#items.get(item)?.at(-1)?.summary;
  }

  /** Oldest first. */
  versions(item: string): readonly StoredVersion[] {
    return this.#items.get(item) ?? [];
  }

  get items(): ReadonlyMap<string, readonly StoredVersion[]> {
    return this.#items;
  }

  get removed(): ReadonlyMap<string, number> {
    return this.#removed;
  }

  /** The last version that an item of this name had, 0 where there was none. */
  lastVersion(item: string): number {
    return this.current(item)?.version ?? this.#removed.get(item) ?? 0;
  }

  grant(id: string): Grant | undefined {
    return this.#grants.get(id);
  }

  grants(): readonly Grant[] {
    return [...this.#grants.values()];
  }

  /** Oldest first, the latest 10,000. */
  uses(): readonly UseLine[] {
    return this.#uses;
  }

  #count(use: UseLine): void {
    this.#uses.push(use);
    if (this.#uses.length >= 2 * keptUses) this.#uses = this.#uses.slice(-keptUses);
    const grant = this.#grants.get(use.grant);
    if (grant) this.#grants.set(grant.id, { ...grant, used: grant.used + 1 });
  }
}

function sorted(items: readonly ItemSummary[]): readonly ItemSummary[] {
  return items
    .map((item) => ({ item, title: item.title.toLowerCase() }))
    .sort((a, b) => compare(a.title, b.title) || compare(a.item.id, b.item.id))
    .map(({ item }) => item);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
