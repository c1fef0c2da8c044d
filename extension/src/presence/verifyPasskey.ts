import { Buffer } from 'node:buffer';
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import { errorMessage } from '../../../protocol/src/errors.ts';
import { clientDataRefusal, type Expected } from './clientData.ts';
import { relyingParty, type Passkey } from './passkey.ts';
import type { AssertionAnswer, Refusal, RegistrationAnswer } from './passkeyAnswer.ts';

/** ES256 and RS256 (RFC 8812): every authenticator has one of them, and Electron's crypto has both. */
export const algorithms = [-7, -257];

export type Checked<T> = { readonly ok: T } | { readonly refused: Refusal };

/**
 * Whether a registered passkey signed this challenge on our page, with its user verified. `ok` is the passkey with the
 * counter that has to be kept before anything is done.
 */
export async function checkAssertion(
  answer: AssertionAnswer,
  expected: Expected,
  passkeys: readonly Passkey[],
): Promise<Checked<Passkey>> {
  const refused = clientDataRefusal(answer.response.clientDataJSON, expected);
  if (refused) return { refused };
  // The library checks the signature with whatever key it is given: which key that is, is decided here.
  const known = passkeys.find(({ id }) => id === answer.id && id === answer.rawId);
  if (!known) return { refused: 'unknown-passkey' };
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...answer, clientExtensionResults: {} },
      expectedChallenge: expected.challenge,
      expectedOrigin: expected.origin,
      expectedRPID: relyingParty,
      requireUserVerification: true,
      credential: {
        id: known.id,
        publicKey: new Uint8Array(Buffer.from(known.publicKey, 'base64url')),
        counter: known.counter,
      },
    });
    // A wrong signature resolves with `verified: false` instead of throwing.
    if (!verified) return { refused: 'not-signed-by-it' };
    if (!authenticationInfo.userVerified) return { refused: 'user-not-verified' };
    return { ok: { ...known, counter: authenticationInfo.newCounter } };
  } catch (error) {
    return { refused: refusalOf(error) };
  }
}

/** Whether a new passkey was made on our page for this challenge, with its user verified. */
export async function checkRegistration(
  answer: RegistrationAnswer,
  expected: Expected,
  about: { readonly label: string; readonly now: number },
): Promise<Checked<Passkey>> {
  const refused = clientDataRefusal(answer.response.clientDataJSON, expected);
  if (refused) return { refused };
  try {
    const result = await verifyRegistrationResponse({
      response: {
        ...answer,
        response: { ...answer.response, transports: [] },
        clientExtensionResults: {},
      },
      expectedChallenge: expected.challenge,
      expectedOrigin: expected.origin,
      expectedRPID: relyingParty,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    });
    if (!result.verified) return { refused: 'not-signed-by-it' };
    const { credential, userVerified } = result.registrationInfo;
    if (!userVerified) return { refused: 'user-not-verified' };
    if (credential.id !== answer.id || answer.id !== answer.rawId) return { refused: 'malformed' };
    return {
      ok: {
        id: credential.id,
        publicKey: Buffer.from(credential.publicKey).toString('base64url'),
        counter: credential.counter,
        transports: answer.response.transports,
        label: about.label,
        createdAt: about.now,
      },
    };
  } catch (error) {
    return { refused: refusalOf(error) };
  }
}

/** The library tells its reasons apart by words alone; what is not known here is refused as malformed. */
function refusalOf(error: unknown): Refusal {
  const text = errorMessage(error);
  if (/counter/i.test(text)) return 'counter-went-back';
  if (/user verif|user (was )?not present|could not be verified/i.test(text)) return 'user-not-verified';
  return 'malformed';
}
