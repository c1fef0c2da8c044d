import { sep } from 'node:path';
import * as z from 'zod/mini';
import { principal } from '../../../protocol/src/gate.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { text, type Database } from '../store/database.ts';
import { Entries, type ChangeContext, type ChangeKind, type Direction, type Entry } from './entries.ts';
import { absent, fileState, isSameState, lookAt, type FileState, type Look } from './fileState.ts';
import { absolutePath, depthOf, parentOf, placeKey, type Place } from './place.ts';
import { hashOnly } from './hashOnly.ts';
import { HistorySpace } from './historySpace.ts';
import { scanFolder, type Scan } from './scanFolder.ts';
import { applySteps, sweepTemporary, type Step, type WantedState } from './transaction.ts';

/** One path to be changed. */
export interface Wanted {
  readonly place: Place;
  readonly to: WantedState;
  /** What the asker saw there; anything else is a `conflict`. Absent: whatever is there. */
  readonly expected?: FileState;
  /** For people, where it is not to be told from the states: both ends of a rename. */
  readonly kind?: ChangeKind;
  /** Entries that this takes back or does again. */
  readonly reverts?: readonly Entry[];
}

/** What a change takes back or does again: these entries are marked in the same moment. */
export interface Turning {
  readonly direction: Direction;
  readonly seqs: readonly number[];
}

/** A change that happened. */
export interface Recorded {
  readonly id: string;
  readonly place: Place;
  readonly kind: ChangeKind;
  readonly before: FileState;
  readonly after: FileState;
}

export interface JournalOptions {
  readonly database: Database;
  /** A store of its own: what no entry needs is removed from it. */
  readonly blobs: BlobStore;
  /** This engine, as in the store's leases. */
  readonly engine: string;
  readonly createId: () => string;
  readonly now: () => number;
  readonly limitBytes: number;
  readonly onChanged: (root: string) => void;
}

/**
 * The record of every change of a person's files, made before the change. What was there is kept and noted as begun;
 * then the change is made; then what is there is noted. A crash in between leaves a begun entry, which `recover`
 * completes by looking. Changes of one engine are made one after the other.
 */
