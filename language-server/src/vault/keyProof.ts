import { createHmac, timingSafeEqual } from 'node:crypto';
import { keyProofText } from '../../../protocol/src/vault.ts';

/** True where the proof (base64, as all of it) was made with this ticket, for this job and this key. The other side is the runner's. */
export function isProved(ticket: string, jobId: string, publicKey: string, proof: string): boolean {
  const theirs = Buffer.from(proof, 'base64');
  const key = Buffer.from(ticket, 'base64');
  const ours = createHmac('sha256', key).update(keyProofText(jobId, publicKey)).digest();
  return theirs.length === ours.length && timingSafeEqual(theirs, ours);
}
