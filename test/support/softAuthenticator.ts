import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import type { Passkey } from '../../extension/src/presence/passkey.ts';
import type { AssertionAnswer } from '../../extension/src/presence/passkeyAnswer.ts';

/** What an answer is made of; each of it can be made wrong. */
export interface Made {
  readonly type?: string;
  readonly challenge: string;
  readonly origin: string;
  readonly relyingParty?: string;
  readonly isPresent?: boolean;
  readonly isVerified?: boolean;
  readonly counter?: number;
  /** Further members of the client data. */
  readonly more?: object;
}

/** An authenticator in this process (WebAuthn Level 3, 6.1): ES256, one credential, and it signs whatever it is asked. */
export class SoftAuthenticator {
  readonly id = randomBytes(16).toString('base64url');
  readonly #privateKey: KeyObject;
  readonly #cose: Buffer;

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.#privateKey = privateKey;
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    // COSE_Key of RFC 9053: {1: 2, 3: -7, -1: 1, -2: x, -3: y}
    this.#cose = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y, 'base64url'),
    ]);
  }

  passkey(counter = 0): Passkey {
    return {
      id: this.id,
      publicKey: this.#cose.toString('base64url'),
      counter,
      transports: ['internal'],
      label: 'Soft',
      createdAt: 0,
    };
  }

  answer(made: Made): AssertionAnswer {
    const clientData = Buffer.from(
      JSON.stringify({
        type: made.type ?? 'webauthn.get',
        challenge: made.challenge,
        origin: made.origin,
        crossOrigin: false,
        ...made.more,
      }),
    );
    const flags = (made.isPresent === false ? 0 : 1) | (made.isVerified === false ? 0 : 4);
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(made.counter ?? 1);
    const data = Buffer.concat([
      createHash('sha256')
        .update(made.relyingParty ?? 'localhost')
        .digest(),
      Buffer.from([flags]),
      counter,
    ]);
    const signed = Buffer.concat([data, createHash('sha256').update(clientData).digest()]);
    return {
      id: this.id,
      rawId: this.id,
      type: 'public-key',
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', signed, this.#privateKey).toString('base64url'),
      },
    };
  }
}
