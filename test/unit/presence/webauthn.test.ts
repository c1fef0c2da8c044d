import assert from 'node:assert/strict';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium } from '../../support/chromium.ts';
import type { PresenceAct } from '../../../extension/src/presence/presenceAct.ts';
import { proofLifeMs } from '../../../extension/src/presence/proofDesk.ts';
import type { OpenPage } from '../../../extension/src/presence/presenceWindow.ts';
import { presenceRig, type PresenceRig } from '../../support/presenceRig.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { VirtualAuthenticator, type VirtualCredential } from '../../support/virtualAuthenticator.ts';
import { listen, type Listening } from '../../support/webviews.ts';
import { resetStub } from '../../support/vscodeStub.ts';

const reveal: PresenceAct = {
  name: 'reveal',
  vault: 'agents',
  itemId: 'db',
  title: 'Da<b>ta</b> "base"',
  field: 'password',
  version: 3,
};
const other: PresenceAct = { ...reveal, version: 4 };

/** In a page: an assertion for a challenge, as the page's own script would send it. */
async function stealAssertion({ challenge, id }: { challenge: string; id: string }): Promise<object> {
  const decode = (text: string) =>
    Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
  const encode = (bytes: ArrayBuffer) =>
    btoa(String.fromCharCode(...new Uint8Array(bytes)))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '');
  const credential = (await navigator.credentials.get({
    publicKey: {
      challenge: decode(challenge),
      rpId: 'localhost',
      userVerification: 'required',
      allowCredentials: [{ type: 'public-key', id: decode(id) }],
    },
  })) as PublicKeyCredential;
  const response = credential.response as AuthenticatorAssertionResponse;
  return {
    id: credential.id,
    rawId: credential.id,
    type: 'public-key',
    response: {
      clientDataJSON: encode(response.clientDataJSON),
      authenticatorData: encode(response.authenticatorData),
      signature: encode(response.signature),
    },
  };
}

async function post({ path, body }: { path: string; body: object }): Promise<{ ok: boolean; text: string }> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as { ok: boolean; text: string };
}

