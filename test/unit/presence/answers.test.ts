import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { verifyAuthenticationResponse } from '@simplewebauthn/server';
import type { AssertionAnswer } from '../../../extension/src/presence/passkeyAnswer.ts';
import { checkAssertion } from '../../../extension/src/presence/verifyPasskey.ts';
import { SoftAuthenticator, type Made } from '../../support/softAuthenticator.ts';

const challenge = randomBytes(32).toString('base64url');
const origin = 'http://localhost:41234';
const expected = { type: 'webauthn.get', challenge, origin } as const;
const own = new SoftAuthenticator();
const good: Made = { challenge, origin };

describe('The check of a passkey’s answer', () => {
  it('[PRES-02] takes what a registered passkey signed here, and keeps its counter', async () => {
    const result = await checkAssertion(own.answer({ ...good, counter: 7 }), expected, [own.passkey(6)]);
    assert.equal('ok' in result && result.ok.counter, 7);
  });

  it('[PRES-02] takes a passkey without a counter, as synced ones are', async () => {
    const result = await checkAssertion(own.answer({ ...good, counter: 0 }), expected, [own.passkey(0)]);
    assert.ok('ok' in result);
  });

  const refused: [string, string, Partial<Made>][] = [
    ['another port', 'other-page', { origin: 'http://localhost:41235' }],
    ['https', 'other-page', { origin: 'https://localhost:41234' }],
    ['another host', 'other-page', { origin: 'http://127.0.0.1:41234' }],
    ['a host below', 'other-page', { origin: 'http://x.localhost:41234' }],
    ['a slash at the end', 'other-page', { origin: `${origin}/` }],
    ['no port', 'other-page', { origin: 'http://localhost' }],
    ['an opaque origin', 'other-page', { origin: 'null' }],
    ['a replayed challenge', 'other-challenge', { challenge: randomBytes(32).toString('base64url') }],
    ['an empty challenge', 'other-challenge', { challenge: '' }],
    ['a frame of another page', 'inside-another-page', { more: { crossOrigin: true } }],
    ['a named top page', 'inside-another-page', { more: { topOrigin: 'https://evil.example' } }],
    ['a registration', 'malformed', { type: 'webauthn.create' }],
    ['another relying party', 'malformed', { relyingParty: 'example.org' }],
    ['a person who was not verified', 'user-not-verified', { isVerified: false }],
    ['a person who was not there', 'user-not-verified', { isPresent: false, isVerified: false }],
    ['a counter that went back', 'counter-went-back', { counter: 5 }],
    ['a counter that stands still', 'counter-went-back', { counter: 6 }],
    ['a counter that was given up', 'counter-went-back', { counter: 0 }],
  ];
  for (const [what, refusal, change] of refused) {
    it(`[PRES-03] refuses ${what}`, async () => {
      const result = await checkAssertion(own.answer({ ...good, counter: 7, ...change }), expected, [
        own.passkey(6),
      ]);
      assert.deepEqual(result, { refused: refusal });
    });
  }

  it('[PRES-03] refuses a passkey that is not registered, and one that borrows the id of one that is', async () => {
    const other = new SoftAuthenticator();
    const answer = other.answer(good);
    assert.deepEqual(await checkAssertion(answer, expected, [own.passkey()]), { refused: 'unknown-passkey' });
    const borrowed = { ...answer, id: own.id, rawId: own.id };
    assert.deepEqual(await checkAssertion(borrowed, expected, [own.passkey()]), {
      refused: 'not-signed-by-it',
    });
    const halfBorrowed = { ...answer, id: own.id };
    assert.deepEqual(await checkAssertion(halfBorrowed, expected, [own.passkey()]), {
      refused: 'unknown-passkey',
    });
  });

  it('[PRES-03] refuses each flipped bit of the signature’s integers, the data and the client data', async () => {
    for (const part of ['signature', 'authenticatorData', 'clientDataJSON'] as const) {
      const answer = own.answer(good);
      const bytes = Buffer.from(answer.response[part], 'base64url');
      const last = bytes.length - 1;
      bytes[last] = (bytes[last] ?? 0) ^ 1;
      const flipped: AssertionAnswer = {
        ...answer,
        response: { ...answer.response, [part]: bytes.toString('base64url') },
      };
      assert.ok('refused' in (await checkAssertion(flipped, expected, [own.passkey()])), part);
    }
  });

  it('needs its own checks: the library alone takes a frame’s answer and another credential’s id', async () => {
    const alone = (answer: AssertionAnswer) =>
      verifyAuthenticationResponse({
        response: { ...answer, clientExtensionResults: {} },
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: 'localhost',
        credential: {
          id: own.id,
          publicKey: new Uint8Array(Buffer.from(own.passkey().publicKey, 'base64url')),
          counter: 0,
        },
      });
    assert.ok((await alone(own.answer({ ...good, more: { crossOrigin: true } }))).verified);
    const other = randomBytes(16).toString('base64url');
    assert.ok((await alone({ ...own.answer(good), id: other, rawId: other })).verified);
  });
});
