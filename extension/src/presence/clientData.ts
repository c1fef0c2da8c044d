import { Buffer } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';
import * as z from 'zod/mini';
import type { Refusal } from './passkeyAnswer.ts';

/** The browser's account of where an answer was made (WebAuthn Level 3, 5.8.1). Other members may stand beside these. */
const clientData = z.object({
  type: z.string(),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.optional(z.boolean()),
  topOrigin: z.optional(z.unknown()),
});

export interface Expected {
  readonly type: 'webauthn.get' | 'webauthn.create';
  /** Base64url. */
  readonly challenge: string;
  /** Scheme, host and port, as `location.origin` has it. */
  readonly origin: string;
}

/**
 * Refuses whatever was not made by our page for this challenge. Stricter than the library: a frame of another page is
 * refused also where the browser names no top page.
 */
export function clientDataRefusal(encoded: string, expected: Expected): Refusal | undefined {
  const { success, data } = z.safeParse(clientData, parse(encoded));
  if (!success || data.type !== expected.type) return 'malformed';
  if (data.crossOrigin === true || data.topOrigin !== undefined) return 'inside-another-page';
  if (data.origin !== expected.origin) return 'other-page';
  return isSame(data.challenge, expected.challenge) ? undefined : 'other-challenge';
}

function parse(encoded: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64url')));
  } catch {
    return undefined;
  }
}

function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
