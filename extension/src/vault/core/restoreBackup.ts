import { Buffer } from 'node:buffer';
import { AgentsVault } from './agentsVault.ts';
import { restoreObjection, type Backup } from './backups.ts';
import { createSlots } from './createVault.ts';
import { lockFolder } from './lockFolder.ts';
import { Keyring } from './keyring.ts';
import type { SlotKey } from './keySlots.ts';
import type { VaultPlace } from './openOptions.ts';
import { ensureFolder, hasRows, readPresent, storePlace } from './openVault.ts';
import { derivePasswordKey, shortestPassword } from './passwordKey.ts';
import { SealedPersonalVault } from './personalVault.ts';
import type { Secret } from './secret.ts';
import { createSecretKey } from './secretKey.ts';
import { writeSnapshot } from './snapshot.ts';
import { readOnly, syncFolder, unlinkIfThere, withFile, writeWhole } from './vaultFiles.ts';
import { asVaultError, headerName, logName, VaultStore, writeHeader, type StorePlace } from './vaultStore.ts';
import { VaultError } from './vaultState.ts';

/** What is to open the vault that comes of a backup. Borrowed. */
export type RestoreKey =
  | { readonly kind: 'agents'; readonly deviceKey: Secret }
  | { readonly kind: 'personal'; readonly password: Secret };

export type RestoreResult =
  | {
      readonly state: 'restored';
      readonly vault: AgentsVault | SealedPersonalVault;
      /** Fresh: the recovery key of the agents' vault, or the Secret Key of the personal one. Shown once. */
      readonly secretKey: string;
    }
  /** The backup is of another vault than the one in the folder, or older than it is: a person has to confirm. */
  | { readonly state: 'foreign' | 'stale' }
  /** An agents' backup for the personal vault, or the other way round. */
  | { readonly state: 'other-kind' };

/**
 * Makes a backup the vault of a folder, under fresh keys. What was there is copied whole into a folder `replaced-…`
 * first, so that nothing is lost. Rejects with a `VaultError`, and the folder's vault is as it was.
 */
export async function restoreBackup(
  backup: Backup,
  options: VaultPlace,
  key: RestoreKey,
  { isConfirmed }: { readonly isConfirmed: boolean },
): Promise<RestoreResult> {
  if (backup.kind !== key.kind) return { state: 'other-kind' };
  if (key.kind === 'personal' && key.password.length < shortestPassword)
    throw new VaultError('weak-password');
  const place = storePlace(options);
  const { random } = place;
  const { counters, derive = derivePasswordKey } = options;
  ensureFolder(place);
  const result = await alone(place, async (): Promise<RestoreResult & { readonly store?: VaultStore }> => {
    const present = presentOf(place);
    const objection = restoreObjection(backup, present);
    if (objection && !isConfirmed) return { state: objection };
    const known = await counters?.read(backup.vaultId).catch(() => undefined);
    const number = Math.max(backup.counter, present?.counter ?? 0, known?.counter ?? 0) + 1;
    if (present) setAside(place, present.counter);
    const keyring = new Keyring(backup.vaultId, random.draw(32));
    try {
      const secretKey = createSecretKey(random);
      const slots = await createSlots(keyring, key.kind, slotKeys(key, secretKey), { random, derive });
      const position = await writeLog(place, backup, keyring, number);
      const head = { counter: number, savedAt: place.now(), log: number, ...position };
      const header = { kind: key.kind, id: backup.vaultId, slots, publicKey: keyring.publicKey, head };
      const store = VaultStore.open(place, keyring, writeHeader(place, keyring, header));
      const made = { kind: key.kind, place, store, counters, derive };
      const vault = key.kind === 'agents' ? new AgentsVault(made) : new SealedPersonalVault(made);
      await vault.keepCounter();
      return { state: 'restored', vault, secretKey, store };
    } catch (error) {
      keyring.wipe();
      throw error;
    }
  });
  const { store, ...rest } = result;
  await store?.tidy();
  return rest;
}

async function alone<T>({ folder, files }: StorePlace, work: () => Promise<T>): Promise<T> {
  try {
    const lock = await lockFolder(folder, { files });
    try {
      return await work();
    } finally {
      lock.release();
    }
  } catch (error) {
    throw asVaultError(error);
  }
}

/** What is in the folder; of a vault that can't be read, only that it is there. */
function presentOf(place: StorePlace): { readonly id: string; readonly counter: number } | undefined {
  const found = readPresent(place);
  if ('parsed' in found) return { id: found.parsed.header.id, counter: found.parsed.header.head.counter };
  return found.state === 'absent' && !hasRows(place) ? undefined : { id: '', counter: 0 };
}

async function writeLog(place: StorePlace, backup: Backup, keyring: Keyring, number: number) {
  const { folder, files, random } = place;
  const path = `${folder}/${logName(number)}`;
  unlinkIfThere(files, path);
  const handle = files.openSync(path, 'wx+', 0o600);
  try {
    const target = { log: { files, handle, base: 0 }, keyring, number };
    const position = await writeSnapshot(backup.source(), target, {}, random);
    files.fsyncSync(handle);
    return position;
  } catch (error) {
    unlinkIfThere(files, path);
    throw error;
  } finally {
    files.closeSync(handle);
  }
}

/** Copies the header and every log into a folder of their own. */
function setAside(place: StorePlace, counter: number): void {
  const { folder, files, random } = place;
  const aside = `${folder}/replaced-${counter}-${random.draw(12).toString('hex').slice(0, 8)}`;
  files.mkdirSync(aside, { mode: 0o700 });
  for (const name of files.readdirSync(folder))
    if (name === headerName || /^rows-[0-9]+$/.test(name))
      copyFile(place, `${folder}/${name}`, `${aside}/${name}`);
  syncFolder(files, aside);
  syncFolder(files, folder);
}

function copyFile({ files }: StorePlace, from: string, to: string): void {
  withFile(files, from, readOnly, (source) =>
    withFile(files, to, 'wx', (target) => {
      const chunk = Buffer.allocUnsafeSlow(1024 * 1024);
      for (let at = 0, read = -1; read !== 0; at += read) {
        read = files.readSync(source, chunk, 0, chunk.length, at);
        writeWhole(files, target, chunk.subarray(0, read), at);
      }
      files.fsyncSync(target);
    }),
  );
}

function slotKeys(key: RestoreKey, secretKey: string): readonly SlotKey[] {
  return key.kind === 'agents'
    ? [
        { type: 'device', deviceKey: key.deviceKey },
        { type: 'recovery', secretKey },
      ]
    : [{ type: 'password', password: key.password, secretKey }];
}
