import type { Duplex } from 'node:stream';
import ssh2 from 'ssh2';
import type { Client, ClientChannel, ServerHostKeyAlgorithm } from 'ssh2';
import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import { gatherWrites } from './gatherWrites.ts';
import { connectLargeReads } from './largeReads.ts';
import { toHostVerifier } from './hostVerifier.ts';
import type { HostKeyChecks } from './hostKeys.ts';
import { SignIn, signInFailed } from './signIn.ts';
import type { SshTarget } from './sshConfig.ts';
import type { SshPerson } from './sshPerson.ts';

export interface ConnectOptions {
  readonly target: SshTarget;
  /** The stream to the host where it is reached through another; else a TCP connection is made. */
  readonly through?: Duplex | undefined;
  readonly hostKeys: Pick<HostKeyChecks, 'algorithms' | 'check'>;
  readonly person: SshPerson;
  readonly signal: AbortSignal;
  /** How long the host may take for each step; time in which a person is asked does not count. */
  readonly connectMs: number;
  readonly keepaliveMs: number;
}

/** How a command ended. */
export interface ExecResult {
  readonly code: number | undefined;
  readonly signal: string | undefined;
  /** At most `execOutputBytes` of each; what is beyond is read and dropped. */
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs over there, as a stream of its standard input and output. Its stderr is always read. */
export interface ExecStream {
  readonly stream: Duplex;
  /** The last of what came on stderr so far. */
  readonly errors: () => string;
  /** True once the connection has ended, or was told to. */
  readonly isLost: () => boolean;
  /** As `SshConnection.answers`. */
  readonly hostAnswers: () => Promise<void>;
  readonly ended: Promise<ChannelEnd>;
}

/** Neither is known where the connection was lost. */
export interface ChannelEnd {
  readonly code: number | undefined;
  readonly signal: string | undefined;
}

/** In characters. */
export interface ShellSize {
  readonly columns: number;
  readonly rows: number;
}

export interface Shell {
  readonly stream: Duplex;
  resize(size: ShellSize): void;
  readonly ended: Promise<ChannelEnd>;
}

const execOutputBytes = 1024 * 1024;
/** Keepalives that may go unanswered: with 15 s between them a frozen host is lost within a minute. */
const keepaliveCount = 3;

/** Without CBC, SHA-1, and what Terrapin (CVE-2023-48795) needs. The first of each that both know is taken. */
const algorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group16-sha512',
    'diffie-hellman-group14-sha256',
  ],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes256-ctr'],
  hmac: ['hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
} as const;

/** An SSH connection that is signed in: the one owner of ssh2. Closing it ends everything that was opened on it. */
export class SshConnection {
  readonly closed: Promise<string>;
  readonly #client: Client;
  /** Who waits for a channel. */
  readonly #onClosed = new Set<() => void>();
  #isClosed = false;

