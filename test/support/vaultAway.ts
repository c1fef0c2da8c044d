import { mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { appFiles, pluginFiles, writeFiles } from './appFolder.ts';
import { createTestAuthority, openSecureOrigin, type SecureOrigin } from './secureOrigin.ts';
import { SshHost } from './sshHost.ts';

/** What is outside of a window's computer for vault values: an API over TLS, an app that asks it, a host over SSH. */
export class VaultAway {
  readonly #folder: string;
  readonly host: SshHost;
  origin!: SecureOrigin;

  constructor(folder: string) {
    this.#folder = folder;
    this.host = new SshHost({ folder: join(folder, 'lab') });
  }

  /** The home of the person, as OpenSSH and the engine see it. */
  get home(): string {
    return join(this.#folder, 'person');
  }

  /** The certificate that the API's is signed by, for `NODE_EXTRA_CA_CERTS`. */
  get authority(): string {
    return join(this.#folder, 'authority.pem');
  }

  get api(): string {
    return `127.0.0.1:${this.origin.port}`;
  }

  /** A folder with an app whose page shows what its plugin got from the API. */
  get app(): string {
    return join(this.#folder, 'asker');
  }

  async start(): Promise<void> {
    const authority = createTestAuthority();
    mkdirSync(join(this.home, '.ssh'), { recursive: true, mode: 0o700 });
    writeFileSync(this.authority, authority.certificatePem);
    // The worst that a server can do: it tells what it was sent.
    this.origin = await openSecureOrigin(authority, (request, response) =>
      response.end(`authorization: ${request.headers.authorization ?? 'none'}`),
    );
    await this.host.start();
    // No key of a file, and no agent: only the vault can let anyone in.
    writeFileSync(
      join(this.home, '.ssh/config'),
      [
        'Host lab',
        `  HostName ${this.host.address}`,
        `  Port ${this.host.port}`,
        `  User ${userInfo().username}`,
        '  IdentityAgent none',
        '',
        'Host *',
        `  UserKnownHostsFile ${join(this.home, '.ssh/known_hosts')}`,
        '  GlobalKnownHostsFile none',
        '',
      ].join('\n'),
    );
    this.writeApp('1.0.0');
  }

  /** The app as its author has it; `vault` is what its plugin wishes for. */
  writeApp(appVersion: string, vault: readonly object[] = []): void {
    writeFiles(this.app, {
      ...appFiles(
        { id: 'asker', name: 'Asker', appVersion, plugins: ['api'] },
        {
          'index.html':
            '<!doctype html><title>Asker</title><button id="ask">Ask the API</button><pre id="said"></pre><script src="main.js"></script>',
          'main.js': `document.getElementById('ask').addEventListener('click', async () => {
  const said = document.getElementById('said');
  said.textContent = 'asking';
  try {
    said.textContent = await sallyport.plugins.call('api', 'echo', {});
  } catch (error) {
    said.textContent = 'refused: ' + error.message;
  }
});
`,
        },
      ),
      ...pluginFiles(
        'api',
        { network: [this.api], vault },
        `export async function echo(input, { fetch }) {
  const answer = await fetch('https://${this.api}/notes');
  return answer.status + ' ' + await answer.text();
}`,
      ),
    });
  }

  /** Lets the holder of this key in, and nobody else. */
  letIn(publicKey: string): void {
    writeFileSync(join(this.host.folder, 'authorized_keys'), `${publicKey}\n`);
  }

  /** What sshd says of the keys that it took. */
  signIns(): string[] {
    return this.host.said.match(/Accepted publickey for .*/g) ?? [];
  }

  /** What the API was sent as its authorization, request by request. */
  sent(): (string | undefined)[] {
    return this.origin.seen.map(({ headers }) => {
      const at = headers.findIndex((each, index) => index % 2 === 0 && /^authorization$/i.test(each));
      return at < 0 ? undefined : headers[at + 1];
    });
  }

  async stop(): Promise<void> {
    await this.host.stop();
    await this.origin.close();
  }
}
