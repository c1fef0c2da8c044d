import type { Duplex } from 'node:stream';
import { UserError } from '../../../../protocol/src/errors.ts';
import { streamOpenings } from '../../../../protocol/src/servedRunner.ts';
import type { OpenOptions, RunnerLink, RunnerTransport } from '../places/runnerTransport.ts';
import { createStdioTransport } from '../stdioTransport.ts';
import { giveBackPacket } from './giveBack.ts';
import { prepareProgram, type RemoteProgram } from './remoteProgram.ts';
import { createSentinel, readToSentinel } from './sentinel.ts';
import type { SshConnection } from './sshConnection.ts';
import type { SshSession, SshSessions } from './sshSessions.ts';

export interface SshTransportOptions {
  /** `ssh:lab`. */
  readonly place: string;
  /** The host of the person's SSH configuration. */
  readonly host: string;
  readonly sessions: Pick<SshSessions, 'open'>;
  /** The runner's file here. */
  readonly program: string;
  /** Below the home folder over there. */
  readonly folder?: string;
}

/** Below the person's home folder on another host. */
const remoteFolder = '.sallyport/runner';

/**
 * A served runner over SSH. Streams go straight to its Unix socket (`direct-streamlocal@openssh.com`): no program and no
 * start-up file is in between. Where the host does not allow that, `runner.cjs connect` joins them.
 */
export function createSshTransport(options: SshTransportOptions): RunnerTransport {
  return {
    place: options.place,
    open: (more) => openLink(options, more),
    dispose: () => Promise.resolve(),
  };
}

async function openLink(options: SshTransportOptions, more: OpenOptions): Promise<RunnerLink> {
  const { sessions, host, program, folder = remoteFolder } = options;
  const session = await sessions.open(host, more);
  try {
    const { connection } = session;
    const prepared = await prepareProgram({ connection, program, folder, onStep: more.onStep });
    const streams = new Streams(session, prepared);
    const control = await streams.open('control');
    void connection.closed.then(() => control.destroy());
    return {
      control: createStdioTransport(control, control),
      openBulk: () => streams.open('bulk'),
      letGo: giveBackPacket,
      close: () => session.close(),
    };
  } catch (error) {
    session.close();
    throw error;
  }
}

/** Streams to the runner's socket by the best way that this host gives. */
class Streams {
  readonly #session: SshSession;
  readonly #program: RemoteProgram;
  #isDirect = true;

  constructor(session: SshSession, program: RemoteProgram) {
    this.#session = session;
    this.#program = program;
  }

  async open(kind: 'control' | 'bulk'): Promise<Duplex> {
    const direct = await this.#openDirect(kind);
    if (direct) return direct;
    try {
      return await this.#join(this.#session.connection, kind);
    } catch (error) {
      if (kind === 'control' || !(error instanceof UserError) || error.code !== 'unreachable') throw error;
      // A host that gives one channel (MaxSessions 1) gives it to the messages; bytes get a connection of their own.
      const another = await this.#session.another();
      const stream = await this.#join(another, kind);
      stream.once('close', () => another.close());
      return stream;
    }
  }

  /** Undefined where the host does not let streams through to sockets. */
  async #openDirect(kind: 'control' | 'bulk'): Promise<Duplex | undefined> {
    if (!this.#isDirect) return undefined;
    try {
      const stream = await this.#session.connection.openSocket(this.#program.socket);
      stream.write(streamOpenings[kind]);
      return stream;
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'unreachable') throw error;
      this.#isDirect = false;
      return undefined;
    }
  }

  async #join(connection: SshConnection, kind: 'control' | 'bulk'): Promise<Duplex> {
    const sentinel = createSentinel();
    const started = await connection.exec(this.#program.joinCommand(kind, sentinel));
    await readToSentinel(started, sentinel);
    return started.stream;
  }
}
