import type { Buffer } from 'node:buffer';
import { hkdf, hmac, isEqual } from './digests.ts';
import { isSignature, publicKeyOf, signBytes } from './ed25519.ts';
import { lengthPrefixed } from './lengthPrefixed.ts';
import { headerBody, headerText, type UncheckedHeader, type VaultHeader } from './vaultHeader.ts';
import { VaultError } from './vaultState.ts';

type Purpose = 'wrapping' | 'index' | 'rows' | 'header' | 'signing';

/**
 * The keys that a vault's key gives, one for each purpose, by HKDF. They live until `wipe`; whoever asks for one later,
 * in the middle of some work, gets a `locked` and never the zeros.
 */
export class Keyring {
  readonly #vaultId: string;
  readonly #vaultKey: Buffer;
  readonly #keys: Readonly<Record<Purpose, Buffer>>;
  #isWiped = false;

  /** Takes the vault's key over. */
  constructor(vaultId: string, vaultKey: Buffer) {
    const derived = (purpose: string) =>
      hkdf(vaultKey, lengthPrefixed(vaultId), lengthPrefixed('sallyport vault 1', purpose));
    this.#vaultId = vaultId;
    this.#vaultKey = vaultKey;
    this.#keys = {
      wrapping: derived('wrapping'),
      index: derived('index'),
      rows: derived('rows'),
      header: derived('header'),
      signing: derived('signing'),
    };
  }

  get vaultId(): string {
    return this.#vaultId;
  }

  /** Seals the keys of rows. */
  get wrapping(): Buffer {
    return this.#key('wrapping');
  }

  /** Seals the index of each frame. */
  get index(): Buffer {
    return this.#key('index');
  }

  /** Authenticates rows. */
  get rows(): Buffer {
    return this.#key('rows');
  }

  get publicKey(): Buffer {
    return publicKeyOf(this.#key('signing'));
  }

  /** The text of `vault.json`, authenticated and signed. */
  sealHeader(header: VaultHeader): string {
    const body = headerBody(header);
    const mac = hmac(this.#key('header'), body);
    return headerText(header, mac, signBytes(this.#key('signing'), lengthPrefixed(body, mac)));
  }

  /** True where this vault's key made the header. */
  isOwn({ header, body, mac }: UncheckedHeader): boolean {
    return header.id === this.#vaultId && isEqual(hmac(this.#key('header'), body), mac);
  }

  /** Lends the vault's key, to seal it in a slot. */
  use<T>(work: (vaultKey: Buffer) => T): T {
    if (this.#isWiped) throw new VaultError('locked');
    return work(this.#vaultKey);
  }

  wipe(): void {
    this.#isWiped = true;
    for (const key of [this.#vaultKey, ...Object.values(this.#keys)]) key.fill(0);
  }

  #key(purpose: Purpose): Buffer {
    if (this.#isWiped) throw new VaultError('locked');
    return this.#keys[purpose];
  }
}

/** True where the header is signed by the key that it names: it was not altered by one who has no key at all. */
export function isSigned({ header, body, mac, signature }: UncheckedHeader): boolean {
  return isSignature(header.publicKey, lengthPrefixed(body, mac), signature);
}
