import { sha256 } from './digests.ts';
import { diagnose } from './diagnose.ts';
import { lockFolder } from './lockFolder.ts';
import { sealFrame, type FrameContent } from './frames.ts';
import type { Keyring } from './keyring.ts';
import { BrokenLog, logBeginning, readFrames, readRow, type LogFile, type LogPosition } from './logReader.ts';
import type { Randomness } from './randomness.ts';
import { advanced, writeSnapshot, type SnapshotChange } from './snapshot.ts';
import {
  errorCode,
  readOnly,
  readWhole,
  readWrite,
  replaceFile,
  syncFolder,
  unlinkIfThere,
  withFile,
  writeWhole,
  type VaultFiles,
} from './vaultFiles.ts';
import { headerLimitBytes, parseHeader, type VaultHeader } from './vaultHeader.ts';
import { VaultIndex, type StoredVersion } from './vaultIndex.ts';
import { VaultError } from './vaultState.ts';

export const headerName = 'vault.json';

export function logName(log: number): string {
  return `rows-${log}`;
}

export interface StorePlace {
  readonly folder: string;
  readonly files: VaultFiles;
  readonly random: Randomness;
  readonly now: () => number;
}

/** The header as it lies on the disk. */
export interface StoredHeader {
  readonly header: VaultHeader;
  /** SHA-256 of the file. */
  readonly digest: string;
}

/**
 * A vault's files and what they come to. A change is first in the log, then in the header, which is replaced in one
 * step: whatever ends the process in between, the state before or the state after is what the next one finds.
 */
export class VaultStore {
  readonly #place: StorePlace;
  #keyring: Keyring;
  #stored: StoredHeader;
  #position: LogPosition;
  #index: VaultIndex;
  /** Changes of this process, one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(
    place: StorePlace,
    keyring: Keyring,
    stored: StoredHeader,
    read: { index: VaultIndex; position: LogPosition },
  ) {
    this.#place = place;
    this.#keyring = keyring;
    this.#stored = stored;
    this.#index = read.index;
    this.#position = read.position;
  }

  /** Reads the whole log. Throws `tampered` where it is not what the header says. `stored` was checked by the key. */
  static open(place: StorePlace, keyring: Keyring, stored: StoredHeader): VaultStore {
    for (let round = 0; ; round++) {
      try {
        return new VaultStore(place, keyring, stored, readAll(place, keyring, stored.header));
      } catch (error) {
        // Another process has just rewritten the log: its header tells where it is.
        const isGone = errorCode(error) === 'ENOENT';
        const next = isGone && round < 5 ? readOwn(place, keyring) : undefined;
        if (isGone && next?.digest === stored.digest) throw tampered({ what: 'truncated' });
        if (!next) throw asVaultError(error);
        stored = next;
      }
    }
  }

  get index(): VaultIndex {
    return this.#index;
  }

  get header(): VaultHeader {
    return this.#stored.header;
  }

  get digest(): string {
    return this.#stored.digest;
  }

  get keyring(): Keyring {
    return this.#keyring;
  }

