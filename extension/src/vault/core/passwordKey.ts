import type { Buffer } from 'node:buffer';
import { scrypt } from 'node:crypto';
import { Secret } from './secret.ts';

/** Cost of scrypt (RFC 7914): memory is 128 · N · r bytes. */
export interface ScryptCost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

/** The cost of every fresh slot, and the least that is accepted: 128 MiB. */
export const scryptFloor: ScryptCost = { N: 2 ** 17, r: 8, p: 1 };
/** The most that is accepted, so that a file can't make the machine stand still: 1 GiB. */
const scryptCeiling: ScryptCost = { N: 2 ** 20, r: 8, p: 4 };

/** Characters of the personal vault's password, at least; the Secret Key stands beside it. */
export const shortestPassword = 8;

/** A typed password in the one form that all keyboards come to (Unicode NFKC). The text itself can't be wiped. */
export function passwordOf(text: string): Secret {
  return Secret.fromText(text.normalize('NFKC'));
}

/** 32 bytes of a password, for the caller to wipe. */
export type PasswordDerivation = (password: Secret, salt: Uint8Array, cost: ScryptCost) => Promise<Buffer>;

/** Looked at before anything is derived: Node takes a zero for its own, weak default. */
export function isAcceptedCost({ N, r, p }: ScryptCost): boolean {
  return (
    Number.isInteger(Math.log2(N)) &&
    N >= scryptFloor.N &&
    N <= scryptCeiling.N &&
    r === scryptFloor.r &&
    Number.isInteger(p) &&
    p >= scryptFloor.p &&
    p <= scryptCeiling.p
  );
}

/** Throws a RangeError for a cost outside the floor and the ceiling, and for an empty password. */
export const derivePasswordKey: PasswordDerivation = async (password, salt, cost) => {
  if (!isAcceptedCost(cost)) throw new RangeError('The cost of scrypt is not accepted');
  if (password.length === 0) throw new RangeError('The password is empty');
  return password.use((bytes) => scryptBytes(bytes, salt, cost, 32));
};

/** scrypt as in RFC 7914, whatever the cost. */
export function scryptBytes(
  password: Uint8Array,
  salt: Uint8Array,
  { N, r, p }: ScryptCost,
  length: number,
): Promise<Buffer> {
  // OpenSSL counts some blocks beside the 128 · N · r bytes.
  const maxmem = 128 * N * r + 128 * r * p + 2 * 1024 * 1024;
  return new Promise((resolve, reject) => {
    scrypt(password, salt, length, { N, r, p, maxmem }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
