import { Buffer } from 'node:buffer';
import { attemptsText, failed, noAttempts, parseAttempts, waitMs, type Attempts } from './backOff.ts';
import { createSlots, createVault } from './createVault.ts';
import { lockFolder } from './lockFolder.ts';
import { Keyring } from './keyring.ts';
import { openSlot } from './keySlots.ts';
import type { OpenOptions, PersonalKeys, VaultPlace } from './openOptions.ts';
import { openVault, storePlace, type Refusal } from './openVault.ts';
import { derivePasswordKey, shortestPassword } from './passwordKey.ts';
import { SealedVault } from './sealedVault.ts';
import type { Secret } from './secret.ts';
import { createSecretKey, isSecretKeyOf } from './secretKey.ts';
import { readWhole, replaceFile, unlinkIfThere } from './vaultFiles.ts';
import type { PersonalVault } from './vaultContract.ts';
import type { VaultHeader } from './vaultHeader.ts';
import { asVaultError, type StorePlace } from './vaultStore.ts';
import { VaultError } from './vaultState.ts';

/** The person's own vault. It opens with a password and a Secret Key together. */
export class SealedPersonalVault extends SealedVault implements PersonalVault {
  async changePassword(
    current: PersonalKeys,
    next: Secret,
    { renewSecretKey = false }: { readonly renewSecretKey?: boolean } = {},
  ): Promise<{ readonly secretKey: string }> {
    assertStrong(next);
    const { place, derive } = this.options;
    const { random } = place;
    const secretKey = renewSecretKey ? createSecretKey(random) : current.secretKey;
    await this.changed((store) =>
      store.rewrite(async () => {
        const attempts = await counted(place);
        if ('state' in attempts) throw new VaultError('wrong-password', { waitMs: attempts.waitMs });
        const key = await keyOf(store.header, current, derive);
        if (!key) throw new VaultError('wrong-password', { waitMs: waitMs(attempts, place.now()) });
        key.fill(0);
        forget(place);
        const keyring = new Keyring(this.id, random.draw(32));
        const keys = [{ type: 'password', password: next, secretKey }] as const;
        const slots = await createSlots(keyring, 'personal', keys, { random, derive });
        return { change: {}, keyring, header: { slots, publicKey: keyring.publicKey } };
      }),
    );
    return { secretKey };
  }
}

export type PersonalResult = { readonly state: 'open'; readonly vault: SealedPersonalVault } | Refusal;

/** Creates an empty vault. The Secret Key is shown once. Rejects with `weak-password` for a short one. */
export async function createPersonalVault(
  place: VaultPlace,
  password: Secret,
): Promise<{ readonly vault: SealedPersonalVault; readonly secretKey: string }> {
  assertStrong(password);
  let secretKey = '';
  const vault = await createVault(place, {
    kind: 'personal',
    keys: (random) => {
      secretKey = createSecretKey(random);
      return [{ type: 'password', password, secretKey }];
    },
    create: (options) => new SealedPersonalVault(options),
  });
  return { vault, secretKey };
}

/**
 * Each try is counted before it is made, and the count is kept in the folder: after some wrong passwords it is `wait`,
 * also in another process and after a restart. A Secret Key of another vault is no try.
 */
export function openPersonalVault(options: OpenOptions, keys: PersonalKeys): Promise<PersonalResult> {
  const place = storePlace(options);
  return openVault(options, {
    kind: 'personal',
    create: (made) => new SealedPersonalVault(made),
    unlock: async (header) => {
      const [slot] = header.slots;
      if (!slot || !('keyId' in slot) || !isSecretKeyOf(keys.secretKey, slot.keyId))
        return { state: 'wrong-secret-key' };
      const attempts = await countedAlone(place);
      if ('state' in attempts) return attempts;
      const key = await keyOf(header, keys, options.derive);
      if (!key) return { state: 'wrong-password', waitMs: waitMs(attempts, place.now()) };
      forget(place);
      return key;
    },
  });
}

const attemptsName = 'attempts.json';

async function keyOf(
  { id, slots: [slot] }: VaultHeader,
  { password, secretKey }: PersonalKeys,
  derive = derivePasswordKey,
): Promise<Buffer | undefined> {
  if (!slot || password.length === 0 || !('keyId' in slot) || !isSecretKeyOf(secretKey, slot.keyId))
    return undefined;
  return openSlot({ vaultId: id, kind: 'personal' }, slot, { type: 'password', password, secretKey }, derive);
}

async function countedAlone(place: StorePlace) {
  try {
    const lock = await lockFolder(place.folder, { files: place.files });
    try {
      return await counted(place);
    } finally {
      lock.release();
    }
  } catch (error) {
    // What can't be counted is not tried.
    return { state: 'unreadable', code: asVaultError(error).code } as const;
  }
}

/** Counts one try; `wait` where it is not yet allowed. The folder is locked. */
async function counted(
  place: StorePlace,
): Promise<Attempts | { readonly state: 'wait'; readonly waitMs: number }> {
  const before = readAttempts(place);
  const wait = waitMs(before, place.now());
  if (wait > 0) return { state: 'wait', waitMs: wait };
  const attempts = failed(before, place.now());
  const suffix = place.random.draw(12).toString('hex');
  replaceFile(place.files, place.folder, attemptsName, Buffer.from(attemptsText(attempts)), suffix);
  return attempts;
}

function readAttempts({ files, folder, now }: StorePlace): Attempts {
  const bytes = readWhole(files, `${folder}/${attemptsName}`, 1024);
  return bytes ? parseAttempts(bytes.toString('latin1'), now()) : noAttempts;
}

function forget({ files, folder }: StorePlace): void {
  unlinkIfThere(files, `${folder}/${attemptsName}`);
}

function assertStrong(password: Secret): void {
  if (password.length < shortestPassword) throw new VaultError('weak-password');
}