  /** Reads what another process wrote since. True where there was something. */
  refresh(): Promise<boolean> {
    return this.#inTurn(async () => {
      try {
        return this.#refresh();
      } catch (error) {
        throw this.#explained(error);
      }
    });
  }

  /**
   * Adds to the log what `plan` makes of the vault as it is then, alone among all processes. Nothing is written where it
   * throws or makes nothing.
   */
  commit<T>(
    plan: (index: VaultIndex) => { readonly contents: readonly FrameContent[]; readonly result: T },
  ): Promise<T> {
    return this.#alone(async () => {
      const { contents, result } = plan(this.#index);
      if (contents.length > 0) this.#append(contents);
      if (this.#isScattered()) await this.#gather();
      return result;
    });
  }

  /**
   * Writes everything into a fresh log, without what the change leaves out; the log before is taken away. With another
   * keyring it becomes the vault's, and the one before is wiped.
   */
  rewrite(
    plan: (index: VaultIndex) => Promise<{
      readonly change: SnapshotChange;
      readonly keyring?: Keyring;
      readonly header?: Partial<Pick<VaultHeader, 'slots' | 'publicKey'>>;
    }>,
  ): Promise<void> {
    return this.#alone(async () => {
      const { change, keyring = this.#keyring, header = {} } = await plan(this.#index);
      try {
        await this.#rewrite(keyring, header, change);
      } finally {
        // A keyring that did not become the vault's.
        if (keyring !== this.#keyring) keyring.wipe();
      }
    });
  }

  /** A row's bytes, unchecked. Reads the header again where another process has just rewritten the log. */
  async readRow(find: (index: VaultIndex) => StoredVersion): Promise<Buffer> {
    for (let round = 0; ; round++) {
      const { rowAt, rowLength } = find(this.#index);
      try {
        return this.#withLog((log) => readRow(log, rowAt, rowLength));
      } catch (error) {
        if (errorCode(error) !== 'ENOENT' || round >= 5) throw asVaultError(error);
        await this.refresh();
      }
    }
  }

  /** Lends the log, for a copy of the vault. No other process changes it meanwhile. */
  copy<T>(
    work: (log: LogFile, keyring: Keyring, header: VaultHeader, index: VaultIndex) => Promise<T>,
  ): Promise<T> {
    return this.#alone(() =>
      this.#withLogAsync((log) => work(log, this.#keyring, this.#stored.header, this.#index)),
    );
  }

  /** Raises the counter above another one: a person said that an older file is to count. */
  async raiseCounter(above: number): Promise<void> {
    await this.#alone(async () => {
      const { header } = this.#stored;
      const counter = Math.max(above, header.head.counter) + 1;
      this.#writeHeader(this.#keyring, { ...header, head: { ...header.head, counter } });
    });
  }

  /** Takes away what a process left behind that ended in the middle of a change. */
  async tidy(): Promise<void> {
    if (leftOver(this.#place, this.header.head.log).length === 0) return;
    await this.#alone(async () => sweep(this.#place, this.header.head.log));
  }

  wipe(): void {
    this.#keyring.wipe();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#last.then(work, work);
    this.#last = run.catch(() => undefined);
    return run;
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      const { folder, files } = this.#place;
      try {
        const lock = await lockFolder(folder, { files });
        try {
          this.#refresh();
          return await work();
        } finally {
          lock.release();
        }
      } catch (error) {
        throw this.#explained(error);
      }
    });
  }

  #refresh(): boolean {
    for (let round = 0; ; round++) {
      const stored = readOwn(this.#place, this.#keyring);
      if (!stored) throw new VaultError('locked');
      if (stored.digest === this.#stored.digest) return false;
      const { counter: known } = this.#stored.header.head;
      const { counter } = stored.header.head;
      if (counter <= known) throw new VaultError('rolled-back', { counter, known });
      try {
        this.#follow(stored);
        return true;
      } catch (error) {
        // Rewritten once more in between: the next header tells where.
        if (errorCode(error) !== 'ENOENT' || round >= 5) throw error;
      }
    }
  }

  #follow(stored: StoredHeader): void {
    const { head } = stored.header;
    if (head.log === this.#stored.header.head.log) {
      const frames = this.#withLog((log) =>
        [...readFrames(log, this.#keyring, head, this.#position)].map(({ frame, rowsAt }) => ({
          frame,
          rowsAt,
        })),
      );
      for (const { frame, rowsAt } of frames) this.#index.apply(frame, rowsAt);
      this.#position = head;
    } else {
      const read = readAll(this.#place, this.#keyring, stored.header);
      this.#index = read.index;
      this.#position = read.position;
    }
    this.#stored = stored;
  }

  #append(contents: readonly FrameContent[]): void {
    const { folder, files, random } = this.#place;
    const { head } = this.#stored.header;
    const placed: { content: FrameContent; rowsAt: number }[] = [];
    let position = this.#position;
    const frames = contents.map((content) => {
      const frame = sealFrame(this.#keyring, { log: head.log, sequence: position.frames }, content, random);
      position = advanced(position, frame);
      const rowsBytes = content.items.reduce((sum, { row }) => sum + row.length, 0);
      placed.push({ content, rowsAt: position.bytes - rowsBytes });
      return frame;
    });
    withFile(files, `${folder}/${logName(head.log)}`, readWrite, (handle) => {
      const { size } = files.fstatSync(handle);
      if (size < head.bytes) throw new BrokenLog();
      // What a process left behind that ended before it wrote the header.
      if (size > head.bytes) files.ftruncateSync(handle, head.bytes);
      let at = head.bytes;
      for (const frame of frames) {
        writeWhole(files, handle, frame, at);
        at += frame.length;
      }
      const next = { ...this.#stored.header, head: this.#nextHead(head.log, position) };
      this.#writeHeader(this.#keyring, next, handle);
    });
    this.#position = position;
    for (const { content, rowsAt } of placed) this.#index.apply(asFrame(content), rowsAt);
  }

  async #rewrite(
    keyring: Keyring,
    header: Partial<Pick<VaultHeader, 'slots' | 'publicKey'>>,
    change: SnapshotChange,
  ): Promise<void> {
    const { folder, files, random } = this.#place;
    const number = this.#stored.header.head.counter + 1;
    const path = `${folder}/${logName(number)}`;
    const source = { keyring: this.#keyring, head: this.#stored.header.head, index: this.#index };
    unlinkIfThere(files, path);
    const handle = files.openSync(path, 'wx+', 0o600);
    let position: LogPosition;
    try {
      const target = { log: { files, handle, base: 0 }, keyring, number };
      position = await this.#withLogAsync((log) => writeSnapshot({ ...source, log }, target, change, random));
      files.fsyncSync(handle);
    } catch (error) {
      unlinkIfThere(files, path);
      throw error;
    } finally {
      files.closeSync(handle);
    }
    // From here on the log may be the vault's, whatever fails: `tidy` takes it away where it is not.
    const next = { ...this.#stored.header, ...header, head: this.#nextHead(number, position) };
    const stored = this.#writeHeader(keyring, next);
    if (keyring !== this.#keyring) {
      this.#keyring.wipe();
      this.#keyring = keyring;
    }
    const read = readAll(this.#place, keyring, stored.header);
    this.#index = read.index;
    this.#position = read.position;
    sweep(this.#place, number);
  }

  /** The change before it is on the disk: where this fails, the next change tries again. */
  async #gather(): Promise<void> {
    try {
      await this.#rewrite(this.#keyring, {}, {});
    } catch {
      // As said.
    }
  }

  #nextHead(log: number, { bytes, frames, digest }: LogPosition): VaultHeader['head'] {
    const { counter } = this.#stored.header.head;
    return { counter: counter + 1, savedAt: this.#place.now(), log, bytes, frames, digest };
  }

  /** `log` is on the disk before the header is in its place. */
  #writeHeader(keyring: Keyring, header: VaultHeader, log?: number): StoredHeader {
    this.#stored = writeHeader(this.#place, keyring, header, log);
    return this.#stored;
  }

  /** Many small frames are slow to read: then the log is written anew. The more rows, the later. */
  #isScattered(): boolean {
    return this.#position.frames > 256 + this.#index.items.size / 8;
  }

  #withLog<T>(work: (log: LogFile) => T): T {
    const { files } = this.#place;
    return withFile(files, this.#logPath(), readOnly, (handle) => work({ files, handle, base: 0 }));
  }

  async #withLogAsync<T>(work: (log: LogFile) => Promise<T>): Promise<T> {
    const { files } = this.#place;
    const handle = files.openSync(this.#logPath(), readOnly);
    try {
      return await work({ files, handle, base: 0 });
    } finally {
      files.closeSync(handle);
    }
  }

  #logPath(): string {
    return `${this.#place.folder}/${logName(this.#stored.header.head.log)}`;
  }

  #explained(error: unknown): VaultError {
    if (!(error instanceof BrokenLog)) return asVaultError(error);
    try {
      return tampered(this.#withLog((log) => diagnose(log, this.#keyring, this.#stored.header.head)));
    } catch (cause) {
      return asVaultError(cause);
    }
  }
}

