import type { Duplex } from 'node:stream';
import type { Transport } from '../../../../protocol/src/channel.ts';

/**
 * A way to a served runner (protocol/src/servedRunner.ts): what each kind of place brings, and all that it brings.
 * Everything above it (blobs, jobs, journal, reconnecting) is `createRemoteRunner`'s.
 */
export interface RunnerTransport {
  /** The place's id: `ssh:lab`. */
  readonly place: string;
  /** True where another instance of the runner knows nothing of what the one before has accepted. */
  readonly forgets?: boolean;
  /**
   * Makes a connection to the runner, starting it over there where it is not running. Rejects with a `UserError` in
   * words that say what to do: `unreachable` where trying again may help, any other code where only a person can.
   * Asks a person nothing where `mayAsk` is false: what would need an answer is refused then.
   */
  open(options: OpenOptions): Promise<RunnerLink>;
  /** Lets go of what outlives a link: an agent's socket, a VM. Links are closed before. */
  dispose(): Promise<void>;
}

export interface OpenOptions {
  readonly signal: AbortSignal;
  readonly mayAsk: boolean;
  /** What is being done now, for a person who waits: “Copying the runner”. */
  readonly onStep: (step: string) => void;
}

/** One connection. When `control` closes, the link is lost and everything opened on it ends. */
export interface RunnerLink {
  /** Framed messages; the stream's opening was sent already. */
  readonly control: Transport;
  /** A byte stream in the bulk framing, its opening sent already. The caller ends or destroys it. */
  openBulk(): Promise<Duplex>;
  /**
   * Frees the memory of a piece that a bulk stream gave, once nobody needs it. Absent where pieces may be somebody
   * else’s too.
   */
  readonly letGo?: (piece: Uint8Array) => void;
  /** A byte stream to the SSH server that was offered before (`terminal/offer`); one at a time. Absent where there is none. */
  openTerminal?(): Promise<Duplex>;
  /** Safe to call twice. Jobs over there go on. */
  close(): void;
}
