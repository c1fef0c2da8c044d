import { constants } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import * as z from 'zod/mini';
import { UserError } from '../../../protocol/src/errors.ts';
import {
  enrolReadyLine,
  enrolRequest,
  refusedWord,
  workerLineBytes,
  workerProtocols,
  workerReadyLine,
  type WorkerRefusal,
} from '../../../protocol/src/pinnedWorker.ts';
import { readFirstLine } from '../files/firstLine.ts';
import { Counts, InOrder, nameOf, Newcomers, originOf } from './connections.ts';
import { parseIdentity } from './identity.ts';
import { claimedSigner, createLeaf, leafFault } from './leaf.ts';
import { Turns } from './turns.ts';
import type { Member, WorkerFiles } from './workerFiles.ts';

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

class Refused extends Error {
  readonly refusal: WorkerRefusal;
  constructor(refusal: WorkerRefusal, why: string) {
    super(why);
    this.refusal = refusal;
  }
}

const sealed = {
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
  secureOptions: constants.SSL_OP_NO_TICKET,
} as const;
const defaultPatienceMs = 10_000;
const defaultAtOnce = { member: 64, address: 32, unknown: 256 };
/** How long a refused one has for reading why. */
const farewellMs = 2_000;
/** Without a word for so long, the system asks whether the other end is there. */
const keepaliveMs = 30_000;
/** Certificates are for a day; the worker takes a new one twice in it. */
const defaultRenewMs = 12 * 60 * 60 * 1000;

/**
 * Serves a worker: TLS 1.3 with certificates both ways, each judged by who signed it and nothing else; no session is
 * ever resumed. Whoever is in the list, read anew at each handshake, gets a stream to a runner of their own.
 */
export async function serveWorker(options: WorkerServerOptions): Promise<WorkerServer> {
  const { files, now, perMinute, patienceMs = defaultPatienceMs, atOnce = defaultAtOnce } = options;
  const signer = files.signer();
  const members = new Turns(perMinute.member);
  const strangers = new Turns(perMinute.strangers);
  /** Every connection, also one in the middle of its handshake. */
  const sockets = new Set<Socket>();
  const newcomers = new Newcomers(atOnce);
  const open = new Counts();
  const starts = new InOrder();
  /** Who has shown which enrolled identity is theirs. */
  const proven = new WeakMap<Socket, string>();

  const takeStranger = ({ remoteAddress = '' }: TLSSocket) => {
    if (!strangers.take(originOf(remoteAddress), performance.now()))
      throw new Refused('too-often', 'strangers ask too often');
  };

  const memberOf = (socket: TLSSocket): Member => {
    const leaf = socket.getPeerX509Certificate();
    const claimed = leaf && claimedSigner(leaf);
    const member = files.members().find(({ identity }) => identity.fingerprint === claimed);
    if (!leaf || !member) {
      takeStranger(socket);
      throw new Refused('not-enrolled', claimed ?? 'no certificate');
    }
    const { fingerprint } = member.identity;
    const fault = leafFault(leaf, member.identity, now());
    if (fault !== undefined) {
      takeStranger(socket);
      throw new Refused('certificate', `${fingerprint}: ${fault}`);
    }
    proven.set(socket, fingerprint);
    if (!members.take(fingerprint, performance.now())) throw new Refused('too-often', fingerprint);
    if (open.of(fingerprint) >= atOnce.member) throw new Refused('too-many', fingerprint);
    return member;
  };

  const work = async (socket: TLSSocket): Promise<void> => {
    const member = memberOf(socket);
    const { fingerprint } = member.identity;
    newcomers.remove(nameOf(socket));
    open.add(fingerprint);
    try {
      files.log.connected(member, socket.remoteAddress ?? '', performance.now());
      const home = files.homeOf(fingerprint);
      mkdirSync(dirname(home), { recursive: true, mode: 0o700 });
      const runner = await starts.run(home, async () => {
        if (socket.destroyed) throw new Error('it closed the connection');
        return options.connectRunner(home);
      });
      socket.write(`${workerReadyLine}\n`);
      await pipeline(socket, runner, socket).catch(() => undefined);
    } finally {
      open.remove(fingerprint);
    }
  };

  const enrol = async (socket: TLSSocket): Promise<void> => {
    takeStranger(socket);
    socket.write(`${enrolReadyLine} ${signer.spki.toString('base64')}\n`);
    const line = await readFirstLine(socket, workerLineBytes, patienceMs);
    const parsed = z.safeParse(enrolRequest, parseJson(line));
    if (!parsed.success) throw new Refused('code', 'not a request to enrol');
    const identity = parseIdentity(Buffer.from(parsed.data.identity, 'base64'));
    const leaf = socket.getPeerX509Certificate();
    if (!identity || !leaf || leafFault(leaf, identity, now()) !== undefined)
      throw new Refused('certificate', 'who enrols does not hold the key');
    if (!files.redeem(parsed.data.secret, now())) throw new Refused('code', 'the code is not one that waits');
    files.add(identity, parsed.data.name);
    farewell(socket, 'enrolled');
  };

  const accept = async (socket: TLSSocket): Promise<void> => {
    socket.on('error', () => undefined);
    try {
      // No session is ever given out, and none of another worker is taken.
      if (socket.isSessionReused()) throw new Refused('certificate', 'a resumed session');
      if (socket.alpnProtocol === workerProtocols.work) await work(socket);
      else if (socket.alpnProtocol === workerProtocols.enrol) await enrol(socket);
      else {
        takeStranger(socket);
        throw new Refused('internal', 'no application protocol');
      }
    } catch (error) {
      const refusal =
        error instanceof Refused
          ? error.refusal
          : error instanceof UserError && error.code === 'unsafe-path'
            ? 'unsafe-files'
            : 'internal';
      const why = error instanceof Error ? error.message : '';
      const from = socket.remoteAddress ?? '';
      files.log.refused({ refusal, why, from }, proven.get(socket), performance.now());
      farewell(socket, `${refusedWord} ${refusal}`);
    }
  };

  const leaf = await createLeaf(signer, now());
  const server: Server = createServer(
    {
      ...sealed,
      ...leaf,
      requestCert: true,
      // Chains and names say nothing here; `memberOf` judges.
      rejectUnauthorized: false,
      ALPNProtocols: Object.values(workerProtocols),
      handshakeTimeout: patienceMs,
      noDelay: true,
      allowHalfOpen: true,
    },
    (socket) => void accept(socket),
  );
  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket);
    if (!newcomers.add(socket)) {
      const from = socket.remoteAddress ?? '';
      const refused = { refusal: 'too-many', why: 'connections of nobody known', from } as const;
      files.log.refused(refused, undefined, performance.now());
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
  const timer = setInterval(() => {
    void createLeaf(signer, now()).then(
      // A context is made of what it is given here alone.
      (next) => server.setSecureContext({ ...sealed, ...next }),
      // The one before is good until the next turn; after that nobody takes it, and no connection comes about.
      () => undefined,
    );
  }, options.renewMs ?? defaultRenewMs);
  timer.unref();
  const flushing = setInterval(() => files.log.flush(performance.now()), 60_000);
  flushing.unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.host, port: options.port }, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : options.port,
    close: async () => {
      clearInterval(timer);
      clearInterval(flushing);
      files.log.flush(Infinity);
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Says a last line, and closes when the other side has or had its time to read it. */
function farewell(socket: TLSSocket, line: string): void {
  socket.resume();
  socket.end(`${line}\n`);
  const timer = setTimeout(() => socket.destroy(), farewellMs);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
