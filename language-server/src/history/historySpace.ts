import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { Database } from '../store/database.ts';
import { sizeOf, type Entries } from './entries.ts';
import type { FileState } from './fileState.ts';

/** Beyond the limit it shrinks to this part of it, so that not every change has to prune. */
const keptPart = 0.9;

/** The room that the history's contents take, and giving it up: the oldest first. */
export class HistorySpace {
  readonly limitBytes: number;
  readonly #database: Database;
  readonly #blobs: BlobStore;
  readonly #entries: Entries;
  #used: number | undefined;

  constructor(database: Database, blobs: BlobStore, entries: Entries, limitBytes: number) {
    this.#database = database;
    this.#blobs = blobs;
    this.#entries = entries;
    this.limitBytes = limitBytes;
  }

  /** Bytes on disk, counted once and then kept up with this engine's own changes. */
  usedBytes(): number {
    this.#used ??= this.#count();
    return this.#used;
  }

  /** Prunes where these changes made it too much. Counts what may be there already, and looks before it prunes. */
  grewBy(changes: readonly { readonly before: FileState; readonly after: FileState }[]): void {
    if (this.#used !== undefined) {
      for (const { before, after } of changes) this.#used += sizeOf(before) + sizeOf(after);
    }
    if (this.usedBytes() > this.limitBytes) this.prune();
  }

  /** Removes contents that no entry needs. */
  release(digests: readonly string[]): void {
    this.#database.transaction(() => {
      if (this.#entries.hasOpen()) return;
      for (const digest of new Set(digests)) if (!this.#entries.needs(digest)) this.#blobs.remove(digest);
    });
    this.#used = undefined;
  }

  /**
   * Gives up the oldest contents until the rest fits, and whatever no entry needs. The newest group that still fits
   * stays whole. In one transaction with the entries, so that no other engine can come to need what is removed. Does
   * nothing while a change is going on anywhere: the next one prunes.
   */
  prune(): void {
    this.#database.transaction(() => {
      if (this.#entries.hasOpen()) return;
      const needed = this.#entries.needed().map(({ digest }) => ({
        digest,
        sizeBytes: this.#blobs.sizeOf(digest) ?? 0,
      }));
      let total = needed.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      const kept = new Set(needed.map(({ digest }) => digest));
      if (total > this.limitBytes) {
        for (const { digest, sizeBytes } of needed) {
          if (total <= this.limitBytes * keptPart) break;
          this.#entries.prune(digest);
          kept.delete(digest);
          total -= sizeBytes;
        }
      }
      for (const { digest } of [...this.#blobs.list()]) if (!kept.has(digest)) this.#blobs.remove(digest);
    });
    this.#used = this.#count();
  }

  #count(): number {
    let used = 0;
    for (const { sizeBytes } of this.#blobs.list()) used += sizeBytes;
    return used;
  }
}
