import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { createLeaf, type IdentitySigner } from '../../remote-agent/src/worker/leaf.ts';
import { parseIdentity } from '../../remote-agent/src/worker/identity.ts';
import { WorkerFiles } from '../../remote-agent/src/worker/workerFiles.ts';
import {
  serveWorker,
  type WorkerServer,
  type WorkerServerOptions,
} from '../../remote-agent/src/worker/workerServer.ts';
import { workerProtocols } from '../../protocol/src/pinnedWorker.ts';
import { openSocket } from './openSocket.ts';

/** A new identity whose key is in memory. */
export function newIdentity(): IdentitySigner {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    spki: publicKey.export({ format: 'der', type: 'spki' }),
    sign: (bytes) => sign(null, bytes, privateKey),
  };
}

/** A worker on loopback in front of runners that the test plays. */
export class WorkerRig {
  readonly files: WorkerFiles;
  readonly homes: string[] = [];
  readonly #folder: string;
  #echo: Server | undefined;
  readonly #streams = new Set<Socket>();
  server!: WorkerServer;
  now = () => Date.now();
  perMinute = { member: 600, strangers: 600 };
  atOnce: WorkerServerOptions['atOnce'];
  renewMs: number | undefined;
  /** Long, since a busy machine is late with a handshake; short where a test is about who says nothing. */
  patienceMs = 60_000;

  constructor(folder: string) {
    this.#folder = folder;
    this.files = new WorkerFiles(join(folder, 'worker'), process.getuid?.() ?? -1);
  }

  async start(connectRunner?: (home: string) => Promise<Socket>): Promise<void> {
    const path = join(this.#folder, 'echo.sock');
    // What a stream to a runner begins with comes back, so that a test sees who reached one.
    this.#echo = createServer((socket) => {
      this.#streams.add(socket);
      socket.on('error', () => undefined).pipe(socket);
    });
    await new Promise<void>((resolve) => this.#echo?.listen(path, resolve));
    this.server = await serveWorker({
      files: this.files,
      host: '127.0.0.1',
      port: 0,
      perMinute: this.perMinute,
      connectRunner: (home) => {
        this.homes.push(home);
        return connectRunner ? connectRunner(home) : openSocket(path);
      },
      now: () => this.now(),
      patienceMs: this.patienceMs,
      ...(this.atOnce && { atOnce: this.atOnce }),
      ...(this.renewMs !== undefined && { renewMs: this.renewMs }),
    });
  }

  async stop(): Promise<void> {
    await this.server.close();
    for (const socket of this.#streams) socket.destroy();
    await new Promise((resolve) => this.#echo?.close(resolve));
  }

  /** Lets an identity in, as enrolling does. */
  admit(signer: IdentitySigner, name = 'someone'): void {
    const identity = parseIdentity(signer.spki);
    if (!identity) throw new Error('no identity');
    this.files.add(identity, name);
  }

  get pinned() {
    return {
      host: '127.0.0.1',
      port: this.server.port,
      identity: this.files.signer().spki.toString('base64'),
    };
  }

  /** A client of no manners: its first line, or undefined where the connection ended before one. */
  async firstLine(
    signer: IdentitySigner | undefined,
    more: ConnectionOptions = {},
  ): Promise<string | undefined> {
    const leaf = signer ? await createLeaf(signer, this.now()) : {};
    return firstLineOf({
      host: '127.0.0.1',
      port: this.server.port,
      ...leaf,
      rejectUnauthorized: false,
      ALPNProtocols: [workerProtocols.work],
      ...more,
    });
  }
}

export function firstLineOf(options: ConnectionOptions): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket: TLSSocket = connect(options);
    let text = '';
    const done = (line: string | undefined) => {
      socket.destroy();
      resolve(line);
    };
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) done(text.split('\n')[0]);
    });
    socket.once('error', () => done(undefined)).once('close', () => done(undefined));
  });
}

/** A rig for each test, in its folder, that has let `me` in and serves; stopped afterwards. */
export function useWorkerRig(folder: () => string, me: IdentitySigner): () => WorkerRig {
  let rig: WorkerRig | undefined;
  beforeEach(async () => {
    rig = new WorkerRig(folder());
    rig.admit(me);
    await rig.start();
  });
  afterEach(() => rig?.stop());
  return () => {
    if (!rig) throw new Error('The rig is there within a test');
    return rig;
  };
}
