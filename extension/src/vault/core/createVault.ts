import { lockFolder } from './lockFolder.ts';
import { Keyring } from './keyring.ts';
import { createSlot, type SlotKey } from './keySlots.ts';
import type { VaultPlace } from './openOptions.ts';
import { ensureFolder, hasRows, readPresent, storePlace } from './openVault.ts';
import { derivePasswordKey, type PasswordDerivation } from './passwordKey.ts';
import type { Randomness } from './randomness.ts';
import type { SealedVault, SealedVaultOptions } from './sealedVault.ts';
import { asVaultError, createFiles, VaultStore } from './vaultStore.ts';
import type { HeaderKind, KeySlot } from './vaultHeader.ts';
import { VaultError, type VaultKind } from './vaultState.ts';

/** Creates an empty vault. Rejects with `exists` where there is one, or what is left of one. */
export async function createVault<V extends SealedVault>(
  options: VaultPlace,
  steps: {
    readonly kind: VaultKind;
    readonly keys: (random: Randomness) => readonly SlotKey[];
    readonly create: (options: SealedVaultOptions) => V;
  },
): Promise<V> {
  const place = storePlace(options);
  const { kind } = steps;
  const { counters, derive = derivePasswordKey } = options;
  const { random } = place;
  const keyring = new Keyring(random.draw(16).toString('hex'), random.draw(32));
  try {
    const slots = await createSlots(keyring, kind, steps.keys(random), { random, derive });
    ensureFolder(place);
    const lock = await lockFolder(place.folder, { files: place.files });
    try {
      const present = readPresent(place);
      if (!('state' in present) || present.state !== 'absent' || hasRows(place))
        throw new VaultError('exists');
      const stored = createFiles(place, keyring, { kind, slots });
      const store = VaultStore.open(place, keyring, stored);
      const vault = steps.create({ kind, place, store, counters, derive });
      await vault.keepCounter();
      return vault;
    } finally {
      lock.release();
    }
  } catch (error) {
    keyring.wipe();
    throw error instanceof RangeError ? error : asVaultError(error);
  }
}

/** Seals a vault's key once for each of these keys. */
export async function createSlots(
  keyring: Keyring,
  kind: HeaderKind,
  keys: readonly SlotKey[],
  tools: { readonly random: Randomness; readonly derive: PasswordDerivation },
): Promise<readonly KeySlot[]> {
  const slots: KeySlot[] = [];
  for (const key of keys)
    slots.push(
      await keyring.use((vaultKey) => createSlot({ vaultId: keyring.vaultId, kind }, key, vaultKey, tools)),
    );
  return slots;
}
