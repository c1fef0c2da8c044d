import { createCipheriv, createSecretKey, type CipherGCMTypes, type KeyObject } from 'node:crypto';
import { giveBack } from './giveBack.ts';

const lengthBytes = 4;
const tagBytes = 16;
/** The nonce ends in a counter of packets. */
const counterAt = 4;

/**
 * Encrypts the packets of ssh2 by AES-GCM (RFC 5647), each in its own memory. The build puts this where ssh2 looks for
 * its native part (scripts/build.mjs): without that it imports the key for each packet, which it makes in three pieces
 * of fresh memory. Without this module the same works.
 */
export class GcmCipher {
  readonly #name: CipherGCMTypes;
  readonly #key: KeyObject;
  readonly #nonce: Buffer;

  /** `nonce` is that of the first packet; each one after it has the next. */
  constructor(name: CipherGCMTypes, key: Buffer, nonce: Buffer) {
    this.#name = name;
    this.#key = createSecretKey(key);
    this.#nonce = Buffer.from(nonce);
  }

  /** A packet is its length, which stays readable, what is to be encrypted, and room for the tag. */
  encrypt(packet: Buffer): void {
    const tagAt = packet.length - tagBytes;
    const cipher = createCipheriv(this.#name, this.#key, this.#nonce);
    cipher.setAAD(packet.subarray(0, lengthBytes));
    const encrypted = cipher.update(packet.subarray(lengthBytes, tagAt));
    cipher.final();
    packet.set(encrypted, lengthBytes);
    packet.set(cipher.getAuthTag(), tagAt);
    giveBack(encrypted);
    this.#countPacket();
  }

  /** As ssh2 asks for; there is nothing to let go of. */
  free(): void {
    return;
  }

  #countPacket(): void {
    for (let at = this.#nonce.length - 1; at >= counterAt; at--) {
      const next = ((this.#nonce[at] ?? 0) + 1) % 256;
      this.#nonce[at] = next;
      if (next !== 0) return;
    }
  }
}

// The name by which ssh2 takes it.
export { GcmCipher as AESGCMCipher };
