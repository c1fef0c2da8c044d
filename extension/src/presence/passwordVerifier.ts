import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';

/**
 * What is kept of the password: scrypt (RFC 7914) with the one cost that is accepted, so a file can't lower it, over
 * UTF-8 in NFKC.
 */
export const verifier = z.strictObject({
  n: z.literal(131_072),
  r: z.literal(8),
  p: z.literal(1),
  salt: z.string().check(z.regex(/^[A-Za-z0-9+/]{22}==$/)),
  hash: z.string().check(z.regex(/^[A-Za-z0-9+/]{43}=$/)),
});
export type Verifier = z.infer<typeof verifier>;

const cost = { n: 131_072, r: 8, p: 1 } as const;

/** Why a text is no password for presence. */
export type PasswordProblem = 'short' | 'long';

export function passwordProblem(text: string): PasswordProblem | undefined {
  const length = Array.from(text.normalize('NFKC')).length;
  return length < 10 ? 'short' : length > 1024 ? 'long' : undefined;
}

/** Throws for a text with a `passwordProblem`. Takes as long as one derivation, about half a second. */
export async function createVerifier(text: string): Promise<Verifier> {
  const problem = passwordProblem(text);
  if (problem) throw new RangeError(`Not a password: ${problem}`);
  const salt = randomBytes(16);
  const hash = await derive(text, salt);
  return { ...cost, salt: salt.toString('base64'), hash: hash.toString('base64') };
}

export async function isPassword(text: string, kept: Verifier): Promise<boolean> {
  const hash = await derive(text, Buffer.from(kept.salt, 'base64'));
  return timingSafeEqual(hash, Buffer.from(kept.hash, 'base64'));
}

function derive(text: string, salt: Buffer): Promise<Buffer> {
  const { n, r, p } = cost;
  // OpenSSL counts a little more than 128·N·r against the limit.
  const options = { N: n, r, p, maxmem: 128 * n * r + 2 * 1024 * 1024 };
  return new Promise((resolve, reject) => {
    scrypt(text.normalize('NFKC'), salt, 32, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
}