  private constructor(client: Client, closed: Promise<string>) {
    this.#client = client;
    this.closed = closed;
    void closed.then(() => {
      this.#isClosed = true;
      for (const ended of this.#onClosed) ended();
    });
  }

  /**
   * Connects, judges the host's key, and only then signs in. Throws `unreachable`, `host-key`, `sign-in`, `incompatible`
   * or `cancelled`, each in words.
   */
  static async open(options: ConnectOptions): Promise<SshConnection> {
    const { target, hostKeys, person, through } = options;
    const client = new ssh2.Client();
    const { sock, onSignedIn } = through ? { sock: through, onSignedIn: () => undefined } : connectTo(target);
    let reason = 'the connection ended';
    let refusal: UserError | undefined;
    const watch = new PatientTimer(options.connectMs);
    const asking: SshPerson = {
      vaultKeys: async (at) =>
        (await watch.pausedWhile(person.vaultKeys(at))).map((signer) => ({
          name: signer.name,
          publicKey: signer.publicKey,
          sign: (data, hash) => watch.pausedWhile(signer.sign(data, hash)),
        })),
      confirmHostKey: (question) => watch.pausedWhile(person.confirmHostKey(question)),
      showChangedHostKey: (change) => watch.pausedWhile(person.showChangedHostKey(change)),
      askSecret: (question) => watch.pausedWhile(person.askSecret(question)),
    };
    const signIn = new SignIn({ target, person: asking });
    const closed = new Promise<string>((resolve) => client.once('close', () => resolve(reason)));
    let stop: () => void = () => undefined;
    const opened = new Promise<void>((resolve, reject) => {
      const fail = (error: UserError) => {
        reject(refusal ?? error);
        client.destroy();
      };
      stop = () => fail(new UserError('cancelled', 'It was cancelled'));
      if (options.signal.aborted) stop();
      options.signal.addEventListener('abort', stop, { once: true });
      watch.start(() => fail(unreachable(target, `no answer in ${Math.round(options.connectMs / 1000)} s`)));
      client.once('ready', () => resolve());
      client.on('error', (error: Error & { level?: string }) => {
        // A key that does not sign is one that did not help: the next one is tried.
        if (error.level === 'agent') {
          signIn.tried.push(`a key that did not sign (${error.message})`);
          return;
        }
        reason = error.message;
        fail(toUserError(target, error, signIn.tried));
      });
      client.once('close', () => fail(unreachable(target, 'the host closed the connection')));
    });
    const verifier = toHostVerifier(async (key) => {
      const refused = await hostKeys.check(target, key, asking);
      refusal = refused;
      return refused ? 'refused' : 'trusted';
    });
    try {
      client.connect({
        sock,
        username: target.user,
        hostVerifier: verifier,
        algorithms: {
          kex: [...algorithms.kex],
          cipher: [...algorithms.cipher],
          hmac: [...algorithms.hmac],
          compress: [...algorithms.compress],
          serverHostKey: hostKeys.algorithms(target) as ServerHostKeyAlgorithm[],
        },
        authHandler: (allowed, _partial, next) => {
          // A method that comes late is not wanted any more.
          signIn.next(allowed).then(
            (method) => next(method as never),
            () => next(false as never),
          );
          return undefined;
        },
        agentForward: false,
        keepaliveInterval: options.keepaliveMs,
        keepaliveCountMax: keepaliveCount,
        readyTimeout: 0,
      });
      await opened;
      onSignedIn();
    } catch (error) {
      client.destroy();
      sock.destroy();
      throw error instanceof UserError ? error : toUserError(target, error as Error, signIn.tried);
    } finally {
      watch.stop();
      options.signal.removeEventListener('abort', stop);
    }
    return new SshConnection(client, closed);
  }

  /** Runs a command line of the person's login shell. Throws `closed`, and `unreachable` where no channel is given. */
  async exec(command: string): Promise<ExecStream> {
    const channel = await this.#channel((done) => this.#client.exec(command, { pty: false }, done));
    let errors = '';
    channel.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-keptErrors);
    });
    channel.on('error', () => undefined);
    return {
      stream: channel,
      errors: () => errors,
      isLost: () => this.#isClosed,
      hostAnswers: () => this.answers(),
      ended: endOf(channel),
    };
  }

  /** Runs a command to its end with this on its standard input. Both outputs are read whatever their size. */
  async run(command: string, input: Uint8Array | string = ''): Promise<ExecResult> {
    const { stream, errors, ended } = await this.exec(command);
    let stdout = '';
    stream.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < execOutputBytes) stdout += text;
    });
    stream.end(input);
    const { code, signal } = await ended;
    if (code === undefined && signal === undefined && this.#isClosed)
      throw new UserError('closed', 'The connection was lost while a command ran');
    return { code, signal, stdout: stdout.slice(0, execOutputBytes), stderr: errors() };
  }

  /** A login shell in a terminal of its own. Throws as `exec` does. */
  async shell({ columns, rows }: ShellSize): Promise<Shell> {
    const size = { cols: columns, rows, width: 0, height: 0, term: 'xterm-256color' };
    const channel = await this.#channel((done) => this.#client.shell(size, done));
    channel.stderr.resume();
    channel.on('error', () => undefined);
    return {
      stream: channel,
      resize: (to) => {
        channel.setWindow(to.rows, to.columns, 0, 0);
      },
      ended: endOf(channel),
    };
  }

  /** A stream to a Unix socket over there, without a program in between. Throws as `exec` does. */
  openSocket(path: string): Promise<Duplex> {
    return this.#channel((done) => this.#client.openssh_forwardOutStreamLocal(path, done));
  }

  /** A stream to another host as seen from this one. Throws as `exec` does. */
  openTcp(host: string, port: number): Promise<Duplex> {
    return this.#channel((done) => this.#client.forwardOut('127.0.0.1', 0, host, port, done));
  }

  /**
   * Settles when the host has answered something that is asked now, whatever it answers; rejects with `closed`. A way to
   * port 0 is asked for: every server answers that, and none starts or reaches anything for it.
   */
  async answers(): Promise<void> {
    try {
      const stream = await this.openTcp('127.0.0.1', 0);
      stream.destroy();
    } catch (error) {
      if (error instanceof UserError && error.code === 'unreachable') return;
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#client.end();
    // A frozen host never answers the goodbye.
    setTimeout(() => this.#client.destroy(), closeMs).unref();
  }

  /** Ends the connection without a word. */
  destroy(): void {
    this.#isClosed = true;
    this.#client.destroy();
  }

  #channel(
    open: (done: (error: Error | undefined, channel: ClientChannel) => void) => void,
  ): Promise<ClientChannel> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        reject(new UserError('closed', 'The SSH connection has ended'));
        return;
      }
      const ended = () => reject(new UserError('closed', 'The SSH connection has ended'));
      this.#onClosed.add(ended);
      try {
        open((error, channel) => {
          this.#onClosed.delete(ended);
          if (error)
            reject(
              new UserError(
                'unreachable',
                `The host gives no channel: ${error.message}`,
                // The reasons of RFC 4254, 5.1.
                { reason: (error as Error & { reason?: number }).reason ?? 0 },
                { cause: error },
              ),
            );
          else resolve(channel);
        });
      } catch (error) {
        this.#onClosed.delete(ended);
        reject(new UserError('closed', `The SSH connection has ended: ${errorMessage(error)}`));
      }
    });
  }
}

