import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import { createServer, type Server } from 'node:tls';
import { workerProtocols } from '../../../protocol/src/pinnedWorker.ts';
import { Admission } from './admission.ts';
import { nameOf, Newcomers } from './connections.ts';
import { createLeaf } from './leaf.ts';
import { Reception } from './reception.ts';
import type { WorkerFiles } from './workerFiles.ts';

export interface WorkerServerOptions {
  readonly files: WorkerFiles;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Connections that each identity may make in a minute, and all strangers from one origin (`originOf`). */
  readonly perMinute: { readonly member: number; readonly strangers: number };
  /** Connections at once: of one identity, and of strangers and in handshakes, from one origin and all together. */
  readonly atOnce?: { readonly member: number; readonly address: number; readonly unknown: number };
  /** Connects to the runner that serves a folder, starting it where it does not run. */
  readonly connectRunner: (home: string) => Promise<Socket>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** For the handshake, and for the first line of who enrols. */
  readonly patienceMs?: number;
  /** How long a certificate is used. */
  readonly renewMs?: number;
}

/** A worker that listens. */
export interface WorkerServer {
  readonly port: number;
  /** Ends the listening and every connection; runners and their jobs go on. */
  close(): Promise<void>;
}

const sealed = {
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
  secureOptions: constants.SSL_OP_NO_TICKET,
} as const;
const defaultPatienceMs = 10_000;
const defaultAtOnce = { member: 64, address: 32, unknown: 256 };
/** Without a word for so long, the system asks whether the other end is there. */
const keepaliveMs = 30_000;
/** Certificates are for a day; the worker takes a new one twice in it. */
const defaultRenewMs = 12 * 60 * 60 * 1000;
const flushMs = 60_000;

/**
 * Serves a worker: TLS 1.3 with certificates both ways, each judged by who signed it and nothing else; no session is
 * ever resumed. Whoever is in the list, read anew at each handshake, gets a stream to a runner of their own.
 */
export async function serveWorker(options: WorkerServerOptions): Promise<WorkerServer> {
  const { files, now, perMinute, patienceMs = defaultPatienceMs, atOnce = defaultAtOnce } = options;
  const signer = files.signer();
  const newcomers = new Newcomers(atOnce);
  const reception = new Reception({
    files,
    signer,
    admission: new Admission({ files, perMinute, atOnce: atOnce.member, now }),
    connectRunner: options.connectRunner,
    onMember: (socket) => newcomers.remove(nameOf(socket)),
    now,
    patienceMs,
  });

  const leaf = await createLeaf(signer, now());
  const server: Server = createServer(
    {
      ...sealed,
      ...leaf,
      requestCert: true,
      // Chains and names say nothing here; `Admission` judges.
      rejectUnauthorized: false,
      ALPNProtocols: Object.values(workerProtocols),
      handshakeTimeout: patienceMs,
      noDelay: true,
      allowHalfOpen: true,
    },
    (socket) => void reception.receive(socket),
  );
  const endConnections = holdConnections(server, newcomers, files);
  const renewal = setInterval(() => {
    void createLeaf(signer, now()).then(
      // A context is made of what it is given here alone.
      (next) => server.setSecureContext({ ...sealed, ...next }),
      // The one before is good until the next turn; after that nobody takes it, and no connection comes about.
      () => undefined,
    );
  }, options.renewMs ?? defaultRenewMs);
  renewal.unref();
  const flushing = setInterval(() => files.log.flush(performance.now()), flushMs);
  flushing.unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.host, port: options.port }, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : options.port,
    close: async () => {
      clearInterval(renewal);
      clearInterval(flushing);
      files.log.flush(Infinity);
      endConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Keeps every connection, also one in the middle of its handshake, within its bounds. Returns what ends them all. */
function holdConnections(server: Server, newcomers: Newcomers, { log }: WorkerFiles): () => void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket);
    if (!newcomers.add(socket)) {
      const from = socket.remoteAddress ?? '';
      const refused = { refusal: 'too-many', why: 'connections of nobody known', from } as const;
      log.refused(refused, undefined, performance.now());
      socket.destroy();
      return;
    }
    // A machine that went to sleep or changed its network says no goodbye, and its connections count for its identity.
    socket.setKeepAlive(true, keepaliveMs);
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      newcomers.remove(name);
    });
  });
  // Also after a handshake that took too long, which leaves the connection as it is.
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}
