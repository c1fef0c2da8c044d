import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { workerReadyLine } from '../../../protocol/src/pinnedWorker.ts';
import { createLeaf } from '../../../remote-agent/src/worker/leaf.ts';
import { launchChromium } from '../../support/chromium.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { newIdentity, WorkerRig } from '../../support/workerRig.ts';

/**
 * T08: VS Code's own programs speak TLS by BoringSSL, which takes no Ed25519 in a handshake (its default verification
 * preferences, ssl/extensions.cc). Electron isn't at hand in the tests; Debian's Chromium has the same library. Shown
 * here is that BoringSSL accepts the worker's key in a handshake and no Ed25519 one, and that a client that offers no
 * more than BoringSSL does gets through both ways. Not shown is Electron itself: that its `tls` gives certificate and
 * key of a P-256 leaf to BoringSSL as OpenSSL gets them.
 */
describe('the worker’s certificate in BoringSSL', () => {
  const folder = useTemporaryFolder();
  const me = newIdentity();
  let browser: Browser;
  let rig: WorkerRig;
  const servers: Server[] = [];

  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());
  beforeEach(async () => {
    rig = new WorkerRig(folder());
    rig.admit(me);
    await rig.start();
  });
  afterEach(async () => {
    await rig.stop();
    for (const server of servers.splice(0)) server.close();
  });

  /** A page behind a certificate, which asks for one as the worker does. */
  async function serve(options: { key: string; cert: string }): Promise<string> {
    const server = createServer(
      { ...options, minVersion: 'TLSv1.3', requestCert: true, rejectUnauthorized: false },
      (_request, response) => response.end('through'),
    );
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  /** What the browser shows, or its word for why it shows nothing. */
  async function see(url: string, trusting: boolean): Promise<string> {
    const context = await browser.newContext({ ignoreHTTPSErrors: trusting });
    try {
      const page = await context.newPage();
      await page.goto(url);
      return (await page.textContent('body')) ?? '';
    } catch (error) {
      return /ERR_[A-Z0-9_]+/.exec(String(error))?.[0] ?? String(error);
    } finally {
      await context.close();
    }
  }

  function ed25519Certificate(): { key: string; cert: string } {
    const at = (name: string) => join(folder(), name);
    const words = ['req', '-x509', '-newkey', 'ed25519', '-nodes', '-subj', '/CN=127.0.0.1', '-days', '1'];
    execFileSync('openssl', [...words, '-keyout', at('key'), '-out', at('cert')], { stdio: 'ignore' });
    return { key: readFileSync(at('key'), 'utf8'), cert: readFileSync(at('cert'), 'utf8') };
  }

  it('[WORKER-08] T08: a leaf on P-256 that an Ed25519 identity signed is taken, one on Ed25519 is not', async () => {
    const ours = await createLeaf(rig.files.signer(), Date.now());
    assert.equal(await see(await serve(ours), true), 'through');
    // Without trust in anything: only who signed it is missing, which is nothing that a worker's client asks.
    assert.match(await see(await serve(ours), false), /^ERR_CERT_/);
    const control = await serve(ed25519Certificate());
    for (const trusting of [true, false])
      assert.equal(await see(control, trusting), 'ERR_SSL_VERSION_OR_CIPHER_MISMATCH');
  });

  it('[WORKER-08] T08: the worker itself and the browser part over the application protocol alone', async () => {
    const seen = await see(`https://127.0.0.1:${rig.server.port}/`, true);
    assert.match(seen, /^ERR_(ALPN_NEGOTIATION_FAILED|SSL_PROTOCOL_ERROR)$/);
  });

  it('[WORKER-08] T08: a client that offers what BoringSSL offers gets through both ways', async () => {
    const boringSsl = {
      sigalgs:
        'ecdsa_secp256r1_sha256:rsa_pss_rsae_sha256:rsa_pkcs1_sha256:ecdsa_secp384r1_sha384:rsa_pss_rsae_sha384:rsa_pkcs1_sha384:rsa_pss_rsae_sha512:rsa_pkcs1_sha512',
      ecdhCurve: 'X25519:P-256:P-384',
      ciphers: 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256',
    };
    assert.equal(await rig.firstLine(me, boringSsl), workerReadyLine);
    // The controls: with a key of Ed25519 the same client is nobody, and without the limit it is somebody.
    const own = ed25519Certificate();
    assert.equal(await rig.firstLine(undefined, { ...boringSsl, ...own }), 'refused not-enrolled');
    const [, why = ''] =
      /"why":"([^"]*)"/.exec(
        readFileSync(join(rig.files.path, 'audit/strangers.log'), 'utf8').trim().split('\n').at(-1) ?? '',
      ) ?? [];
    assert.equal(why, 'no certificate');
  });
});
