import { timingSafeEqual } from 'node:crypto';
import { actDigest, type PresenceAct } from './presenceAct.ts';

/** Milliseconds from the question to the act; a proof that is older proves nothing. */
export const proofLifeMs = 120_000;

/**
 * That a person was there for one act. It carries nothing: what it stands for is known to the desk that issued it, so
 * no message can hold one and no copy of it counts.
 */
declare const proofMark: unique symbol;
export interface Proof {
  readonly [proofMark]: true;
}

/** Issues proofs and takes each back once, for the act that it was issued for, in time. */
export class ProofDesk {
  readonly #now: () => number;
  readonly #open = new WeakMap<Proof, { readonly digest: Buffer; readonly until: number }>();

  /** `now` is a clock in milliseconds that never goes back, whatever the wall clock does. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** `askedAt`, on the desk's clock, is when the person was asked: waiting for the answer is part of the time. */
  issue(act: PresenceAct, askedAt: number): Proof {
    const proof = Object.freeze({}) as Proof;
    this.#open.set(proof, { digest: actDigest(act), until: askedAt + proofLifeMs });
    return proof;
  }

  /**
   * True once for each proof, where it is in time and of exactly this act. A proof that was shown for another act is
   * used up as well.
   */
  spend(proof: Proof, act: PresenceAct): boolean {
    const held = this.#open.get(proof);
    this.#open.delete(proof);
    return held !== undefined && this.#now() < held.until && timingSafeEqual(held.digest, actDigest(act));
  }
}
