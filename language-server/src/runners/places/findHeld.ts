import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import { parsePlace } from '../../../../protocol/src/places.ts';
import type { PlaceRunner } from './placeRunner.ts';

/** A place that holds cards of the open projects, by what this home remembers. */
export interface HeldThere {
  readonly place: string;
  readonly cards: number;
  /** True where for one of them, at least, the place is still accepted. */
  readonly isAccepted: boolean;
}

export interface FindHeldOptions {
  /** Nothing where the workspace is not trusted. Read anew before each look. */
  readonly held: () => readonly HeldThere[];
  readonly get: (place: string) => PlaceRunner;
  readonly setTimer: (run: () => void, ms: number) => () => void;
  /** Calls `changed` when an engine of this home comes or goes in order. Undefined where that can't be watched yet. */
  readonly watchEngines: (changed: () => void) => (() => void) | undefined;
  /** True where another engine of this home lives. */
  readonly hasOthers: () => boolean;
  readonly onProblem: (problem: string) => void;
  readonly times?: FindTimes;
}

export interface FindTimes {
  /** From when looking is asked for until it begins: a window that starts has other things to do. */
  readonly startMs: number;
  /** Between one look at a place and the next; with the last, looking ends. */
  readonly waitsMs: readonly number[];
  /**
   * Between one look at this home's own records and the next, as long as another engine lives: one that is killed says
   * nothing.
   */
  readonly othersMs: number;
}

const minute = 60_000;
export const findTimes: FindTimes = {
  startMs: 1500,
  waitsMs: [5_000, 15_000, 45_000, 2 * minute, 5 * minute, 10 * minute, 10 * minute],
  othersMs: minute,
};

/**
 * Finds again what an earlier engine has left in other places: connects by itself, in the background and without a
 * question, to each that holds cards of the open projects, so that they are taken up. A place that is not reached is
 * looked for again a few times, ever less often. One that needs an answer, or that is not accepted any more, says so
 * and waits for a person. What another engine leaves later is seen in the records of this home when that engine ends;
 * no place is asked without something new in them.
 */
export class FindHeld {
  readonly #options: FindHeldOptions;
  readonly #times: FindTimes;
  /** What ends the wait of each place that is looked for. */
  readonly #looking = new Map<string, () => void>();
  /** Those that wait for a person. */
  readonly #settled = new Set<string>();
  /** How many cards each place still held, by the records, after it had been asked. */
  readonly #asked = new Map<string, number>();
  #hasLooked = false;
  #stopStart: (() => void) | undefined;
  #stopWatching: (() => void) | undefined;
  #stopOthers: (() => void) | undefined;
  #isDisposed = false;

  constructor(options: FindHeldOptions) {
    this.#options = options;
    this.#times = options.times ?? findTimes;
  }

  /** Looks a moment from now. Safe to call at any time and often. */
  schedule(): void {
    this.#settled.clear();
    this.#asked.clear();
    this.#hasLooked = true;
    this.#start();
  }

  /**
   * The same, where it was looked before: for what another engine has looked after and left meanwhile. Places that wait
   * for a person, and those that were asked and hold nothing more since, are left alone.
   */
  again(): void {
    if (this.#hasLooked) this.#start();
  }

  #start(): void {
    if (this.#isDisposed) return;
    this.#stopStart ??= this.#options.setTimer(() => {
      this.#stopStart = undefined;
      this.#look();
    }, this.#times.startMs);
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const stop of [this.#stopStart, this.#stopWatching, this.#stopOthers]) stop?.();
    for (const stop of this.#looking.values()) stop();
    this.#looking.clear();
  }

  #look(): void {
    for (const each of this.#held()) {
      if (this.#looking.has(each.place) || this.#settled.has(each.place)) continue;
      if (each.cards <= (this.#asked.get(each.place) ?? 0)) continue;
      if (each.isAccepted) void this.#find(each, 0);
      else this.#sayWithdrawn(each);
    }
    this.#awaitOthers();
  }

  /** Looks again when another engine comes or goes, in whatever way. */
  #awaitOthers(): void {
    if (this.#isDisposed) return;
    this.#stopWatching ??= this.#options.watchEngines(() => this.again());
    if (!this.#hasOthers()) return;
    this.#stopOthers ??= this.#options.setTimer(() => {
      this.#stopOthers = undefined;
      this.#look();
    }, this.#times.othersMs);
  }

  #hasOthers(): boolean {
    try {
      return this.#options.hasOthers();
    } catch (error) {
      this.#options.onProblem(errorMessage(error));
      return false;
    }
  }

  /** One look, and what it leads to. Never rejects. */
  async #find({ place, cards }: HeldThere, round: number): Promise<void> {
    this.#looking.set(place, () => undefined);
    const waitMs = this.#times.waitsMs[round];
    const search = { looking: lookingText(place, cards), notReached: notReachedText(cards, waitMs) };
    try {
      await this.#options.get(place).find?.(search);
      this.#looking.delete(place);
      this.#asked.set(place, this.#held().find((each) => each.place === place)?.cards ?? 0);
    } catch (error) {
      this.#looking.delete(place);
      if (this.#isDisposed) return;
      if (waitMs === undefined || !isWorthATry(error)) {
        this.#settled.add(place);
        return;
      }
      const stop = this.#options.setTimer(() => {
        this.#looking.delete(place);
        const now = this.#held().find((each) => each.place === place);
        if (now?.isAccepted) void this.#find(now, round + 1);
        else if (now) this.#sayWithdrawn(now);
      }, waitMs);
      this.#looking.set(place, stop);
    }
  }

  #held(): readonly HeldThere[] {
    if (this.#isDisposed) return [];
    try {
      // What is in a VM ends with it, and it is started for a card alone.
      return this.#options.held().filter(({ place }) => {
        const kind = parsePlace(place)?.kind;
        return kind !== undefined && kind !== 'local' && kind !== 'vm';
      });
    } catch (error) {
      this.#options.onProblem(`What other places hold can’t be looked for: ${errorMessage(error)}`);
      return [];
    }
  }

  #sayWithdrawn({ place, cards }: HeldThere): void {
    this.#settled.add(place);
    try {
      const detail = `${mayHold(cards)}, but running cards in ${place} is not accepted any more, so Sallyport does not connect to it by itself.`;
      this.#options.get(place).say?.(detail, 'Check Place connects to it once and fetches what it holds.');
    } catch (error) {
      this.#options.onProblem(errorMessage(error));
    }
  }
}

/** True where the next look may find what this one did not. */
function isWorthATry(error: unknown): boolean {
  return error instanceof UserError && ['unreachable', 'closed', 'timeout'].includes(error.code);
}

function lookingText(place: string, cards: number): string {
  return `Looking for ${cards === 1 ? 'one card' : `${cards} cards`} at ${place}`;
}

function mayHold(cards: number): string {
  return cards === 1 ? 'It may hold one card of this window' : `It may hold ${cards} cards of this window`;
}

function notReachedText(cards: number, waitMs: number | undefined): string {
  const when =
    waitMs === undefined
      ? 'Sallyport does not look for it by itself any more; Check Place does'
      : `Sallyport looks again in ${waitText(waitMs)}`;
  return `${mayHold(cards)}. ${when}`;
}

function waitText(ms: number): string {
  if (ms < minute) return `${Math.max(1, Math.round(ms / 1000))} seconds`;
  const minutes = Math.round(ms / minute);
  return minutes === 1 ? 'one minute' : `${minutes} minutes`;
}