/** Writes a header in place of the one before, or of none, after what it names: `log`, where that is not synced yet. */
export function writeHeader(
  place: StorePlace,
  keyring: Keyring,
  header: VaultHeader,
  log?: number,
): StoredHeader {
  const bytes = Buffer.from(keyring.sealHeader(header));
  const suffix = place.random.draw(12).toString('hex');
  replaceFile(place.files, place.folder, headerName, bytes, suffix, log);
  return { header, digest: sha256(bytes).toString('hex') };
}

/** Creates an empty log and its header. The folder is locked and has no vault. */
export function createFiles(
  place: StorePlace,
  keyring: Keyring,
  header: Pick<VaultHeader, 'kind' | 'slots'>,
): StoredHeader {
  const { folder, files, now } = place;
  const log = 1;
  const path = `${folder}/${logName(log)}`;
  unlinkIfThere(files, path);
  withFile(files, path, 'wx', (handle) => files.fsyncSync(handle));
  const { bytes, frames, digest } = logBeginning(keyring.vaultId, log);
  return writeHeader(place, keyring, {
    ...header,
    id: keyring.vaultId,
    publicKey: keyring.publicKey,
    head: { counter: 1, savedAt: now(), log, bytes, frames, digest },
  });
}

/** The header in the folder where this keyring made it; otherwise the vault was given other keys, or another file. */
function readOwn({ folder, files }: StorePlace, keyring: Keyring): StoredHeader | undefined {
  const bytes = readWhole(files, `${folder}/${headerName}`, headerLimitBytes);
  const parsed = bytes && parseHeader(bytes);
  if (!bytes || !parsed || !('header' in parsed) || !keyring.isOwn(parsed)) return undefined;
  return { header: parsed.header, digest: sha256(bytes).toString('hex') };
}

