import * as z from 'zod/mini';

const base64url = z.string().check(z.regex(/^[A-Za-z0-9_-]{1,2048}$/));

/** A registered passkey: all of it is public. */
export const passkey = z.strictObject({
  /** The credential id, base64url. */
  id: base64url,
  /** COSE key, base64url. */
  publicKey: base64url,
  /** The highest signature counter seen; 0 where the authenticator keeps none. */
  counter: z.int().check(z.minimum(0)),
  transports: z.array(z.string().check(z.regex(/^[a-z-]{1,32}$/))).check(z.maxLength(8)),
  label: z.string().check(z.minLength(1), z.maxLength(80)),
  /** Milliseconds since the epoch. */
  createdAt: z.int(),
});
export type Passkey = z.infer<typeof passkey>;

/** Passkeys of the loopback page hang on this name; the port is checked with the origin. */
export const relyingParty = 'localhost';
