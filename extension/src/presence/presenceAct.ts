import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../protocol/src/canonicalJson.ts';

/**
 * What a person confirms, with everything that makes it this act and no other. Every member counts for the digest, and
 * `actSentence` says it in words.
 */
export type PresenceAct =
  | {
      readonly name: 'reveal';
      readonly vault: VaultName;
      readonly itemId: string;
      readonly title: string;
      readonly field: string;
      readonly version: number;
    }
  | {
      readonly name: 'export';
      readonly vault: VaultName;
      /** Ids of the items, sorted, with their versions. */
      readonly items: readonly string[];
      readonly path: string;
    }
  | {
      readonly name: 'approveGrant';
      readonly grantId: string;
      /** SHA-256 of the grant's canonical JSON: an approval is of exactly these limits. */
      readonly digest: string;
      /** Sallyport's own words for the grant. */
      readonly sentence: string;
    }
  | { readonly name: 'changeSetting'; readonly setting: string; readonly from: string; readonly to: string }
  | {
      readonly name: 'restore';
      readonly path: string;
      /** SHA-256 of the file. */
      readonly digest: string;
      readonly why: 'stale' | 'foreign';
    }
  | { readonly name: 'addPasskey'; readonly label: string }
  | { readonly name: 'removePasskey'; readonly passkeyId: string; readonly label: string }
  | { readonly name: 'setPassword' }
  | { readonly name: 'removePassword' };

export type VaultName = 'agents' | 'personal';

/** SHA-256 over the canonical JSON (RFC 8785) of the act: what a proof and a passkey's challenge are bound to. */
export function actDigest(act: PresenceAct): Buffer {
  return createHash('sha256').update('sallyport presence 1\0').update(canonicalJson(act)).digest();
}
