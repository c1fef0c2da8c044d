import type { Disposable } from '../disposable.ts';

export interface WatchdogOptions {
  readonly now: () => number;
  /** How many processes share a core just now, as far as it is known; 1 or less on a machine that has time. */
  readonly crowd: () => number;
  /** Calls `run` every `ms` until disposed. */
  readonly every: (ms: number, run: () => void) => Disposable;
  /** The page is dead: make a new one. */
  readonly onDead: () => void;
}

/** Between two looks; a page says that it is alive as often (webviews/src/workbench/beat.ts). */
const lookMs = 200;
/** Three signs of life missing, and there is time left to open a page anew within a second of its death. */
const shortestSilenceMs = 650;
const longestSilenceMs = 20_000;
/** A page that was just loaded may take this long to say anything. */
const loadMs = 15_000;
/** Signs of life that come late, as on a busy machine, buy so many times the longest of their gaps. */
const patience = 3;
/** What each sign leaves of the longest gap: in good order half of it is forgotten in five seconds. */
const kept = 0.97;
/** After this time in good order, an earlier death is forgotten. */
const calmMs = 60_000;

/**
 * Notices that a page has stopped: its renderer crashed or hangs. It looks only while the page can be seen. Each death
 * doubles the silence it allows, and a page whose signs come late or whose machine is busy is given longer, so that none
 * is thrown away that only waits.
 */
export class Watchdog implements Disposable {
  readonly #options: WatchdogOptions;
  #timer: Disposable | undefined;
  #silenceMs = shortestSilenceMs;
  /** The longest gap between two signs of life, fading. */
  #gapMs = 0;
  #heardAt = 0;
  #lookedAt = 0;
  #diedAt = -Infinity;
  #isLoading = true;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  /** The page was loaded, is shown or is hidden. */
  watch(isVisible: boolean): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    if (!isVisible) return;
    this.#isLoading = true;
    this.#heardAt = this.#lookedAt = this.#options.now();
    this.#timer = this.#options.every(lookMs, () => this.#look());
  }

  /** The page gave a sign of life. */
  beat(): void {
    const now = this.#options.now();
    if (!this.#isLoading) this.#gapMs = Math.max(now - this.#heardAt, this.#gapMs * kept);
    this.#heardAt = now;
    this.#isLoading = false;
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#timer = undefined;
  }

  #look(): void {
    const now = this.#options.now();
    // This process itself was held up: what the page said meanwhile has not been read yet.
    const wasHeldUp = now - this.#lookedAt > 2 * lookMs;
    this.#lookedAt = now;
    if (wasHeldUp) this.#heardAt = now;
    if (now - this.#diedAt > calmMs) this.#silenceMs = shortestSilenceMs;
    // On a busy machine a page waits for its turn, as everything does.
    const silenceMs = this.#silenceMs * Math.max(1, this.#options.crowd());
    const allowedMs = Math.min(Math.max(silenceMs, patience * this.#gapMs), longestSilenceMs);
    if (now - this.#heardAt <= (this.#isLoading ? loadMs : allowedMs)) return;
    this.#diedAt = now;
    this.#silenceMs = Math.min(2 * this.#silenceMs, longestSilenceMs);
    this.dispose();
    this.#options.onDead();
  }
}
