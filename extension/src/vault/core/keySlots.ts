import type { Buffer } from 'node:buffer';
import { hkdf } from './digests.ts';
import { lengthPrefixed } from './lengthPrefixed.ts';
import { ownMemory } from './ownMemory.ts';
import { scryptFloor, type PasswordDerivation } from './passwordKey.ts';
import type { Randomness } from './randomness.ts';
import { seal, unseal, UnsealError } from './sealing.ts';
import type { Secret } from './secret.ts';
import { parseSecretKey } from './secretKey.ts';
import type { HeaderKind, KeySlot } from './vaultHeader.ts';

/** Whose slot it is: bound into every sealed key, so that a slot opens nothing in another vault. */
export interface SlotPlace {
  readonly vaultId: string;
  readonly kind: HeaderKind;
}

/** What goes into a slot's key beside its salt. Borrowed. */
export type SlotKey =
  | { readonly type: 'device'; readonly deviceKey: Secret }
  | { readonly type: 'recovery'; readonly secretKey: string }
  | { readonly type: 'password'; readonly password: Secret; readonly secretKey: string }
  | { readonly type: 'passphrase'; readonly passphrase: Secret };

/** Seals the vault's key in a fresh slot. Throws a RangeError for a key that is none. */
export async function createSlot(
  place: SlotPlace,
  key: SlotKey,
  vaultKey: Buffer,
  { random, derive }: { readonly random: Randomness; readonly derive: PasswordDerivation },
): Promise<KeySlot> {
  const unsealed = { ...described(key), salt: random.draw(32) };
  const sealing = await slotKey(place, unsealed, key, derive);
  try {
    return { ...unsealed, sealedKey: seal(sealing, slotBinding(place, unsealed), vaultKey, random) };
  } finally {
    sealing.fill(0);
  }
}

/** The vault's key, for the caller to wipe; undefined where the key does not open the slot. */
export async function openSlot(
  place: SlotPlace,
  slot: KeySlot,
  key: SlotKey,
  derive: PasswordDerivation,
): Promise<Buffer | undefined> {
  if (slot.type !== key.type) return undefined;
  const sealing = await slotKey(place, slot, key, derive);
  try {
    return unseal(sealing, slotBinding(place, slot), slot.sealedKey);
  } catch (error) {
    if (error instanceof UnsealError) return undefined;
    throw error;
  } finally {
    sealing.fill(0);
  }
}

type WithoutSeal<T> = T extends unknown ? Omit<T, 'sealedKey'> : never;
type UnsealedSlot = WithoutSeal<KeySlot>;
type WithoutSalt<T> = T extends unknown ? Omit<T, 'salt' | 'sealedKey'> : never;

function described(key: SlotKey): WithoutSalt<KeySlot> {
  switch (key.type) {
    case 'device':
      return { type: 'device' };
    case 'recovery':
      return { type: 'recovery', keyId: keyIdOf(key.secretKey) };
    case 'password':
      return { type: 'password', scrypt: scryptFloor, keyId: keyIdOf(key.secretKey) };
    case 'passphrase':
      return { type: 'passphrase', scrypt: scryptFloor };
  }
}

/**
 * HKDF over what the person has and, before it, what scrypt makes of what they know: neither the password without the
 * Secret Key nor the Secret Key without the password says anything about the result.
 */
async function slotKey(
  place: SlotPlace,
  slot: UnsealedSlot,
  key: SlotKey,
  derive: PasswordDerivation,
): Promise<Buffer> {
  const parts = await slotParts(slot, key, derive);
  const material = ownMemory(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) at += part.copy(material, at);
  try {
    return hkdf(material, slot.salt, lengthPrefixed('sallyport vault 1', 'slot', slot.type, place.vaultId));
  } finally {
    for (const part of [...parts, material]) part.fill(0);
  }
}

async function slotParts(slot: UnsealedSlot, key: SlotKey, derive: PasswordDerivation): Promise<Buffer[]> {
  switch (key.type) {
    case 'device':
      return [ownCopy(key.deviceKey, 32)];
    case 'recovery':
      return [secretPart(key.secretKey)];
    case 'password':
      return [await derived(slot, key.password, derive), secretPart(key.secretKey)];
    case 'passphrase':
      return [await derived(slot, key.passphrase, derive)];
  }
}

function derived(slot: UnsealedSlot, password: Secret, derive: PasswordDerivation): Promise<Buffer> {
  if (!('scrypt' in slot)) throw new RangeError('The slot has no cost');
  return derive(password, slot.salt, slot.scrypt);
}

function secretPart(text: string): Buffer {
  const parsed = parseSecretKey(text);
  if (!parsed) throw new RangeError('Not a Secret Key');
  try {
    return ownCopy(parsed.secret);
  } finally {
    parsed.secret.wipe();
  }
}

function keyIdOf(text: string): string {
  const parsed = parseSecretKey(text);
  if (!parsed) throw new RangeError('Not a Secret Key');
  parsed.secret.wipe();
  return parsed.keyId;
}

function ownCopy(secret: Secret, length?: number): Buffer {
  return secret.use((bytes) => {
    if (length !== undefined && bytes.length !== length) throw new RangeError(`The key has ${length} bytes`);
    const own = ownMemory(bytes.length);
    bytes.copy(own);
    return own;
  });
}

function slotBinding(place: SlotPlace, slot: UnsealedSlot): Buffer {
  const cost = 'scrypt' in slot ? [slot.scrypt.N, slot.scrypt.r, slot.scrypt.p] : [];
  const keyId = 'keyId' in slot ? [slot.keyId] : [];
  return lengthPrefixed('slot', place.vaultId, place.kind, slot.type, ...cost, ...keyId, slot.salt);
}
