import * as z from 'zod/mini';

const base64url = z.string().check(z.regex(/^[A-Za-z0-9_-]{0,8192}$/));

/** What the page sends of `navigator.credentials.get`: `AuthenticationResponseJSON` of WebAuthn Level 3, no more. */
export const assertionAnswer = z.strictObject({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.strictObject({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
  }),
});
export type AssertionAnswer = z.infer<typeof assertionAnswer>;

/** What the page sends of `navigator.credentials.create`: `RegistrationResponseJSON` of WebAuthn Level 3, no more. */
export const registrationAnswer = z.strictObject({
  id: base64url,
  rawId: base64url,
  type: z.literal('public-key'),
  response: z.strictObject({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z.array(z.string().check(z.regex(/^[a-z-]{1,32}$/))).check(z.maxLength(8)),
  }),
});
export type RegistrationAnswer = z.infer<typeof registrationAnswer>;

/** Why an answer proves nothing. */
export type Refusal =
  | 'malformed'
  | 'unknown-passkey'
  | 'other-page'
  | 'inside-another-page'
  | 'other-challenge'
  | 'user-not-verified'
  | 'counter-went-back'
  | 'not-signed-by-it'
  | 'late';
