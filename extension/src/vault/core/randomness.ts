import type { Buffer } from 'node:buffer';
import { randomFillSync } from 'node:crypto';
import { sha256 } from './digests.ts';
import { ownMemory } from './ownMemory.ts';
import { VaultError } from './vaultState.ts';

const shortest = 12;
const remembered = 1024;

/**
 * The source of keys and IVs. It refuses with `random-repeats` where the beginning of a draw is that of one of the last
 * 1,024: a generator that repeats would make AES-GCM give up its key (NIST SP 800-38D, appendix A).
 */
export class Randomness {
  readonly #fill: (bytes: Buffer) => void;
  readonly #seen = new Set<string>();

  constructor(random?: (bytes: number) => Uint8Array) {
    this.#fill = (bytes) => {
      if (random) bytes.set(random(bytes.length));
      else randomFillSync(bytes);
    };
  }

  /** At least 12 bytes, in memory of their own. */
  draw(length: number): Buffer {
    const bytes = ownMemory(Math.max(length, shortest));
    this.#fill(bytes);
    this.#check(bytes);
    return bytes.subarray(0, length);
  }

  #check(bytes: Buffer): void {
    // A digest, so that no part of a key stays behind in a string.
    const beginning = sha256(bytes.subarray(0, shortest)).toString('latin1', 0, 8);
    if (this.#seen.has(beginning)) throw new VaultError('random-repeats');
    this.#seen.add(beginning);
    if (this.#seen.size <= remembered) return;
    const [oldest] = this.#seen;
    if (oldest !== undefined) this.#seen.delete(oldest);
  }
}
