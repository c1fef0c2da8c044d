import { Buffer } from 'node:buffer';
import { diagnose } from './diagnose.ts';
import { Keyring, isSigned } from './keyring.ts';
import { createSlot, openSlot } from './keySlots.ts';
import { BrokenLog, logBeginning, readExactly, readFrames, type LogFile } from './logReader.ts';
import type { PasswordDerivation } from './passwordKey.ts';
import type { ItemSummary } from './items.ts';
import type { Secret } from './secret.ts';
import { writeSnapshot, type SnapshotSource } from './snapshot.ts';
import { errorCode, readOnly, syncFolder, unlinkIfThere, writeWhole, type VaultFiles } from './vaultFiles.ts';
import { parseHeader, type HeaderKind, type VaultHeader } from './vaultHeader.ts';
import { VaultIndex } from './vaultIndex.ts';
import { asVaultError, type StorePlace } from './vaultStore.ts';
import { VaultError, type Tampering, type VaultKind } from './vaultState.ts';

/**
 * A backup is a vault in one file: its header, filled up with spaces to 4,096 bytes, then its log. It has a key of its
 * own, which a passphrase opens, and the id of the vault that it was made of.
 */
const headerRoom = 4096;

const backupKinds: Readonly<Record<VaultKind, HeaderKind>> = {
  agents: 'agents-backup',
  personal: 'personal-backup',
};

/** Shorter ones are refused: a backup lies where anybody may try. */
export const shortestPassphrase = 12;

export interface BackupOptions {
  readonly path: string;
  readonly passphrase: Secret;
  readonly place: StorePlace;
  readonly derive: PasswordDerivation;
}

/** Writes a backup of a vault. Rejects with `weak-password`, or `exists` where the path is taken. */
export async function writeBackup(
  { path, passphrase, place, derive }: BackupOptions,
  source: Omit<SnapshotSource, 'head'> & { readonly header: VaultHeader },
): Promise<void> {
  const { files, random } = place;
  if (passphrase.length < shortestPassphrase) throw new VaultError('weak-password');
  const { header } = source;
  const kind = backupKinds[header.kind === 'personal' ? 'personal' : 'agents'];
  const keyring = new Keyring(header.id, random.draw(32));
  const handle = openNew(files, path);
  try {
    const slot = await keyring.use((key) =>
      createSlot({ vaultId: header.id, kind }, { type: 'passphrase', passphrase }, key, { random, derive }),
    );
    const number = header.head.counter;
    const position = await writeSnapshot(
      { ...source, head: header.head },
      { log: { files, handle, base: headerRoom }, keyring, number },
      {},
      random,
    );
    const text = keyring.sealHeader({
      kind,
      id: header.id,
      slots: [slot],
      publicKey: keyring.publicKey,
      head: { counter: header.head.counter, savedAt: place.now(), log: number, ...position },
    });
    writeWhole(files, handle, Buffer.from(text.trimEnd().padEnd(headerRoom - 1) + '\n'), 0);
    files.fsyncSync(handle);
    syncFolder(files, path.slice(0, path.search(/[/\\][^/\\]*$/)) || '/');
  } catch (error) {
    unlinkIfThere(files, path);
    throw error;
  } finally {
    files.closeSync(handle);
    keyring.wipe();
  }
}

/** A backup that was opened and checked whole. `close` wipes its key. */
export interface Backup {
  readonly kind: VaultKind;
  readonly vaultId: string;
  /** The vault's counter when it was made. */
  readonly counter: number;
  readonly madeAt: number;
  list(): readonly ItemSummary[];
  /** Lends what it is read from. */
  source(): SnapshotSource;
  close(): void;
}

/** What opening a backup gives. The file is never written to. */
export type BackupResult =
  | { readonly state: 'open'; readonly backup: Backup }
  | { readonly state: 'absent' }
  | { readonly state: 'wrong-passphrase' }
  | { readonly state: 'tampered'; readonly what: Tampering; readonly item?: string }
  | { readonly state: 'unsupported'; readonly version: number }
  /** Not a backup, or one that was cut short before its header ends. */
  | { readonly state: 'unreadable'; readonly code: string };

