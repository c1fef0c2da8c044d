import type { CDPSession, Page } from 'playwright-core';

/** A credential as Chromium's WebAuthn domain gives and takes it; binary members are base64. */
export interface VirtualCredential {
  readonly credentialId: string;
  readonly isResidentCredential: boolean;
  readonly rpId?: string;
  readonly privateKey: string;
  readonly userHandle?: string;
  readonly signCount: number;
}

/** Chromium's virtual authenticator (Chrome DevTools Protocol, WebAuthn) of one page. */
export class VirtualAuthenticator {
  readonly #session: CDPSession;
  readonly #id: string;

  private constructor(session: CDPSession, id: string) {
    this.#session = session;
    this.#id = id;
  }

  static async of(page: Page, credentials: readonly VirtualCredential[] = []): Promise<VirtualAuthenticator> {
    const session = await page.context().newCDPSession(page);
    await session.send('WebAuthn.enable');
    const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    for (const credential of credentials) {
      await session.send('WebAuthn.addCredential', { authenticatorId, credential });
    }
    return new VirtualAuthenticator(session, authenticatorId);
  }

  async credentials(): Promise<readonly VirtualCredential[]> {
    return (await this.#session.send('WebAuthn.getCredentials', { authenticatorId: this.#id })).credentials;
  }

  async setUserVerified(isUserVerified: boolean): Promise<void> {
    await this.#session.send('WebAuthn.setUserVerified', { authenticatorId: this.#id, isUserVerified });
  }
}
