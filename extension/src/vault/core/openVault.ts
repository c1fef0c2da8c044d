import type { Buffer } from 'node:buffer';
import type { KnownHead } from './counterStore.ts';
import { sha256 } from './digests.ts';
import { isSigned, Keyring } from './keyring.ts';
import type { OpenOptions, VaultPlace } from './openOptions.ts';
import { derivePasswordKey } from './passwordKey.ts';
import { Randomness } from './randomness.ts';
import type { SealedVault, SealedVaultOptions } from './sealedVault.ts';
import { errorCode, nodeFiles, readWhole, withFile } from './vaultFiles.ts';
import { headerLimitBytes, parseHeader, type UncheckedHeader, type VaultHeader } from './vaultHeader.ts';
import { asVaultError, headerName, VaultStore, type StorePlace } from './vaultStore.ts';
import { VaultError, type OpenResult, type Tampering, type VaultKind } from './vaultState.ts';

export type Refusal = Exclude<OpenResult, { state: 'open' }>;

/** What is chosen for a place where it says nothing else. */
export function storePlace({ folder, files = nodeFiles, random, now = Date.now }: VaultPlace): StorePlace {
  return { folder, files, random: new Randomness(random), now };
}

/** What a vault is opened with beside its keys. */
export interface OpenSteps<V extends SealedVault> {
  readonly kind: VaultKind;
  /** The vault's key, by the slots of a header that is signed but not yet authenticated. */
  readonly unlock: (header: VaultHeader) => Promise<Buffer | Refusal>;
  readonly create: (options: SealedVaultOptions) => V;
}

/**
 * Reads, unlocks and checks a vault, and guards it against older files. Whatever is wrong with it is a result; nothing
 * is written before the whole vault was found to be what it says.
 */
export async function openVault<V extends SealedVault>(
  options: OpenOptions,
  steps: OpenSteps<V>,
): Promise<{ readonly state: 'open'; readonly vault: V } | Refusal> {
  const place = storePlace(options);
  const { counters, openOlder = false, derive = derivePasswordKey } = options;
  const found = readPresent(place);
  if ('state' in found) return found;
  const { parsed, digest } = found;
  if (parsed.header.kind !== steps.kind) return { state: 'other-vault' };
  if (!isSigned(parsed)) return { state: 'tampered', what: 'header-altered' };
  let known: KnownHead | undefined;
  try {
    known = await counters?.read(parsed.header.id);
  } catch {
    if (!openOlder) return { state: 'counter-unavailable' };
  }
  const key = await steps.unlock(parsed.header);
  if ('state' in key) return key;
  const keyring = new Keyring(parsed.header.id, key);
  try {
    if (!keyring.isOwn(parsed)) throw new VaultError('tampered', { what: 'header-altered' });
    const store = VaultStore.open(place, keyring, { header: parsed.header, digest });
    const { counter } = store.header.head;
    const isOlder =
      known && (counter < known.counter || (counter === known.counter && store.digest !== known.digest));
    if (known && isOlder) {
      if (!openOlder) throw new VaultError('rolled-back', { counter, known: known.counter });
      await store.raiseCounter(known.counter);
    }
    const vault = steps.create({ kind: steps.kind, place, store, counters, derive });
    await vault.keepCounter();
    ensureFolder(place);
    await store.tidy();
    return { state: 'open', vault };
  } catch (error) {
    keyring.wipe();
    return refusalOf(asVaultError(error));
  }
}

/** The header in a folder, parsed and not yet checked by a key, or why there is none. */
export function readPresent(
  place: StorePlace,
): { readonly parsed: UncheckedHeader; readonly digest: string } | Refusal {
  const { folder, files } = place;
  let bytes: Buffer | undefined;
  try {
    bytes = readWhole(files, `${folder}/${headerName}`, headerLimitBytes);
  } catch (error) {
    return { state: 'unreadable', code: errorCode(error) || 'unknown' };
  }
  if (!bytes) return hasRows(place) ? { state: 'tampered', what: 'header-altered' } : { state: 'absent' };
  const parsed = parseHeader(bytes);
  if ('later' in parsed) return { state: 'unsupported', version: parsed.later };
  if ('header' in parsed) return { parsed, digest: sha256(bytes).toString('hex') };
  return parsed.problem === 'downgraded'
    ? { state: 'tampered', what: 'downgraded' }
    : { state: 'unreadable', code: 'malformed' };
}

/** Makes the folder where it is not there, and for its owner alone. */
export function ensureFolder({ folder, files }: StorePlace): void {
  files.mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.platform === 'win32') return;
  withFile(files, folder, 'r', (handle) => {
    if ((files.fstatSync(handle).mode & 0o077) !== 0) files.fchmodSync(handle, 0o700);
  });
}

/** Rows without a header: a vault whose header was taken away, not a place for a fresh one. */
export function hasRows({ folder, files }: StorePlace): boolean {
  try {
    return files
      .readdirSync(folder)
      .filter((name) => /^rows-[0-9]+$/.test(name))
      .some((name) =>
        withFile(files, `${folder}/${name}`, 'r', (handle) => files.fstatSync(handle).size > 0),
      );
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function refusalOf({ code, data }: VaultError): Refusal {
  switch (code) {
    case 'tampered': {
      const what = data['what'] as Tampering;
      return { state: 'tampered', what, ...('item' in data ? { item: String(data['item']) } : {}) };
    }
    case 'rolled-back':
      return { state: 'rolled-back', counter: Number(data['counter']), known: Number(data['known']) };
    case 'not-written':
      return { state: 'unreadable', code: String(data['code']) };
    default:
      return { state: 'unreadable', code };
  }
}
