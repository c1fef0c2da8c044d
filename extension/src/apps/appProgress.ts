import { randomUUID } from 'node:crypto';
import { ProgressLocation, window } from 'vscode';
import type { Disposable } from '../disposable.ts';
import type { Engine } from '../engine.ts';
import { short } from '../plainText.ts';

/** Long work of the engine for apps. It is given an id that its progress is told under, and a signal. */
export type AppWork<T> = (progressId: string, signal: AbortSignal) => Promise<T>;

interface Shown {
  report(value: { message?: string; increment?: number }): void;
}

/** Shows what the engine does for apps, each as a notification with a way to stop it. */
export class AppProgress implements Disposable {
  readonly #subscription: Disposable;
  readonly #open = new Map<string, { readonly shown: Shown; percent: number }>();

  constructor(engine: Engine) {
    this.#subscription = engine.on('app/progress', ({ progressId, fraction, text }) => {
      const open = this.#open.get(progressId);
      if (!open) return;
      const percent = fraction === null ? open.percent : Math.min(100, Math.max(0, fraction * 100));
      const increment = Math.max(0, percent - open.percent);
      open.percent += increment;
      open.shown.report({ message: short(text, 80), increment });
    });
  }

  /** Rejects as `work` does; with `cancelled` where the person stopped it. */
  async run<T>(title: string, work: AppWork<T>, { isQuiet = false } = {}): Promise<T> {
    const location = isQuiet ? ProgressLocation.Window : ProgressLocation.Notification;
    return window.withProgress({ location, title, cancellable: !isQuiet }, async (shown, token) => {
      const progressId = randomUUID();
      const stop = new AbortController();
      token.onCancellationRequested(() => stop.abort());
      this.#open.set(progressId, { shown, percent: 0 });
      try {
        return await work(progressId, stop.signal);
      } finally {
        this.#open.delete(progressId);
      }
    });
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}