function endOf(channel: ClientChannel): Promise<ChannelEnd> {
  return new Promise((resolve) => {
    let end: ChannelEnd = { code: undefined, signal: undefined };
    channel.once('exit', (code: number | null, signal?: string) => {
      end = { code: code ?? undefined, signal };
    });
    channel.once('close', () => resolve(end));
  });
}

const keptErrors = 64 * 1024;
const closeMs = 1000;

/** A time limit that stands still while a person is asked. */
class PatientTimer {
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;
  #onEnd: (() => void) | undefined;
  #asked = 0;

  constructor(ms: number) {
    this.#ms = ms;
  }

  start(onEnd: () => void): void {
    this.#onEnd = onEnd;
    this.#timer = setTimeout(onEnd, this.#ms);
  }

  async pausedWhile<T>(work: Promise<T>): Promise<T> {
    this.#asked += 1;
    clearTimeout(this.#timer);
    try {
      return await work;
    } finally {
      this.#asked -= 1;
      if (this.#asked === 0 && this.#onEnd) this.start(this.#onEnd);
    }
  }

  stop(): void {
    this.#onEnd = undefined;
    clearTimeout(this.#timer);
  }
}

function connectTo({ host, port }: SshTarget): { readonly sock: Duplex; readonly onSignedIn: () => void } {
  // With Nagle's delay each small message would wait for the answer to the one before.
  const { socket, lend } = connectLargeReads({ host, port, noDelay: true });
  return { sock: gatherWrites(socket), onSignedIn: lend };
}

function unreachable(target: SshTarget, why: string): UserError {
  return new UserError('unreachable', `${target.host}, port ${target.port}: ${why}`, {
    remedy: 'Is the host up, and the network there? “ssh” with this host in a terminal shows the same.',
  });
}

function toUserError(
  target: SshTarget,
  error: Error & { level?: string },
  tried: readonly string[],
): UserError {
  if (error.level === 'client-authentication') return signInFailed(target, tried);
  if (/no matching host key format/i.test(error.message)) {
    return new UserError(
      'incompatible',
      `${target.host} offers no host key of a kind that Sallyport checks; it may have host certificates only, which are not supported`,
      { remedy: 'Ask for a plain host key (HostKey in sshd_config) beside the certificate.' },
      { cause: error },
    );
  }
  if (/no matching|unsupported/i.test(error.message)) {
    return new UserError('incompatible', `${target.host} speaks no algorithm in common: ${error.message}`, {
      remedy: 'Update the SSH server of the host.',
    });
  }
  return new UserError(
    'unreachable',
    `${target.host}, port ${target.port}: ${error.message}`,
    { remedy: 'Is the host up, and the network there? “ssh” with this host in a terminal shows the same.' },
    { cause: error },
  );
}
