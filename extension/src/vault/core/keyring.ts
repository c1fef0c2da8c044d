import type { Buffer } from 'node:buffer';
import { hkdf, hmac, isEqual } from './digests.ts';
import { isSignature, publicKeyOf, signBytes } from './ed25519.ts';
import { lengthPrefixed } from './lengthPrefixed.ts';
import { headerBody, headerText, type UncheckedHeader, type VaultHeader } from './vaultHeader.ts';

/** The keys that a vault's key gives, one for each purpose, by HKDF. They live until `wipe`. */
export class Keyring {
  readonly #vaultId: string;
  readonly #vaultKey: Buffer;
  /** Seals the keys of rows. */
  readonly wrapping: Buffer;
  /** Seals the index of each frame. */
  readonly index: Buffer;
  /** Authenticates rows. */
  readonly rows: Buffer;
  readonly #header: Buffer;
  readonly #signing: Buffer;

  /** Takes the vault's key over. */
  constructor(vaultId: string, vaultKey: Buffer) {
    const derived = (purpose: string) =>
      hkdf(vaultKey, lengthPrefixed(vaultId), lengthPrefixed('sallyport vault 1', purpose));
    this.#vaultId = vaultId;
    this.#vaultKey = vaultKey;
    this.wrapping = derived('wrapping');
    this.index = derived('index');
    this.rows = derived('rows');
    this.#header = derived('header');
    this.#signing = derived('signing');
  }

  get vaultId(): string {
    return this.#vaultId;
  }

  get publicKey(): Buffer {
    return publicKeyOf(this.#signing);
  }

  /** The text of `vault.json`, authenticated and signed. */
  sealHeader(header: VaultHeader): string {
    const body = headerBody(header);
    const mac = hmac(this.#header, body);
    return headerText(header, mac, signBytes(this.#signing, lengthPrefixed(body, mac)));
  }

  /** True where this vault's key made the header. */
  isOwn({ header, body, mac }: UncheckedHeader): boolean {
    return header.id === this.#vaultId && isEqual(hmac(this.#header, body), mac);
  }

  /** Lends the vault's key, to seal it in a slot. */
  use<T>(work: (vaultKey: Buffer) => T): T {
    return work(this.#vaultKey);
  }

  wipe(): void {
    for (const key of [this.#vaultKey, this.wrapping, this.index, this.rows, this.#header, this.#signing])
      key.fill(0);
  }
}

/** True where the header is signed by the key that it names: it was not altered by one who has no key at all. */
export function isSigned({ header, body, mac, signature }: UncheckedHeader): boolean {
  return isSignature(header.publicKey, lengthPrefixed(body, mac), signature);
}
