import { createHash, randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import type { Disposable } from '../disposable.ts';
import type { Notifier } from '../notifier.ts';
import { DamagedFactors, type FactorStore } from './factorStore.ts';
import { hasFactor, withCounter, type Factors } from './factors.ts';
import { relyingParty, type Passkey } from './passkey.ts';
import { assertionAnswer, registrationAnswer, type Refusal } from './passkeyAnswer.ts';
import { openPageServer } from './pageServer.ts';
import { createVerifier } from './passwordVerifier.ts';
import { tryPassword } from './passwordTry.ts';
import { actDigest, type PresenceAct } from './presenceAct.ts';
import { pageWords, presenceNotices, presenceWords, refusalText } from './presenceMessages.ts';
import { presencePage, type PageFacts } from './presencePage.ts';
import type { Factor, PresenceWindow } from './presenceWindow.ts';
import type * as passkeyVerifier from './verifyPasskey.ts';
import { proofLifeMs, type Proof, type ProofDesk } from './proofDesk.ts';

export interface PresenceOptions {
  readonly store: FactorStore;
  readonly desk: ProofDesk;
  readonly window: PresenceWindow;
  readonly notifier: Pick<Notifier, 'show'>;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly today: () => number;
  /** The built `presence.js` of the webviews. */
  readonly script: () => Promise<string>;
  /** Read when an answer is expected: the library is large. */
  readonly verifier: () => Promise<typeof passkeyVerifier>;
}

type PagePurpose =
  | { readonly mode: 'get'; readonly passkeys: readonly Passkey[] }
  | { readonly mode: 'create'; readonly passkeys: readonly Passkey[]; readonly label: string };

/**
 * Proof that a person is here, for one act. What a person turns away, and what is refused, gives no proof and is no
 * error: it was said to them already.
 */
export class Presence implements Disposable {
  readonly #options: PresenceOptions;
  readonly #closing = new AbortController();

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  /** Asks the person. Where no factor is set up yet, that comes first. */
  async prove(act: PresenceAct): Promise<Proof | undefined> {
    try {
      const { store, window } = this.#options;
      let kept = await store.read();
      if (!hasFactor(kept)) {
        const first = await window.chooseFirst(act);
        if (!first || !(await this.#setUp(first))) return undefined;
        kept = await store.read();
      }
      return await this.#ask(act, kept);
    } catch (error) {
      this.#sayDamaged(error);
      return undefined;
    }
  }

  /** True once for a proof, at the effect, of exactly the act that it was given for. */
  spend(proof: Proof, act: PresenceAct): boolean {
    return this.#options.desk.spend(proof, act);
  }

  /** `prove` and `spend` for an act that is done at once by the caller. */
  async confirm(act: PresenceAct): Promise<boolean> {
    const proof = await this.prove(act);
    return proof !== undefined && this.spend(proof, act);
  }

  factors(): Promise<Factors> {
    return this.#options.store.read();
  }

  /** With presence once there is a factor. False where the person turned it away. */
  async addPasskey(): Promise<boolean> {
    const { store, window, notifier } = this.#options;
    const { passkeys } = await store.read();
    const label = await window.askLabel(passkeys.length);
    if (label === undefined) return false;
    const act: PresenceAct = { name: 'addPasskey', label };
    if (!(await this.#confirmChange(act))) return false;
    const made = await this.#page(act, { mode: 'create', passkeys, label });
    if (made === 'elsewhere') notifier.show(presenceNotices.browserElsewhere());
    if (typeof made === 'string') return false;
    await store.update((before) => ({ ...before, passkeys: [...before.passkeys, made] }));
    notifier.show(presenceNotices.passkeyAdded(label));
    return true;
  }

  async setPassword(): Promise<boolean> {
    const { store, window, notifier } = this.#options;
    if (!(await this.#confirmChange({ name: 'setPassword' }))) return false;
    const text = await window.askNewPassword();
    if (text === undefined) return false;
    const password = await createVerifier(text);
    await store.update((before) => ({ ...before, password }));
    notifier.show(presenceNotices.passwordSet());
    return true;
  }

  async removePasskey({ id, label }: Passkey): Promise<void> {
    await this.#remove({ name: 'removePasskey', passkeyId: id, label }, (before) => ({
      ...before,
      passkeys: before.passkeys.filter((each) => each.id !== id),
    }));
  }

  async removePassword(): Promise<void> {
    await this.#remove({ name: 'removePassword' }, (before) => ({ ...before, password: null }));
  }

  dispose(): void {
    this.#closing.abort();
  }

  async #remove(act: PresenceAct, change: (before: Factors) => Factors): Promise<void> {
    const { store, notifier } = this.#options;
    if (!hasFactor(change(await store.read()))) {
      notifier.show(presenceNotices.lastFactor());
      return;
    }
    if (!(await this.confirm(act))) return;
    const after = await store.update((before) => {
      const changed = change(before);
      return hasFactor(changed) ? changed : undefined;
    });
    if (!after) notifier.show(presenceNotices.lastFactor());
    else if (act.name === 'removePasskey') notifier.show(presenceNotices.passkeyRemoved(act.label));
    else notifier.show(presenceNotices.passwordRemoved());
  }

  #setUp(factor: Factor): Promise<boolean> {
    return factor === 'passkey' ? this.addPasskey() : this.setPassword();
  }

  /** A further factor, or another password, is an act like others; the first one is not. */
  async #confirmChange(act: PresenceAct): Promise<boolean> {
    const kept = await this.#options.store.read();
    if (!hasFactor(kept)) return true;
    const proof = await this.#ask(act, kept);
    return proof !== undefined && this.spend(proof, act);
  }

  async #ask(act: PresenceAct, kept: Factors): Promise<Proof | undefined> {
    const { window, now, notifier, desk } = this.#options;
    const askedAt = now();
    const choices: Factor[] = [
      ...(kept.passkeys.length > 0 ? (['passkey'] as const) : []),
      ...(kept.password ? (['password'] as const) : []),
    ];
    let factor = choices.length === 1 ? choices[0] : await window.choose(act, choices);
    if (factor === 'passkey') {
      const used = await this.#page(act, { mode: 'get', passkeys: kept.passkeys });
      if (typeof used !== 'string') return desk.issue(act, askedAt);
      if (used !== 'elsewhere') return undefined;
      if (!kept.password) {
        notifier.show(presenceNotices.browserElsewhereNoPassword());
        return undefined;
      }
      notifier.show(presenceNotices.browserElsewhere());
      factor = 'password';
    }
    if (factor !== 'password') return undefined;
    return (await this.#byPassword(act)) ? desk.issue(act, askedAt) : undefined;
  }

  #byPassword(act: PresenceAct): Promise<boolean> {
    const { window, store, today } = this.#options;
    return window.askPassword(act, async (text) => {
      const tried = await tryPassword(text, store, today);
      if (tried.kind === 'right') return undefined;
      return tried.kind === 'wait' ? presenceWords.wait(tried.waitMs) : presenceWords.wrong();
    });
  }

  /** The passkey that was used or made; why there is none. */
  async #page(act: PresenceAct, purpose: PagePurpose): Promise<Passkey | 'elsewhere' | 'none'> {
    const { now, window, notifier } = this.#options;
    const until = now() + proofLifeMs;
    const challenge = challengeOf(act);
    const verifier = this.#options.verifier();
    verifier.catch(() => undefined);
    let accepted: Passkey | undefined;
    let refused: Refusal | undefined;
    const server = await openPageServer({
      html: async (nonce) =>
        presencePage(
          { mode: purpose.mode, options: pageOptions(purpose, challenge), words: pageWords(act) },
          await this.#options.script(),
          nonce,
        ),
      judge: async (body, origin) => {
        const result =
          now() < until
            ? await this.#judge(body, { challenge, origin }, purpose, await verifier)
            : ({ refused: 'late' } as const);
        if ('ok' in result) accepted = result.ok;
        else refused = result.refused;
        return { ok: 'ok' in result, text: refused === undefined ? '' : refusalText(refused) };
      },
      external: (uri) => window.asExternal(uri),
    });
    if (!server) return 'elsewhere';
    try {
      const end = await window.whileOpen(act, {
        uri: server.uri,
        answered: server.answered,
        timeoutMs: proofLifeMs,
        closing: this.#closing.signal,
      });
      if (end === 'not-opened') notifier.show(presenceNotices.notOpened());
      else if (end === 'late') notifier.show(presenceNotices.late());
      else if (refused !== undefined) notifier.show(presenceNotices.refused(refused));
      return end === 'answered' && accepted ? accepted : 'none';
    } finally {
      server.close();
    }
  }

  async #judge(
    body: unknown,
    asked: { readonly challenge: string; readonly origin: string },
    purpose: PagePurpose,
    verifier: typeof passkeyVerifier,
  ): Promise<{ readonly ok: Passkey } | { readonly refused: Refusal }> {
    const { store, today } = this.#options;
    if (purpose.mode === 'create') {
      const { success, data } = z.safeParse(registrationAnswer, body);
      if (!success) return { refused: 'malformed' };
      const about = { label: purpose.label, now: today() };
      return verifier.checkRegistration(data, { ...asked, type: 'webauthn.create' }, about);
    }
    const { success, data } = z.safeParse(assertionAnswer, body);
    if (!success) return { refused: 'malformed' };
    const result = await verifier.checkAssertion(data, { ...asked, type: 'webauthn.get' }, purpose.passkeys);
    if ('refused' in result) return result;
    const kept = await store.update((before) => withCounter(before, result.ok));
    return kept ? result : { refused: 'counter-went-back' };
  }

  #sayDamaged(error: unknown): void {
    if (!(error instanceof DamagedFactors)) throw error;
    this.#options.notifier.show(presenceNotices.damaged(error.path));
  }
}

/** Fresh for each question and bound to its act: the authenticator signs both. */
function challengeOf(act: PresenceAct): string {
  return createHash('sha256')
    .update('sallyport challenge 1\0')
    .update(randomBytes(32))
    .update(actDigest(act))
    .digest('base64url');
}

function pageOptions(purpose: PagePurpose, challenge: string): PageFacts['options'] {
  const known = purpose.passkeys.map(({ id, transports }) => ({ type: 'public-key', id, transports }));
  if (purpose.mode === 'get') {
    return {
      challenge,
      rpId: relyingParty,
      allowCredentials: known,
      timeout: proofLifeMs,
    };
  }
  return {
    challenge,
    rp: { id: relyingParty, name: 'Sallyport' },
    user: {
      id: randomBytes(16).toString('base64url'),
      name: `Sallyport: ${purpose.label}`,
      displayName: `Sallyport: ${purpose.label}`,
    },
    pubKeyCredParams: [-7, -257].map((alg) => ({ type: 'public-key', alg })),
    excludeCredentials: known,
    timeout: proofLifeMs,
  };
}
