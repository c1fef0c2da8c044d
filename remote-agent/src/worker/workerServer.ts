import { constants } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
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
import { readFirstLine } from './firstLine.ts';
import { folderNameOf, parseIdentity, type Identity } from './identity.ts';
import { claimedSigner, createLeaf, leafFault } from './leaf.ts';
import { Turns } from './turns.ts';
import type { WorkerFiles } from './workerFiles.ts';

export interface WorkerServerOptions {
  readonly files: WorkerFiles;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Connections that each identity may make in a minute, and strangers all together. */
  readonly perMinute: { readonly member: number; readonly strangers: number };
  /** Connects to the runner that serves a folder, starting it where it does not run. */
  readonly connectRunner: (home: string) => Promise<Socket>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** For the handshake, and for the first line of who enrols. */
  readonly patienceMs?: number;
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

const defaultPatienceMs = 10_000;
/** Certificates are for a day; the worker takes a new one twice in it. */
const renewMs = 12 * 60 * 60 * 1000;

/**
 * Serves a worker: TLS 1.3 with certificates both ways, each judged by who signed it and nothing else; no session is
 * ever resumed. Whoever is in the list, read anew at each handshake, gets a stream to a runner of their own.
 */
export async function serveWorker(options: WorkerServerOptions): Promise<WorkerServer> {
  const { files, now, perMinute, patienceMs = defaultPatienceMs } = options;
  const signer = files.signer();
  const members = new Turns(perMinute.member);
  const strangers = new Turns(perMinute.strangers);
  /** Every connection, also one in the middle of its handshake. */
  const sockets = new Set<Socket>();

  const memberOf = (socket: TLSSocket): { identity: Identity; name: string } => {
    const leaf = socket.getPeerX509Certificate();
    const claimed = leaf && claimedSigner(leaf);
    const member = files.members().find(({ identity }) => identity.fingerprint === claimed);
    if (!leaf || !member) {
      if (!strangers.take('', performance.now())) throw new Refused('too-often', 'strangers ask too often');
      throw new Refused('not-enrolled', claimed ?? 'no certificate');
    }
    const fault = leafFault(leaf, member.identity, now());
    if (fault !== undefined) throw new Refused('certificate', `${member.identity.fingerprint}: ${fault}`);
    if (!members.take(member.identity.fingerprint, performance.now()))
      throw new Refused('too-often', member.identity.fingerprint);
    return member;
  };

  const work = async (socket: TLSSocket): Promise<void> => {
    const { identity, name } = memberOf(socket);
    const { fingerprint } = identity;
    files.note({ event: 'connected', fingerprint, name, from: socket.remoteAddress ?? '' });
    const homes = join(files.path, 'identities');
    mkdirSync(homes, { recursive: true, mode: 0o700 });
    const runner = await options.connectRunner(join(homes, folderNameOf(fingerprint)));
    socket.write(`${workerReadyLine}\n`);
    await pipeline(socket, runner, socket).catch(() => undefined);
  };

  const enrol = async (socket: TLSSocket): Promise<void> => {
    if (!strangers.take('', performance.now())) throw new Refused('too-often', 'strangers ask too often');
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
    socket.end('enrolled\n');
  };

  const accept = async (socket: TLSSocket): Promise<void> => {
    socket.on('error', () => undefined);
    try {
      if (socket.isSessionReused()) throw new Refused('certificate', 'a resumed session');
      if (socket.alpnProtocol === workerProtocols.work) await work(socket);
      else if (socket.alpnProtocol === workerProtocols.enrol) await enrol(socket);
      else throw new Refused('internal', 'no application protocol');
    } catch (error) {
      const refusal =
        error instanceof Refused
          ? error.refusal
          : error instanceof UserError && error.code === 'unsafe-path'
            ? 'unsafe-files'
            : 'internal';
      note({
        event: 'refused',
        refusal,
        why: error instanceof Error ? error.message : '',
        from: socket.remoteAddress ?? '',
      });
      socket.end(`${refusedWord} ${refusal}\n`);
    }
  };

  /** A log that can't be written must not keep the worker from refusing. */
  const note = (entry: Record<string, string>) => {
    try {
      files.note(entry);
    } catch {
      // Said by the refusal itself.
    }
  };

  const leaf = await createLeaf(signer, now());
  const server: Server = createServer(
    {
      ...leaf,
      minVersion: 'TLSv1.3',
      maxVersion: 'TLSv1.3',
      requestCert: true,
      // Chains and names say nothing here; `memberOf` judges.
      rejectUnauthorized: false,
      ALPNProtocols: Object.values(workerProtocols),
      secureOptions: constants.SSL_OP_NO_TICKET,
      handshakeTimeout: patienceMs,
      noDelay: true,
      allowHalfOpen: true,
    },
    (socket) => void accept(socket),
  );
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const timer = setInterval(() => {
    void createLeaf(signer, now()).then((next) => server.setSecureContext(next));
  }, renewMs);
  timer.unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: options.host, port: options.port }, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : options.port,
    close: async () => {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
