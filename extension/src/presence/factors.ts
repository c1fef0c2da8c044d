import * as z from 'zod/mini';
import { failures, noFailures } from './backOff.ts';
import { passkey, type Passkey } from './passkey.ts';
import { verifier } from './passwordVerifier.ts';

/** How a person can prove to be there, and what they last confirmed about settings. Nothing in it is secret. */
export const factors = z.strictObject({
  version: z.literal(1),
  passkeys: z.array(passkey).check(z.maxLength(32)),
  password: z.nullable(verifier),
  failures,
  /** The values of guarded settings that a person confirmed, as JSON. */
  settings: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});
export type Factors = z.infer<typeof factors>;

export const noFactors: Factors = {
  version: 1,
  passkeys: [],
  password: null,
  failures: noFailures,
  settings: {},
};

export function hasFactor({ passkeys, password }: Factors): boolean {
  return passkeys.length > 0 || password !== null;
}

/**
 * The factors with a passkey's new counter; undefined where the passkey is gone or its counter has been reached
 * meanwhile, as when one answer is used in two windows.
 */
export function withCounter(before: Factors, used: Passkey): Factors | undefined {
  const known = before.passkeys.find(({ id }) => id === used.id);
  if (!known) return undefined;
  const isNewer = used.counter > known.counter || (used.counter === 0 && known.counter === 0);
  if (!isNewer) return undefined;
  return { ...before, passkeys: before.passkeys.map((each) => (each === known ? used : each)) };
}
