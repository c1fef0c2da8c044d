import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './freePort.ts';
import { until } from './until.ts';

const run = promisify(execFile);
export const sshdProgram = '/usr/sbin/sshd';

export type KeyKind = 'ed25519' | 'rsa' | 'ecdsa';

export interface SshHostOptions {
  /** A folder of the test's own, made where it is missing. */
  readonly folder: string;
  readonly port?: number;
  readonly hostKeys?: readonly KeyKind[];
  /** Lines of sshd_config that come first: the first setting of a name counts. */
  readonly settings?: readonly string[];
  /** Put before `sshd`: a network namespace. */
  readonly wrapper?: readonly string[];
  readonly address?: string;
}

/**
 * A real sshd on loopback whose users have a home folder in the test's folder. It is a child of the test: `stop` ends
 * it with every session, and `sessions` are the processes of its connections.
 */
export class SshHost {
  readonly folder: string;
  readonly home: string;
  readonly #options: SshHostOptions;
  port = 0;
  child: ChildProcess | undefined;
  said = '';

  constructor(options: SshHostOptions) {
    this.#options = options;
    this.folder = options.folder;
    this.home = join(options.folder, 'home');
    mkdirSync(this.home, { recursive: true, mode: 0o700 });
  }

  get address(): string {
    return this.#options.address ?? '127.0.0.1';
  }

  /** The private key file that the host lets in; made with the first call. */
  async start(): Promise<void> {
    const { hostKeys = ['ed25519'], settings = [], wrapper = [] } = this.#options;
    this.port ||= this.#options.port ?? (await freePort());
    for (const kind of hostKeys) await makeKey(this.hostKey(kind), kind);
    const user = await makeKey(this.userKey, 'ed25519');
    writeFileSync(join(this.folder, 'authorized_keys'), readFileSync(`${user}.pub`));
    if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
    writeFileSync(
      join(this.folder, 'sshd_config'),
      [
        ...settings,
        `Port ${this.port}`,
        `ListenAddress ${this.address}`,
        ...hostKeys.map((kind) => `HostKey ${this.hostKey(kind)}`),
        `AuthorizedKeysFile ${join(this.folder, 'authorized_keys')}`,
        `PidFile ${join(this.folder, 'pid')}`,
        'PermitRootLogin yes',
        'StrictModes no',
        'UsePAM no',
        'PasswordAuthentication no',
        'KbdInteractiveAuthentication no',
        'PrintMotd no',
        `SetEnv HOME=${this.home}`,
        'LogLevel VERBOSE',
        '',
      ].join('\n'),
    );
    const words = [...wrapper, sshdProgram, '-D', '-e', '-f', join(this.folder, 'sshd_config')];
    const child = spawn(words[0] ?? '', words.slice(1), { stdio: ['ignore', 'ignore', 'pipe'] });
    this.child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.said += text));
    await until(() => {
      if (child.exitCode !== null) throw new Error(`sshd ended: ${this.said}`);
      return this.said.includes('Server listening');
    });
  }

  hostKey(kind: KeyKind): string {
    return join(this.folder, `host_${kind}`);
  }

  get userKey(): string {
    return join(this.folder, 'user_ed25519');
  }

  /** As a line of known_hosts. */
  knownLine(kind: KeyKind = 'ed25519', name = `[${this.address}]:${this.port}`): string {
    const [type, key] = readFileSync(`${this.hostKey(kind)}.pub`, 'utf8').split(' ');
    return `${name} ${type ?? ''} ${key ?? ''}\n`;
  }

  /** A block of ssh_config. */
  configBlock(name: string, more: readonly string[] = []): string {
    return [
      `Host ${name}`,
      `  HostName ${this.address}`,
      `  Port ${this.port}`,
      `  User ${userInfo().username}`,
      `  IdentityFile ${this.userKey}`,
      '  IdentityAgent none',
      ...more.map((line) => `  ${line}`),
      '',
    ].join('\n');
  }

  /** The processes of connections that have been made to it. */
  sessions(): number[] {
    const own = this.child?.pid;
    return readdirSync('/proc').flatMap((name) => {
      const pid = Number(name);
      if (!Number.isInteger(pid) || own === undefined) return [];
      return isBelow(pid, own) && /sshd/.test(commandOf(pid)) ? [pid] : [];
    });
  }

  signalSessions(signal: NodeJS.Signals): void {
    for (const pid of this.sessions()) {
      try {
        process.kill(pid, signal);
      } catch {
        // It ended by itself.
      }
    }
  }

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    this.signalSessions('SIGCONT');
    this.signalSessions('SIGKILL');
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await gone;
    this.said = '';
  }

  /** The runner that serves this host's home. */
  runnerPids(): number[] {
    return readdirSync('/proc').flatMap((name) => {
      const command = commandOf(Number(name));
      return command.includes(' serve ') && command.includes(this.home) ? [Number(name)] : [];
    });
  }

  /** Ends the runner that serves this host's home, as its machine's end would. */
  killRunner(signal: NodeJS.Signals = 'SIGKILL'): number {
    const pids = this.runnerPids();
    for (const pid of pids) process.kill(pid, signal);
    return pids.length;
  }
}

/** Ends sshd, its sessions and the runner over there, and removes the folder. */
export async function removeHost(host: SshHost): Promise<void> {
  await host.stop();
  host.killRunner('SIGKILL');
  rmSync(host.folder, { recursive: true, force: true, maxRetries: 5 });
}

export async function makeKey(path: string, kind: KeyKind, passphrase = ''): Promise<string> {
  try {
    readFileSync(path);
  } catch {
    const size = kind === 'rsa' ? ['-b', '2048'] : [];
    await run('ssh-keygen', ['-q', '-t', kind, ...size, '-N', passphrase, '-C', '', '-f', path]);
  }
  return path;
}

function isBelow(pid: number, ancestor: number): boolean {
  for (let at = parentOf(pid); at > 1; at = parentOf(at)) if (at === ancestor) return true;
  return false;
}

function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s+([0-9]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
