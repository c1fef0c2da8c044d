import { window } from 'vscode';
import { agentNotices } from '../agentMessages.ts';
import type { Log } from '../log.ts';
import type { Waiting } from './waitingList.ts';

/**
 * Says that something waits: one notification for all of it. While one is open no other is shown; the status bar counts.
 * Whatever came after it was closed, or after nothing waited for a while, is announced anew.
 */
export class WaitingNotice {
  readonly #review: () => Promise<void>;
  readonly #isReviewing: () => boolean;
  readonly #log: Log;
  #known: ReadonlySet<string> = new Set();
  /** The notification of this stretch of waiting; another object once it was closed. */
  #open: object | undefined;

  constructor(review: () => Promise<void>, isReviewing: () => boolean, log: Log) {
    this.#review = review;
    this.#isReviewing = isReviewing;
    this.#log = log;
  }

  update({ approvals, questions }: Waiting): void {
    const ids = new Set([
      ...approvals.map(({ id }) => `approval ${id}`),
      ...questions.map(({ id }) => `question ${id}`),
    ]);
    const isNews = [...ids].some((id) => !this.#known.has(id));
    this.#known = ids;
    if (ids.size === 0) this.#open = undefined;
    if (!isNews || this.#open || this.#isReviewing()) return;
    this.#show(ids.size).catch((error: unknown) => this.#log.error('Failed to say what waits', error));
  }

  async #show(count: number): Promise<void> {
    const mine = {};
    this.#open = mine;
    const { text, button } = agentNotices.waiting(count);
    const chosen = await window.showWarningMessage(text, button);
    if (this.#open === mine) this.#open = undefined;
    if (chosen === button) await this.#review();
  }
}