/** Opens a backup to look at what is inside. The passphrase is borrowed. */
export async function openBackup(
  path: string,
  passphrase: Secret,
  { files, derive }: { readonly files: VaultFiles; readonly derive: PasswordDerivation },
): Promise<BackupResult> {
  let handle: number;
  try {
    handle = files.openSync(path, readOnly);
  } catch (error) {
    const code = errorCode(error);
    return code === 'ENOENT' ? { state: 'absent' } : { state: 'unreadable', code };
  }
  try {
    const result = await openAt({ files, handle, base: headerRoom }, passphrase, derive);
    if (result.state !== 'open') files.closeSync(handle);
    return result;
  } catch (error) {
    files.closeSync(handle);
    return { state: 'unreadable', code: asVaultError(error).code };
  }
}

async function openAt(log: LogFile, passphrase: Secret, derive: PasswordDerivation): Promise<BackupResult> {
  const bytes = headerBytes(log);
  const parsed = bytes ? parseHeader(bytes) : ({ problem: 'malformed' } as const);
  if ('later' in parsed) return { state: 'unsupported', version: parsed.later };
  if ('problem' in parsed)
    return parsed.problem === 'downgraded'
      ? { state: 'tampered', what: 'downgraded' }
      : { state: 'unreadable', code: 'malformed' };
  const { header } = parsed;
  const kind = (['agents', 'personal'] as const).find((each) => backupKinds[each] === header.kind);
  const [slot] = header.slots;
  if (!kind || !slot) return { state: 'unreadable', code: 'malformed' };
  if (!isSigned(parsed)) return { state: 'tampered', what: 'header-altered' };
  if (passphrase.length === 0) return { state: 'wrong-passphrase' };
  const key = await openSlot(
    { vaultId: header.id, kind: header.kind },
    slot,
    { type: 'passphrase', passphrase },
    derive,
  );
  if (!key) return { state: 'wrong-passphrase' };
  const keyring = new Keyring(header.id, key);
  const { head } = header;
  const index = new VaultIndex();
  try {
    if (!keyring.isOwn(parsed)) return closed(keyring, { state: 'tampered', what: 'header-altered' });
    const beginning = logBeginning(header.id, head.log);
    for (const { frame, rowsAt } of readFrames(log, keyring, head, beginning)) index.apply(frame, rowsAt);
  } catch (error) {
    if (!(error instanceof BrokenLog)) throw error;
    return closed(keyring, { state: 'tampered', ...diagnose(log, keyring, head) });
  }
  return {
    state: 'open',
    backup: {
      kind,
      vaultId: header.id,
      counter: head.counter,
      madeAt: head.savedAt,
      list: () => index.list(),
      source: () => ({ log, keyring, head, index }),
      close: () => {
        keyring.wipe();
        log.files.closeSync(log.handle);
      },
    },
  };
}

/** Whether a backup may take a vault's place unasked; undefined is yes. */
export function restoreObjection(
  backup: Pick<Backup, 'vaultId' | 'counter'>,
  present: { readonly id: string; readonly counter: number } | undefined,
): 'foreign' | 'stale' | undefined {
  if (!present) return undefined;
  if (present.id !== backup.vaultId) return 'foreign';
  return backup.counter < present.counter ? 'stale' : undefined;
}

function headerBytes(log: LogFile): Buffer | undefined {
  try {
    const room = readExactly({ ...log, base: 0 }, 0, headerRoom);
    const end = room.toString('latin1').trimEnd().length;
    const text = Buffer.from(`${room.toString('latin1', 0, end)}\n`, 'latin1');
    const isFilled = room.equals(
      Buffer.from(
        text
          .toString('latin1')
          .trimEnd()
          .padEnd(headerRoom - 1) + '\n',
        'latin1',
      ),
    );
    return isFilled ? text : undefined;
  } catch (error) {
    if (error instanceof BrokenLog) return undefined;
    throw error;
  }
}

function openNew(files: VaultFiles, path: string): number {
  try {
    return files.openSync(path, 'wx+', 0o600);
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? new VaultError('exists') : asVaultError(error);
  }
}

function closed(keyring: Keyring, result: BackupResult): BackupResult {
  keyring.wipe();
  return result;
}
