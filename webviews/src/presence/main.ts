import { decodeBase64url, encodeBase64url } from './base64url.ts';

// The page that asks an authenticator whether the person is there. It shows what the extension wrote into the document,
// asks once the button is pressed, and sends the answer back to where it came from. It decides nothing.

interface Words {
  readonly waiting: string;
  readonly done: string;
  readonly cancelled: string;
  readonly unsupported: string;
  readonly failed: string;
}
type Facts = { readonly words: Words } & (
  | { readonly mode: 'get'; readonly options: PublicKeyCredentialRequestOptionsJSON }
  | { readonly mode: 'create'; readonly options: PublicKeyCredentialCreationOptionsJSON }
);

const facts = JSON.parse(document.getElementById('facts')?.textContent ?? '{}') as Facts;
const { words } = facts;
const button = document.getElementById('confirm') as HTMLButtonElement;
const state = document.getElementById('state') as HTMLElement;

if (!('PublicKeyCredential' in window)) {
  button.disabled = true;
  state.textContent = words.unsupported;
}
button.addEventListener('click', () => void confirm());

async function confirm(): Promise<void> {
  button.disabled = true;
  state.textContent = words.waiting;
  let credential: Credential | null;
  try {
    credential = await ask();
  } catch {
    // The authenticator was turned away or has no such passkey: nothing was sent, so another try is allowed.
    state.textContent = words.cancelled;
    button.disabled = false;
    button.focus();
    return;
  }
  try {
    const response = await fetch(`${location.pathname}/answer`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(toJson(credential as PublicKeyCredential)),
    });
    const verdict = (await response.json()) as { ok: boolean; text: string };
    state.textContent = verdict.ok ? words.done : verdict.text;
    if (verdict.ok) window.close();
  } catch {
    state.textContent = words.failed;
  }
}

function ask(): Promise<Credential | null> {
  if (facts.mode === 'get') {
    const { challenge, rpId, allowCredentials = [], timeout } = facts.options;
    return navigator.credentials.get({
      publicKey: {
        challenge: decodeBase64url(challenge),
        userVerification: 'required',
        allowCredentials: allowCredentials.map(descriptor),
        ...(rpId !== undefined && { rpId }),
        ...(timeout !== undefined && { timeout }),
      },
    });
  }
  const { challenge, rp, user, pubKeyCredParams, excludeCredentials = [], timeout } = facts.options;
  return navigator.credentials.create({
    publicKey: {
      challenge: decodeBase64url(challenge),
      rp,
      user: { ...user, id: decodeBase64url(user.id) },
      pubKeyCredParams,
      authenticatorSelection: { userVerification: 'required', residentKey: 'discouraged' },
      attestation: 'none',
      excludeCredentials: excludeCredentials.map(descriptor),
      ...(timeout !== undefined && { timeout }),
    },
  });
}

function descriptor({ id, transports }: PublicKeyCredentialDescriptorJSON): PublicKeyCredentialDescriptor {
  return {
    type: 'public-key',
    id: decodeBase64url(id),
    ...(transports && transports.length > 0 && { transports: transports as AuthenticatorTransport[] }),
  };
}

/** Written by hand, as `toJSON` is missing from browsers that are still in use. */
function toJson(credential: PublicKeyCredential): object {
  const { response } = credential;
  const clientDataJSON = encodeBase64url(response.clientDataJSON);
  return {
    id: credential.id,
    rawId: encodeBase64url(credential.rawId),
    type: credential.type,
    response:
      response instanceof AuthenticatorAssertionResponse
        ? {
            clientDataJSON,
            authenticatorData: encodeBase64url(response.authenticatorData),
            signature: encodeBase64url(response.signature),
          }
        : {
            clientDataJSON,
            attestationObject: encodeBase64url(
              (response as AuthenticatorAttestationResponse).attestationObject,
            ),
            transports: (response as AuthenticatorAttestationResponse).getTransports(),
          },
  };
}