describe('A passkey in a browser', () => {
  const folder = useTemporaryFolder();
  let browser: Browser;
  let context: BrowserContext;
  let rig: PresenceRig;
  let credentials: readonly VirtualCredential[];

  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());

  /** A tab with the person's authenticator; what it holds and counts goes on in the next one. */
  async function tab(uri = 'about:blank'): Promise<{ page: Page; authenticator: VirtualAuthenticator }> {
    const opener = await context.newPage();
    const opened = context.waitForEvent('page');
    // As VS Code does it: a tab without a history may close itself.
    await opener.evaluate((address) => void window.open(address, '_blank', 'noopener'), uri);
    const page = await opened;
    await page.waitForLoadState();
    await opener.close();
    return { page, authenticator: await VirtualAuthenticator.of(page, credentials) };
  }

  /** The person reads the page and presses its button. */
  async function confirm(open: OpenPage): Promise<void> {
    const { page, authenticator } = await tab(open.uri);
    const closed = page.waitForEvent('close');
    await page.getByRole('button').click();
    await open.answered;
    credentials = await authenticator.credentials().catch(() => credentials);
    await closed;
  }

  /** The challenge of an open page, as another program that got hold of the page would read it. */
  async function read(page: Page): Promise<{ challenge: string; id: string; path: string }> {
    const facts = JSON.parse((await page.locator('#facts').textContent()) ?? '') as {
      options: { challenge: string; allowCredentials: { id: string }[] };
    };
    const id = facts.options.allowCredentials[0]?.id ?? '';
    return { challenge: facts.options.challenge, id, path: `${new URL(page.url()).pathname}/answer` };
  }

  beforeEach(async () => {
    resetStub();
    context = await browser.newContext();
    credentials = [];
    rig = presenceRig(folder());
  });
  afterEach(() => context.close());

  /** A registered passkey whose private half the virtual authenticators of later tabs have. */
  async function register(): Promise<void> {
    rig.says.browser = async (open) => {
      const { page, authenticator } = await tab(open.uri);
      // The page closes itself, and its authenticator goes with it.
      await page.evaluate(() => (window.close = () => undefined));
      await page.getByRole('button').click();
      await page.getByText('Done.').waitFor();
      await open.answered;
      credentials = await authenticator.credentials();
      await page.close();
    };
    assert.equal(await rig.presence.addPasskey(), true);
    assert.equal(credentials.length, 1);
    rig.says.browser = confirm;
  }

  it('[PRES-02] is made, confirms one act whose words the page shows, and closes the page', async () => {
    await register();
    let text = '';
    rig.says.browser = async (open) => {
      const { page } = await tab(open.uri);
      text = await page.locator('main').innerText();
      assert.equal(await page.locator('main b').count(), 0, 'titles are no markup');
      assert.equal(await page.evaluate(() => document.activeElement?.id), 'confirm');
      const closed = page.waitForEvent('close');
      await page.keyboard.press('Enter');
      await open.answered;
      await closed;
    };
    const proof = await rig.presence.prove(reveal);
    assert.ok(proof);
    assert.ok(
      text.includes('Show or copy the field “password” of “Da<b>ta</b> "base"” (agents’ vault), version 3'),
    );
    assert.equal(rig.presence.spend(proof, reveal), true);
    assert.equal(rig.presence.spend(proof, reveal), false);
  });

  it('[PRES-01] proves nothing for another act', async () => {
    await register();
    const proof = await rig.presence.prove(reveal);
    assert.ok(proof);
    assert.equal(rig.presence.spend(proof, other), false);
  });

  it('[PRES-02] comes first where no factor was set up, and needs presence once one was', async () => {
    rig.says.first = 'password';
    rig.says.newPassword = 'correct horse battery';
    rig.says.password = 'correct horse battery';
    assert.ok(await rig.presence.prove(reveal));
    rig.says.password = 'wrong horse battery';
    assert.equal(await rig.presence.addPasskey(), false);
    assert.equal(await rig.presence.setPassword(), false);
    assert.equal((await rig.store.read()).passkeys.length, 0);
    rig.says.password = 'correct horse battery';
    await register();
    assert.equal((await rig.store.read()).passkeys.length, 1);
  });

  it('[PRES-07] is not removed where it is the last factor, or without presence', async () => {
    await register();
    const [passkey] = (await rig.store.read()).passkeys;
    assert.ok(passkey);
    await rig.presence.removePasskey(passkey);
    assert.equal((await rig.store.read()).passkeys.length, 1);
    rig.says.newPassword = 'correct horse battery';
    assert.equal(await rig.presence.setPassword(), true);
    rig.says.factor = undefined;
    await rig.presence.removePasskey(passkey);
    assert.equal((await rig.store.read()).passkeys.length, 1);
    rig.says.factor = 'password';
    rig.says.password = 'correct horse battery';
    await rig.presence.removePasskey(passkey);
    assert.equal((await rig.store.read()).passkeys.length, 0);
  });

  /** The person's page is opened, and its answer is the attacker's. */
  async function attacked(
    attack: (open: OpenPage, page: Page) => Promise<{ ok: boolean; text: string }>,
  ): Promise<string> {
    let said = '';
    rig.says.browser = async (open) => {
      const { page } = await tab(open.uri);
      const verdict = await attack(open, page);
      assert.equal(verdict.ok, false);
      said = verdict.text;
      await open.answered;
    };
    assert.equal(await rig.presence.prove(reveal), undefined);
    return said;
  }

  it('[PRES-03] refuses an answer that another page of this machine got from the same passkey', async () => {
    await register();
    const elsewhere = await listen((_request, response) => response.end('<p>evil</p>'));
    try {
      const said = await attacked(async (_open, page) => {
        const { challenge, id, path } = await read(page);
        const evil = await tab();
        await evil.page.goto(elsewhere.origin.replace('127.0.0.1', 'localhost'));
        const body = await evil.page.evaluate(stealAssertion, { challenge, id });
        return page.evaluate(post, { path, body });
      });
      assert.match(said, /on another page/);
    } finally {
      await elsewhere.close();
    }
  });

  it('[PRES-03] refuses an answer that was used before, in the same and in another question', async () => {
    await register();
    let used: object = {};
    rig.says.browser = async (open) => {
      const { page } = await tab(open.uri);
      const { path, ...asked } = await read(page);
      used = await page.evaluate(stealAssertion, asked);
      assert.equal((await page.evaluate(post, { path, body: used })).ok, true);
      await open.answered;
      const again = await page
        .evaluate(post, { path, body: used })
        .then(({ ok }) => ok)
        .catch(() => false);
      assert.equal(again, false);
    };
    assert.ok(await rig.presence.prove(reveal));
    const said = await attacked(async (_open, page) =>
      page.evaluate(post, { path: (await read(page)).path, body: used }),
    );
    assert.match(said, /on another page|to another question/);
  });

  it('[PRES-03] refuses the answer to another act that waits at the same time', async () => {
    await register();
    const otherPage = Promise.withResolvers<Page>();
    const otherDone = Promise.withResolvers<undefined>();
    const second = presenceRig(folder());
    second.says.browser = async (open) => {
      const { page } = await tab(open.uri);
      otherPage.resolve(page);
      await otherDone.promise;
    };
    const harmless = second.presence.prove(other);
    const harmlessPage = await otherPage.promise;
    const said = await attacked(async (_open, page) => {
      const { challenge, id } = await read(harmlessPage);
      const body = await harmlessPage.evaluate(stealAssertion, { challenge, id });
      return page.evaluate(post, { path: (await read(page)).path, body });
    });
    assert.match(said, /on another page|to another question/);
    otherDone.resolve(undefined);
    assert.equal(await harmless, undefined);
  });

  it('[PRES-03] refuses an answer from inside another page’s frame', async () => {
    await register();
    let framed: Listening | undefined;
    try {
      const said = await attacked(async (open, page) => {
        const { challenge, id, path } = await read(page);
        const evil = await tab();
        framed = await listen((request, response) => {
          const inner = `http://localhost:${framed?.origin.split(':')[2]}/inner`;
          response.setHeader('content-type', 'text/html');
          response.end(
            request.url === '/inner'
              ? 'inner'
              : `<iframe id="ours" src="${open.uri}"></iframe><iframe id="inner" allow="publickey-credentials-get *" src="${inner}"></iframe>`,
          );
        });
        await evil.page.goto(framed.origin);
        const inner = evil.page.frames().find((frame) => frame.url().endsWith('/inner'));
        assert.ok(inner, 'the control: another page can be framed');
        const ours = await evil.page.locator('#ours').contentFrame().locator('body').innerText();
        assert.doesNotMatch(ours, /Sallyport in VS Code/);
        const body = await inner.evaluate(stealAssertion, { challenge, id });
        return page.evaluate(post, { path, body });
      });
      assert.match(said, /inside another one|on another page/);
    } finally {
      await framed?.close();
    }
  });

  it('[PRES-03] needs the authenticator to verify its user: the browser itself asks for it', async () => {
    await register();
    rig.says.browser = async (open) => {
      const { page, authenticator } = await tab(open.uri);
      await authenticator.setUserVerified(false);
      await page.getByRole('button').click();
      await page.getByText('Nothing was confirmed.').waitFor();
    };
    assert.equal(await rig.presence.prove(reveal), undefined);
  });

  it('[PRES-03] refuses a passkey of the same machine that was never registered', async () => {
    await register();
    const said = await attacked(async (_open, page) => {
      const { challenge, path } = await read(page);
      const id = await page.evaluate(async () => {
        const made = (await navigator.credentials.create({
          publicKey: {
            challenge: new Uint8Array(32),
            rp: { id: 'localhost', name: 'x' },
            user: { id: new Uint8Array(16), name: 'x', displayName: 'x' },
            pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
          },
        })) as PublicKeyCredential;
        return made.id;
      });
      const body = await page.evaluate(stealAssertion, { challenge, id });
      return page.evaluate(post, { path, body });
    });
    assert.match(said, /not registered/);
  });

  it('[PRES-03] refuses a counter that went back, as that of a copied authenticator', async () => {
    await register();
    await rig.store.update((before) => ({
      ...before,
      passkeys: before.passkeys.map((each) => ({ ...each, counter: 1_000_000 })),
    }));
    const said = await attacked(async (_open, page) => {
      const { path, ...asked } = await read(page);
      return page.evaluate(post, { path, body: await page.evaluate(stealAssertion, asked) });
    });
    assert.match(said, /counter went back/);
  });

  it('[PRES-01] refuses what comes after two minutes, and a proof that is spent then', async () => {
    await register();
    const said = await attacked(async (_open, page) => {
      const { path, ...asked } = await read(page);
      const body = await page.evaluate(stealAssertion, asked);
      rig.skip(proofLifeMs);
      return page.evaluate(post, { path, body });
    });
    assert.match(said, /longer than two minutes/);
    rig.says.browser = confirm;
    const proof = await rig.presence.prove(reveal);
    assert.ok(proof);
    rig.skip(proofLifeMs);
    assert.equal(rig.presence.spend(proof, reveal), false);
  });

  it('[PRES-04] takes the password where the browser is on another machine, and says why', async () => {
    await register();
    rig.says.external = (uri) => uri.replace('http://localhost', 'https://box.example/proxy');
    assert.equal(await rig.presence.prove(reveal), undefined);
    assert.match(
      rig.notices.at(-1)?.text ?? '',
      /does not reach this machine as “localhost”.*Set a password/,
    );
    rig.says.external = (uri) => uri;
    rig.says.newPassword = 'correct horse battery';
    assert.equal(await rig.presence.setPassword(), true);
    rig.says.external = (uri) => uri.replace('http://localhost', 'https://box.example/proxy');
    rig.says.password = 'correct horse battery';
    assert.ok(await rig.presence.prove(reveal));
  });

  it('[PRES-08] gives no proof where a person closes everything', async () => {
    rig.says.first = undefined;
    assert.equal(await rig.presence.prove(reveal), undefined);
    await register();
    rig.says.browser = async () => undefined;
    assert.equal(await rig.presence.prove(reveal), undefined);
  });
});