export class Journal {
  readonly entries: Entries;
  readonly space: HistorySpace;
  readonly #options: JournalOptions;
  readonly #recording = new Set<{ readonly bases: readonly string[]; readonly ended: Promise<void> }>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: JournalOptions) {
    this.#options = options;
    this.entries = new Entries(options.database);
    this.space = new HistorySpace(options.database, options.blobs, this.entries, options.limitBytes);
  }

  get blobs(): BlobStore {
    return this.#options.blobs;
  }

  /** Keeps bytes that are to be written, for the `to` of a wanted change. */
  keep(bytes: Uint8Array): { readonly digest: string; readonly sizeBytes: number } {
    return this.#options.blobs.putBytes(bytes);
  }

  /** What is at a place now; its content is kept. Throws as `lookAt` does. */
  look(place: Place): Promise<Look> {
    return lookAt(place, this.#options.blobs, this.#options.limitBytes);
  }

  /**
   * Makes changes, all or none, each recorded before it is made; folders that are missing on the way are made and
   * recorded too. Throws `conflict` where something is not as expected or changes meanwhile, `unsafe-path` for a way
   * through links, `too-large` for what the history can't hold.
   */
  change(context: ChangeContext, wanted: readonly Wanted[], turning?: Turning): Promise<Recorded[]> {
    return this.#inTurn(async () => {
      const steps: (Step & { readonly wanted: Wanted })[] = [];
      for (const each of await this.#withFolders(wanted)) {
        const { state, signature } = await this.look(each.place);
        if (each.expected && !isSameState(each.expected, state)) throw notAsSeen(each.place);
        steps.push({ place: each.place, from: state, signature, to: each.to, wanted: each });
      }
      return this.#around(context, steps, turning, () =>
        applySteps(steps, this.#options.blobs, this.#options.engine),
      );
    });
  }

  /**
   * Records what `write` does to these places, whatever it does. For effects that are not made by `change`. Rejects with
   * what `write` threw, once what it did is recorded.
   */
  record(context: ChangeContext, places: readonly Place[], write: () => Promise<void>): Promise<Recorded[]> {
    return this.#inTurn(async () => {
      const looks = [];
      for (const place of places) {
        const { state } = await this.look(place);
        looks.push({ place, from: state, wanted: undefined });
      }
      return this.#around(context, looks, undefined, write);
    });
  }

  /**
   * Records whatever `write` changes in these folders: everything in them is kept first, what changed is told from
   * metadata and content afterwards, and only that stays kept. Waits for records of the same folders, so that a change
   * is recorded once. Throws `too-large`, and does not call `write`, where they hold more than can be kept. Rejects with
   * what `write` threw, once what it did is recorded.
   */
  async recordFolders(
    context: ChangeContext,
    folders: readonly string[],
    write: () => Promise<void>,
  ): Promise<Recorded[]> {
    const outermost = folders.filter(
      (each, at) => !folders.some((other, index) => isBelow(other, each) && (other !== each || index < at)),
    );
    const overlaps = (others: readonly string[]) =>
      others.some((other) => outermost.some((each) => isBelow(each, other) || isBelow(other, each)));
    for (;;) {
      const busy = [...this.#recording].find(({ bases }) => overlaps(bases));
      if (!busy) break;
      await busy.ended;
    }
    let end: () => void = () => undefined;
    const recording = { bases: outermost, ended: new Promise<void>((resolve) => (end = resolve)) };
    this.#recording.add(recording);
    try {
      return await this.#recordAll(context, outermost, write);
    } finally {
      this.#recording.delete(recording);
      end();
    }
  }

  async #recordAll(
    context: ChangeContext,
    bases: readonly string[],
    write: () => Promise<void>,
  ): Promise<Recorded[]> {
    const { blobs, limitBytes } = this.#options;
    const scans: { readonly base: string; readonly before: Scan }[] = [];
    for (const base of bases) scans.push({ base, before: await scanFolder(base, { blobs, limitBytes }) });
    const begun = scans.map((scan) => ({ ...scan, id: this.#beginFolder(context, scan.base, scan.before) }));
    let failure: { readonly error: unknown } | undefined;
    try {
      await write();
    } catch (error) {
      failure = { error };
    }
    const recorded: Recorded[] = [];
    for (const { id, base, before } of begun)
      recorded.push(...(await this.#inTurn(() => this.#finishFolder(id, context, base, before))));
    if (failure) throw failure.error;
    return recorded;
  }

  /** Completes what engines that are gone had begun, by looking. Returns the number of changes that were found. */
  recover(isAlive: (engine: string) => boolean): Promise<number> {
    return this.#inTurn(async () => {
      const { database, engine } = this.#options;
      let found = 0;
      for (const { entry, engine: owner } of this.entries.unfinished(engine)) {
        if (isAlive(owner)) continue;
        found += (await this.#complete(entry, owner)) ? 1 : 0;
      }
      for (const row of database.all('select * from history_folders where engine <> ?', engine)) {
        if (isAlive(text(row, 'engine'))) continue;
        const listing: unknown = JSON.parse(
          this.#options.blobs.readBytes(text(row, 'listing')).toString('utf8'),
        );
        const before = new Map(storedScan.parse(listing));
        const context = storedContext.parse(JSON.parse(text(row, 'context_json')));
        found += (await this.#finishFolder(text(row, 'id'), context, text(row, 'base'), before)).length;
      }
      return found;
    });
  }

  /** True where something had changed. What can't be looked at keeps what was there before; an undo looks again. */
  async #complete(entry: Entry, owner: string): Promise<boolean> {
    let state: FileState = absent;
    try {
      sweepTemporary(entry.place, owner);
      state = (await this.look(entry.place)).state;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
    }
    return this.#options.database.transaction(() => {
      const turned = entry.origin === null ? [] : this.entries.revertedBy(entry.seq);
      if (this.#finish(entry.seq, entry.before, state, undefined) === undefined) return false;
      if (entry.origin !== null) this.entries.turn(turned, entry.origin);
      return true;
    });
  }

  async #around(
    context: ChangeContext,
    looks: readonly {
      readonly place: Place;
      readonly from: FileState;
      readonly wanted: Wanted | undefined;
    }[],
    turning: Turning | undefined,
    write: () => Promise<void>,
  ): Promise<Recorded[]> {
    const { database, engine, createId, now, blobs } = this.#options;
    const at = now();
    const origin = turning?.direction ?? null;
    const begun = looks.map((look) => ({ ...look, id: createId(), seq: 0 }));
    database.transaction(() => {
      for (const each of begun) {
        const { place, from, wanted } = each;
        const reverts = (wanted?.reverts ?? []).map(({ seq }) => seq);
        each.seq = this.entries.begin({
          id: each.id,
          engine,
          context,
          place,
          before: from,
          origin,
          reverts,
          at,
        });
        // Another engine may have pruned this content between the look and now.
        if (from.kind === 'file' && blobs.sizeOf(from.digest) !== from.sizeBytes) throw notAsSeen(place);
      }
    });
    let failure: { readonly error: unknown } | undefined;
    try {
      await write();
    } catch (error) {
      failure = { error };
    }
    const ends: FileState[] = [];
    for (const { place } of begun) ends.push(await this.#stateAfter(place));
    const recorded = database.transaction(() => {
      if (turning && !failure) this.entries.turn(turning.seqs, turning.direction);
      return begun.flatMap(({ id, seq, place, from, wanted }, index) => {
        const after = ends[index] ?? absent;
        const kind = this.#finish(seq, from, after, wanted?.kind);
        return kind === undefined ? [] : [{ id, place, kind, before: from, after }];
      });
    });
    this.space.grewBy(recorded);
    if (recorded.length > 0) this.#options.onChanged(context.root);
    if (failure) throw failure.error;
    return recorded;
  }

  /** A place that can't be looked at after the effect counts as emptied: the undo looks again and shows a conflict. */
  async #stateAfter(place: Place): Promise<FileState> {
    try {
      return (await this.look(place)).state;
    } catch (error) {
      if (error instanceof UserError) return absent;
      throw error;
    }
  }

  /** Ends an entry; undefined where nothing had changed and so nothing is left of it. */
  #finish(
    seq: number,
    before: FileState,
    after: FileState,
    named: ChangeKind | undefined,
  ): ChangeKind | undefined {
    if (isSameState(before, after)) {
      this.entries.drop(seq);
      return undefined;
    }
    const kind = named ?? kindOf(before, after);
    this.entries.finish(seq, before, after, kind);
    return kind;
  }

  #beginFolder(context: ChangeContext, base: string, before: Scan): string {
    const { database, blobs, engine, createId, now } = this.#options;
    const id = createId();
    const listing = blobs.putBytes(Buffer.from(JSON.stringify([...before])));
    database.run(
      'insert into history_folders (id, engine, context_json, base, listing, at) values (?, ?, ?, ?, ?, ?)',
      id,
      engine,
      JSON.stringify(context),
      base,
      listing.digest,
      now(),
    );
    return id;
  }

  async #finishFolder(id: string, context: ChangeContext, base: string, before: Scan): Promise<Recorded[]> {
    const { database, engine, createId, now } = this.#options;
    const after = await this.#scanAfter(base, before);
    const at = now();
    const changed = [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((path) => {
      const from = before.get(path)?.state ?? absent;
      const to = after.get(path)?.state ?? absent;
      return isSameState(from, to) ? [] : [{ place: { base, path }, from, to }];
    });
    const { recorded, listing } = database.transaction(() => {
      const made = changed.map(({ place, from, to }): Recorded => {
        const entryId = createId();
        const beginning = {
          id: entryId,
          engine,
          context,
          place,
          before: from,
          origin: null,
          reverts: [],
          at,
        };
        const kind = kindOf(from, to);
        this.entries.finish(this.entries.begin(beginning), from, to, kind);
        return { id: entryId, place, kind, before: from, after: to };
      });
      const row = database.get('delete from history_folders where id = ? returning listing', id);
      return { recorded: made, listing: row ? text(row, 'listing') : undefined };
    });
    const looks = [...before.values(), ...after.values()];
    const contents = looks.flatMap(({ state }) => (state.kind === 'file' ? [state.digest] : []));
    this.space.release(listing === undefined ? contents : [...contents, listing]);
    this.space.grewBy(recorded);
    if (recorded.length > 0) this.#options.onChanged(context.root);
    return recorded;
  }

  /** What came may be more than can be kept: then it is only measured, and what was there before stays kept. */
  async #scanAfter(base: string, known: Scan): Promise<Scan> {
    const { blobs, limitBytes } = this.#options;
    try {
      return await scanFolder(base, { blobs, known, limitBytes });
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'too-large') throw error;
      return scanFolder(base, { blobs: hashOnly, known, limitBytes: Infinity, limitEntries: Infinity });
    }
  }

  /** Adds the folders that are missing on the way to what is to be put somewhere. */
  async #withFolders(wanted: readonly Wanted[]): Promise<Wanted[]> {
    const all = new Map(wanted.map((each) => [placeKey(each.place), each]));
    if (all.size !== wanted.length) throw new UserError('bad-message', 'One path is changed twice at once');
    const there = new Set<string>();
    for (const { place, to } of wanted) {
      if (to.kind === 'absent') continue;
      for (let folder = parentOf(place); folder; folder = parentOf(folder)) {
        const key = placeKey(folder);
        if (all.has(key) || there.has(key)) break;
        const { kind } = (await this.look(folder)).state;
        if (kind === 'folder') {
          there.add(key);
          break;
        }
        if (kind !== 'absent') {
          const path = absolutePath(folder);
          throw new UserError('unsafe-path', `${path} is not a folder (${kind})`, { path });
        }
        all.set(key, { place: folder, to: { kind: 'folder', mode: null }, expected: absent });
      }
    }
    return [...all.values()].sort((a, b) => depthOf(a.place) - depthOf(b.place));
  }

  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#last.then(act);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

function isBelow(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

const storedScan = z.array(z.tuple([z.string(), z.object({ state: fileState, signature: z.string() })]));
const storedContext = z.object({
  root: z.string(),
  principal,
  conversation: z.nullable(z.string()),
  group: z.string(),
  groupTitle: z.string(),
});

function kindOf(before: FileState, after: FileState): ChangeKind {
  if (before.kind === 'absent') return 'create';
  if (after.kind === 'absent') return 'delete';
  const isMode =
    (before.kind === 'file' && after.kind === 'file' && before.digest === after.digest) ||
    (before.kind === 'folder' && after.kind === 'folder');
  return isMode ? 'mode' : 'edit';
}

function notAsSeen(place: Place): UserError {
  const path = absolutePath(place);
  return new UserError('conflict', `${path} is not as it was when the change was made up. Look again.`, {
    path,
  });
}
