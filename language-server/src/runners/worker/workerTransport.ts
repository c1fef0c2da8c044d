import { connect, type TLSSocket } from 'node:tls';
import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import {
  enrolReadyLine,
  refusedWord,
  workerLineBytes,
  workerProtocols,
  workerReadyLine,
  workerRefusals,
  type EnrolRequest,
  type WorkerRefusal,
} from '../../../../protocol/src/pinnedWorker.ts';
import { streamOpenings } from '../../../../protocol/src/servedRunner.ts';
import { readFirstLine } from '../../../../remote-agent/src/files/firstLine.ts';
import { fingerprintOf, parseIdentity } from '../../../../remote-agent/src/worker/identity.ts';
import type { Invitation } from '../../../../remote-agent/src/worker/invitation.ts';
import {
  claimedSigner,
  createLeaf,
  leafFault,
  type IdentitySigner,
  type Leaf,
} from '../../../../remote-agent/src/worker/leaf.ts';
import type { OpenOptions, RunnerLink, RunnerTransport } from '../places/runnerTransport.ts';
import { createStdioTransport } from '../stdioTransport.ts';

export interface PinnedWorker {
  readonly host: string;
  readonly port: number;
  /** The identity's SubjectPublicKeyInfo, DER, base64. */
  readonly identity: string;
}

export interface WorkerTransportOptions {
  /** `worker:NAME`. */
  readonly place: string;
  readonly worker: PinnedWorker;
  readonly signer: IdentitySigner;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** How long a connection may take to be there. */
  readonly connectMs?: number;
}

/** The way to a worker's runner: every stream is a TLS connection of its own, each judged anew. */
export function createWorkerTransport({
  place,
  worker,
  signer,
  now,
  connectMs = defaultConnectMs,
}: WorkerTransportOptions): RunnerTransport {
  const leaves = new Leaves(signer, now);
  const openStream = async (kind: 'control' | 'bulk', signal: AbortSignal) => {
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(connectMs)]);
    const socket = await connectTls(worker, workerProtocols.work, await leaves.current(), inTime);
    try {
      assertPinned(socket, worker, now);
      await expectLine(socket, workerReadyLine, place);
    } catch (error) {
      socket.destroy();
      throw error;
    }
    socket.write(streamOpenings[kind]);
    return socket;
  };
  return {
    place,
    async open({ signal, onStep }: OpenOptions): Promise<RunnerLink> {
      onStep('Connecting to the worker');
      const control = await openStream('control', signal);
      const lost = new AbortController();
      // Each stream is a connection of its own: none of them outlives the one that says whether the link is there.
      control.once('close', () => lost.abort());
      return {
        control: createStdioTransport(control, control),
        openBulk: async () => {
          const bulk = await openStream('bulk', lost.signal);
          if (lost.signal.aborted) bulk.destroy();
          else endWith(lost.signal, bulk);
          return bulk;
        },
        close: () => control.destroy(),
      };
    },
    dispose: () => Promise.resolve(),
  };
}

/**
 * Enrols with a one-time code and returns the worker as it is known from then on. The code is sent only to who has
 * proved to hold the identity that the invitation names. Throws `host-key`, `sign-in`, `unreachable`.
 */
export async function enrolAtWorker(
  { host, port, fingerprint, secret }: Invitation,
  name: string,
  signer: IdentitySigner,
  now: () => number,
): Promise<PinnedWorker> {
  const leaf = await createLeaf(signer, now());
  const socket = await connectTls(
    { host, port },
    workerProtocols.enrol,
    leaf,
    AbortSignal.timeout(defaultConnectMs),
  );
  try {
    const spki = Buffer.from(await afterWord(socket, enrolReadyLine, host), 'base64');
    if (fingerprintOf(spki) !== fingerprint)
      throw otherWorker(host, port, `it is ${fingerprintOf(spki)}, the invitation names ${fingerprint}`);
    const worker = { host, port, identity: spki.toString('base64') };
    assertPinned(socket, worker, now);
    const request: EnrolRequest = { secret, identity: signer.spki.toString('base64'), name };
    socket.write(`${JSON.stringify(request)}\n`);
    await expectLine(socket, 'enrolled', host);
    return worker;
  } finally {
    socket.destroy();
  }
}

function endWith(signal: AbortSignal, stream: TLSSocket): void {
  const end = () => stream.destroy();
  signal.addEventListener('abort', end, { once: true });
  stream.once('close', () => signal.removeEventListener('abort', end));
}

const defaultConnectMs = 15_000;
const lineMs = 30_000;

/** The client's certificate, made anew before the one before has run out. */
class Leaves {
  readonly #signer: IdentitySigner;
  readonly #now: () => number;
  #leaf: Promise<Leaf> | undefined;
  #until = 0;

  constructor(signer: IdentitySigner, now: () => number) {
    this.#signer = signer;
    this.#now = now;
  }

  async current(): Promise<Leaf> {
    if (!this.#leaf || this.#now() > this.#until) {
      this.#leaf = createLeaf(this.#signer, this.#now());
      this.#until = this.#now() + halfDayMs;
      this.#leaf.catch(() => (this.#leaf = undefined));
    }
    return this.#leaf;
  }
}

const halfDayMs = 12 * 60 * 60 * 1000;

