import { isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { errorMessage } from '../../../protocol/src/errors.ts';
import { EgressError } from '../egressDial.ts';
import type { Target } from '../egressRules.ts';

/**
 * TLS for HTTP/1.1 over a connection that was judged before, to a server that proves the target's name. `trust` says by
 * which authorities; absent are the process's own. Rejects with `EgressError`, and then the connection is gone.
 */
export function secureSocket(
  socket: Socket,
  target: Target,
  trust: Pick<ConnectionOptions, 'ca' | 'secureContext'>,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<TLSSocket> {
  return new Promise((settle, reject) => {
    const secured = connectTls({
      ...trust,
      socket,
      host: target.host,
      ...(isIP(target.host) === 0 && { servername: target.host }),
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true,
    });
    const fail = (cause: string) => {
      clearTimeout(timer);
      secured.destroy();
      reject(new EgressError('failed', `the server could not be verified: ${cause}`));
    };
    const timer = setTimeout(() => fail('no answer in time'), timeoutMs);
    secured.once('error', (error) => fail(errorMessage(error)));
    secured.once('secureConnect', () => {
      clearTimeout(timer);
      // A resumed session would come without a certificate; none is resumed, and none passes for one.
      if (!secured.authorized) return fail('its certificate was not checked');
      secured.removeAllListeners('error');
      secured.on('error', () => secured.destroy());
      settle(secured);
    });
  });
}
