import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { createBlobStore, type BlobStore } from '../../remote-agent/src/files/blobStore.ts';
import { UserError } from '../../protocol/src/errors.ts';
import { streamOpenings } from '../../protocol/src/servedRunner.ts';
import type {
  RunnerLink,
  RunnerTransport,
} from '../../language-server/src/runners/places/runnerTransport.ts';
import { createStdioTransport } from '../../language-server/src/runners/stdioTransport.ts';
import { runnerProgram } from './runnerClient.ts';
import { until } from './until.ts';

/** A served runner as a child of the test, in a folder that the test removes. */
export class ServedProcess {
  readonly home: string;
  readonly #parallel: number;
  child: ChildProcess | undefined;
  said = '';

  constructor(home: string, parallel = 2) {
    this.home = home;
    this.#parallel = parallel;
  }

  get socket(): string {
    return join(this.home, 'runner.sock');
  }

  async start(wrapper: readonly string[] = [], more: readonly string[] = []): Promise<void> {
    const words = [
      ...wrapper,
      process.execPath,
      runnerProgram(),
      'serve',
      '--home',
      this.home,
      '--parallel',
      String(this.#parallel),
      ...more,
    ];
    const child = spawn(words[0] ?? '', words.slice(1), { stdio: ['ignore', 'ignore', 'pipe'] });
    this.child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.said += text));
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`The runner ended: ${this.said}`);
      if (!existsSync(this.socket)) return false;
      return canConnect(this.socket);
    });
  }

  /** Ends the process and waits until it is gone. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await gone;
  }

  get store(): BlobStore {
    return createBlobStore(join(this.home, 'blobs'));
  }
}

export async function canConnect(path: string): Promise<boolean> {
  const socket = await connect(path).catch(() => undefined);
  socket?.destroy();
  return socket !== undefined;
}

function connect(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** A transport straight to the socket, whose connections a test can cut. */
export class SocketTransport implements RunnerTransport {
  readonly place = 'ssh:test';
  forgets = false;
  readonly #path: () => string;
  readonly sockets = new Set<Socket>();
  opens = 0;
  /** Told of every chunk that goes to the runner; a true cuts the connection before it is sent. */
  cutAt: ((socket: Socket, sentBytes: number) => boolean) | undefined;
  isDown = false;

  constructor(path: string | (() => string)) {
    this.#path = typeof path === 'string' ? () => path : path;
  }

  async open(): Promise<RunnerLink> {
    this.opens += 1;
    if (this.isDown) throw new UserError('unreachable', 'It is down');
    const control = await this.#connect(streamOpenings.control);
    return {
      control: createStdioTransport(control, control),
      openBulk: () => this.#connect(streamOpenings.bulk),
      close: () => void control.destroy(),
    };
  }

  /** Cuts every connection at once, as a lost network does. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async dispose(): Promise<void> {
    this.cut();
  }

  async #connect(opening: string): Promise<Socket> {
    let socket: Socket;
    try {
      socket = await connect(this.#path());
    } catch (error) {
      throw new UserError('unreachable', 'Nothing listens there', {}, { cause: error });
    }
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    socket.on('error', () => undefined);
    socket.write(opening);
    const { cutAt } = this;
    if (cutAt) {
      let sentBytes = 0;
      const write = socket.write.bind(socket);
      socket.write = (chunk: Uint8Array | string, ...rest: never[]) => {
        if (cutAt(socket, sentBytes)) {
          socket.destroy();
          return false;
        }
        sentBytes += chunk.length;
        return write(chunk, ...rest);
      };
    }
    return socket;
  }
}