/** A TLS 1.3 connection for one application protocol, resumed from nothing. Who is there is not judged yet. */
async function connectTls(
  { host, port }: { readonly host: string; readonly port: number },
  protocol: string,
  leaf: Leaf,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const socket = connect({
    host,
    port,
    key: leaf.key,
    cert: leaf.cert,
    minVersion: 'TLSv1.3',
    maxVersion: 'TLSv1.3',
    ALPNProtocols: [protocol],
    // The name and the chain say nothing; `assertPinned` judges.
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
  });
  socket.on('error', () => undefined);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 30_000);
  const where = `${host}:${port}`;
  try {
    await new Promise<void>((resolve, reject) => {
      const give = () =>
        reject(new UserError('unreachable', `The worker at ${where} did not answer in time`));
      if (signal.aborted) give();
      signal.addEventListener('abort', give, { once: true });
      socket.once('secureConnect', () => {
        signal.removeEventListener('abort', give);
        resolve();
      });
      socket.once('error', (cause: Error) => reject(unreached(where, cause)));
    });
    if (socket.isSessionReused()) throw otherWorker(host, port, 'it resumed a session');
    if (socket.getProtocol() !== 'TLSv1.3' || socket.alpnProtocol !== protocol)
      throw otherWorker(host, port, 'it speaks another protocol');
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** In words what kept a connection from being made; OpenSSL's own are for nobody. */
function unreached(where: string, cause: Error): UserError {
  const { code = '' } = cause as { code?: string };
  const known: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'nothing listens there',
    ENOTFOUND: 'there is no host of that name',
    EAI_AGAIN: 'there is no host of that name, or no network',
    ENETUNREACH: 'no network leads there',
    EHOSTUNREACH: 'no network leads there',
    ECONNRESET: 'it ended the connection',
  };
  const isOther = code === 'EPROTO' || code.startsWith('ERR_SSL');
  const why = isOther ? 'what answers there is no worker of this version' : (known[code] ?? cause.message);
  return new UserError(
    'unreachable',
    `The worker at ${where} can’t be reached: ${why}`,
    { remedy: 'Ask who keeps the worker whether it runs, and at which address: sallyport worker serve.' },
    { cause },
  );
}

/** Throws `host-key` unless the other end holds the worker's identity. Nothing was sent to it that says anything. */
function assertPinned(socket: TLSSocket, { host, port, identity }: PinnedWorker, now: () => number): void {
  const leaf = socket.getPeerX509Certificate();
  if (!leaf) throw otherWorker(host, port, 'it shows no certificate');
  const known = parseIdentity(Buffer.from(identity, 'base64'));
  if (!known) throw otherWorker(host, port, 'the identity that is kept of it is none');
  const fault = leafFault(leaf, known, now());
  if (fault === undefined) return;
  const claimed = claimedSigner(leaf) ?? 'nobody';
  throw otherWorker(host, port, `${fault} (it says it is ${claimed}; known is ${known.fingerprint})`);
}

function otherWorker(host: string, port: number, why: string): UserError {
  return new UserError(
    'host-key',
    `What answers at ${host}:${port} is not the worker that is known: ${why}`,
    {
      remedy: 'Ask who keeps the worker for its identity: sallyport worker identity.',
    },
  );
}

/** What stands after a word and a space in the worker's first line. */
async function afterWord(socket: TLSSocket, word: string, place: string): Promise<string> {
  const line = await nextLine(socket, place);
  if (line.startsWith(`${word} `)) return line.slice(word.length + 1);
  throw refusalIn(line, place);
}

async function expectLine(socket: TLSSocket, expected: string, place: string): Promise<void> {
  const line = await nextLine(socket, place);
  if (line !== expected) throw refusalIn(line, place);
}

async function nextLine(socket: TLSSocket, place: string): Promise<string> {
  try {
    return await readFirstLine(socket, workerLineBytes, lineMs);
  } catch (error) {
    throw new UserError('unreachable', `${place} ended the connection: ${errorMessage(error)}`);
  }
}

function refusalIn(line: string, place: string): UserError {
  const refusal = workerRefusals.find((each) => line === `${refusedWord} ${each}`);
  if (refusal) return refusedBy(place, refusal);
  return new UserError('incompatible', `${place} does not speak as a worker of this version does`);
}

function refusedBy(place: string, refusal: WorkerRefusal): UserError {
  switch (refusal) {
    case 'not-enrolled':
      return new UserError('sign-in', `${place} does not know this computer`, {
        remedy: 'Ask who keeps the worker for an invitation: sallyport worker invite.',
      });
    case 'certificate':
      return new UserError('sign-in', `${place} refuses this computer’s certificate`, {
        remedy: 'Compare the clocks of both machines.',
      });
    case 'code':
      return new UserError('sign-in', 'The invitation was used, has run out, or is another worker’s', {
        remedy: 'Ask for a new one: it is good once, for an hour.',
      });
    case 'too-often':
      return new UserError('unreachable', `${place} has had too many connections in a minute`);
    case 'too-many':
      return new UserError('unreachable', `${place} has as many connections of this computer as it takes`);
    case 'unsafe-files':
      return new UserError('sign-in', `${place} lets nobody in: its list of identities is open to others`, {
        remedy: 'Who keeps the worker runs chmod 600 on its authorized_keys.',
      });
    case 'internal':
      return new UserError('unreachable', `${place} could not start a runner; its audit.log says why`);
  }
}