function readAll(place: StorePlace, keyring: Keyring, { head }: VaultHeader) {
  const { folder, files } = place;
  return withFile(files, `${folder}/${logName(head.log)}`, readOnly, (handle) => {
    const log = { files, handle, base: 0 };
    const index = new VaultIndex();
    try {
      const beginning = logBeginning(keyring.vaultId, head.log);
      for (const { frame, rowsAt } of readFrames(log, keyring, head, beginning)) index.apply(frame, rowsAt);
    } catch (error) {
      throw error instanceof BrokenLog ? tampered(diagnose(log, keyring, head)) : error;
    }
    return { index, position: { bytes: head.bytes, frames: head.frames, digest: head.digest } };
  });
}

/** Takes away what no header names any more. */
function sweep(place: StorePlace, log: number): void {
  const { folder, files } = place;
  for (const name of leftOver(place, log)) unlinkIfThere(files, `${folder}/${name}`);
  syncFolder(files, folder);
}

/** Logs of before, and files that were never renamed. */
function leftOver({ folder, files }: StorePlace, log: number): string[] {
  return files
    .readdirSync(folder)
    .filter((name) =>
      /^rows-[0-9]+$/.test(name) ? name !== logName(log) : /^[a-z]+\.json\.[0-9a-f]{24}$/.test(name),
    );
}

function asFrame({ items, ...rest }: FrameContent) {
  return { ...rest, items: items.map(({ summary, row }) => ({ summary, rowLength: row.length })) };
}

function tampered({ what, item }: { what: string; item?: string }): VaultError {
  return new VaultError('tampered', item === undefined ? { what } : { what, item });
}

/** An error of the system by what a person can do about it; its text may name paths and goes to no one. */
export function asVaultError(error: unknown): VaultError {
  if (error instanceof VaultError) return error;
  const code = errorCode(error);
  if (code === 'ENOSPC' || code === 'EDQUOT') return new VaultError('disk-full', {}, error);
  return new VaultError('not-written', { code: code || 'unknown' }, error);
}
