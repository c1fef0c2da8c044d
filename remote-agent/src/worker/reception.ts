import { mkdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import * as z from 'zod/mini';
import {
  enrolReadyLine,
  enrolRequest,
  refusedWord,
  workerLineBytes,
  workerProtocols,
  workerReadyLine,
} from '../../../protocol/src/pinnedWorker.ts';
import { readFirstLine } from '../files/firstLine.ts';
import { Refused, refusalOf, type Admission } from './admission.ts';
import { InOrder } from './connections.ts';
import { parseIdentity } from './identity.ts';
import { leafFault } from './leaf.ts';
import type { WorkerFiles } from './workerFiles.ts';

export interface ReceptionOptions {
  readonly files: WorkerFiles;
  readonly signer: ReturnType<WorkerFiles['signer']>;
  readonly admission: Admission;
  /** Connects to the runner that serves a folder, starting it where it does not run. */
  readonly connectRunner: (home: string) => Promise<Socket>;
  /** Called once a connection has shown to be a member's. */
  readonly onMember: (socket: TLSSocket) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** For the first line of who enrols. */
  readonly patienceMs: number;
}

/** How long a refused one has for reading why. */
const farewellMs = 2_000;

/** What becomes of a connection whose handshake is done: a stream to a runner, an enrolment, or a refusal. */
export class Reception {
  readonly #options: ReceptionOptions;
  readonly #starts = new InOrder();

  constructor(options: ReceptionOptions) {
    this.#options = options;
  }

  /** Never rejects: what goes wrong is told to the other end in a word, and to the log in full. */
  async receive(socket: TLSSocket): Promise<void> {
    const { admission, files } = this.#options;
    socket.on('error', () => undefined);
    try {
      // No session is ever given out, and none of another worker is taken.
      if (socket.isSessionReused()) throw new Refused('certificate', 'a resumed session');
      if (socket.alpnProtocol === workerProtocols.work) await this.#work(socket);
      else if (socket.alpnProtocol === workerProtocols.enrol) await this.#enrol(socket);
      else {
        admission.takeStranger(socket);
        throw new Refused('internal', 'no application protocol');
      }
    } catch (error) {
      const refusal = refusalOf(error);
      const why = error instanceof Error ? error.message : '';
      const from = socket.remoteAddress ?? '';
      files.log.refused({ refusal, why, from }, admission.provenBy(socket), performance.now());
      farewell(socket, `${refusedWord} ${refusal}`);
    }
  }

  async #work(socket: TLSSocket): Promise<void> {
    const { admission, files, connectRunner, onMember } = this.#options;
    const member = admission.memberOf(socket);
    onMember(socket);
    const leave = admission.enter(member);
    try {
      files.log.connected(member, socket.remoteAddress ?? '', performance.now());
      const home = files.homeOf(member.identity.fingerprint);
      mkdirSync(dirname(home), { recursive: true, mode: 0o700 });
      const runner = await this.#starts.run(home, async () => {
        if (socket.destroyed) throw new Error('it closed the connection');
        return connectRunner(home);
      });
      socket.write(`${workerReadyLine}\n`);
      await pipeline(socket, runner, socket).catch(() => undefined);
    } finally {
      leave();
    }
  }

  async #enrol(socket: TLSSocket): Promise<void> {
    const { admission, files, signer, now, patienceMs } = this.#options;
    admission.takeStranger(socket);
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
  }
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
