import { join } from 'node:path';
import { openIdentityFile } from '../../../../remote-agent/src/worker/workerFiles.ts';
import type { IdentitySigner } from '../../../../remote-agent/src/worker/leaf.ts';
import type { PersonSide } from '../../agent/providers/personSide.ts';

/**
 * The identity by which workers know this computer. In VS Code its key is the extension's, which signs and never gives
 * it away; at a terminal it is a file of the home.
 */
export async function openWorkerIdentity(
  person: PersonSide | undefined,
  home: string,
  uid: number,
): Promise<IdentitySigner> {
  if (!person) return openIdentityFile(join(home, 'worker-identity'), uid);
  const { publicKey } = await person.ask('worker/identity', {});
  return {
    spki: Buffer.from(publicKey, 'base64'),
    sign: async (certificate) => {
      const { signature } = await person.ask('worker/sign', { certificate: certificate.toString('base64') });
      return Buffer.from(signature, 'base64');
    },
  };
}
