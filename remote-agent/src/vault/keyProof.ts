import { createHmac } from 'node:crypto';
import { keyProofText } from '../../../protocol/src/vault.ts';

/** Shows that a public key is the job's own to whoever gave the job its ticket. Base64, as all of it. */
export function proveKey(ticket: string, jobId: string, publicKey: string): string {
  const key = Buffer.from(ticket, 'base64');
  return createHmac('sha256', key).update(keyProofText(jobId, publicKey)).digest('base64');
}
