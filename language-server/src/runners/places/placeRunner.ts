import type { Duplex } from 'node:stream';
import type { HeldJob, PlaceView } from '../../../../protocol/src/places.ts';
import type { IsolationReport, JobAccess } from '../../../../protocol/src/runner.ts';
import type { CardRunner } from '../cardRunner.ts';
import type { RunnerInfo } from '../local.ts';

/** What a place says of itself, with how many jobs it runs at once. */
export interface PlaceInfo extends RunnerInfo {
  readonly parallel: number;
  /** As in `runner/greet`: no `vaultKey` is known there before a job has started. */
  readonly asksValues?: boolean;
}

export interface ReadyOptions {
  /** False where nobody may be asked anything: then what needs an answer is refused. Default true. */
  readonly mayAsk?: boolean;
  /** The project that asks: a place may have a runner for each (CardJob.project). */
  readonly project?: string;
  /** What is opened for the card that asks: a place may have a runner for each, with a vault key of its own. */
  readonly access?: JobAccess;
  readonly signal?: AbortSignal;
}

/** What is shown of a place while it is looked for without anybody having asked for it. */
export interface Search {
  /** While it is connected to. */
  readonly looking: string;
  /** What comes after why it could not be reached. */
  readonly notReached: string;
}

/** The SSH server of a place, ready for one connection of the holder of the key that it was asked for. */
export interface TerminalWay {
  /** The one host key that it may show: the public key's 32 bytes (Ed25519), base64. */
  readonly hostKey: string;
  /** The place is in use until this is closed. */
  readonly stream: Duplex;
}

/** A place that cards can be sent to. The registry holds one for each id in use. */
export interface PlaceRunner extends CardRunner {
  readonly id: string;
  /** Connects where it is not connected. Throws a `UserError` in words that say what to do. */
  ready(options?: ReadyOptions): Promise<PlaceInfo>;
  /** Probes the isolation over there anew. */
  probe(): Promise<IsolationReport>;
  /** How things stand now; connects nowhere. */
  view(): PlaceView;
  /** The jobs of this engine's home that the place still keeps. */
  held(): Promise<HeldJob[]>;
  /** Ends and forgets jobs over there; returns how many there were. */
  release(jobIds: readonly string[] | undefined): Promise<number>;
  /**
   * Readies a terminal for the holder of an Ed25519 key (32 bytes, base64); one at a time. Connects where it is not
   * connected. Throws `not-found` where the place has none. Absent for places that never have one.
   */
  openTerminal?(clientKey: string, options?: ReadyOptions): Promise<TerminalWay>;
  /**
   * Connects without asking anybody anything, so that what the place holds of this home is taken up. Throws as `ready`
   * does; what only a person can do is then said of the place. Absent for places that end with their engine.
   */
  find?(search: Search): Promise<void>;
  /** Says something of a place that is not connected to. */
  say?(detail: string, remedy: string): void;
  /** Closes the connection; jobs over there go on until their lease ends. */
  disconnect(): void;
}
