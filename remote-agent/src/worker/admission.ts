import type { TLSSocket } from 'node:tls';
import { UserError } from '../../../protocol/src/errors.ts';
import type { WorkerRefusal } from '../../../protocol/src/pinnedWorker.ts';
import { Counts, originOf } from './connections.ts';
import { claimedSigner, leafFault } from './leaf.ts';
import { Turns } from './turns.ts';
import type { Member, WorkerFiles } from './workerFiles.ts';

export interface AdmissionOptions {
  readonly files: Pick<WorkerFiles, 'members'>;
  /** Connections that each identity may make in a minute, and all strangers from one origin (`originOf`). */
  readonly perMinute: { readonly member: number; readonly strangers: number };
  /** Connections of one identity at once. */
  readonly atOnce: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Why a connection is not served; `message` is for the worker's own log. */
export class Refused extends Error {
  readonly refusal: WorkerRefusal;
  constructor(refusal: WorkerRefusal, why: string) {
    super(why);
    this.refusal = refusal;
  }
}

/** What a refused one is told. */
export function refusalOf(error: unknown): WorkerRefusal {
  if (error instanceof Refused) return error.refusal;
  return error instanceof UserError && error.code === 'unsafe-path' ? 'unsafe-files' : 'internal';
}

/** Judges who may come in: the list is read anew each time, a certificate counts by who signed it and nothing else. */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #members: Turns;
  readonly #strangers: Turns;
  readonly #inside = new Counts();
  readonly #proven = new WeakMap<TLSSocket, string>();

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#members = new Turns(options.perMinute.member);
    this.#strangers = new Turns(options.perMinute.strangers);
  }

  /** Whose the other end is. Throws `Refused`. */
  memberOf(socket: TLSSocket): Member {
    const leaf = socket.getPeerX509Certificate();
    const claimed = leaf && claimedSigner(leaf);
    const member = this.#options.files.members().find(({ identity }) => identity.fingerprint === claimed);
    if (!leaf || !member) {
      this.takeStranger(socket);
      throw new Refused('not-enrolled', claimed ?? 'no certificate');
    }
    const { fingerprint } = member.identity;
    const fault = leafFault(leaf, member.identity, this.#options.now());
    if (fault !== undefined) {
      this.takeStranger(socket);
      throw new Refused('certificate', `${fingerprint}: ${fault}`);
    }
    this.#proven.set(socket, fingerprint);
    if (!this.#members.take(fingerprint, performance.now())) throw new Refused('too-often', fingerprint);
    if (this.#inside.of(fingerprint) >= this.#options.atOnce) throw new Refused('too-many', fingerprint);
    return member;
  }

  /** Counts a connection of a member for as long as it lasts: returns what ends that. */
  enter({ identity: { fingerprint } }: Member): () => void {
    this.#inside.add(fingerprint);
    return () => this.#inside.remove(fingerprint);
  }

  /** Takes one of the turns of the nobodies who come from there. Throws `Refused`. */
  takeStranger({ remoteAddress = '' }: TLSSocket): void {
    if (!this.#strangers.take(originOf(remoteAddress), performance.now()))
      throw new Refused('too-often', 'strangers ask too often');
  }

  /** The fingerprint that the other end has shown to be its own, of somebody in the list. */
  provenBy(socket: TLSSocket): string | undefined {
    return this.#proven.get(socket);
  }
}
