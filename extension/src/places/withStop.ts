import { ProgressLocation, window } from 'vscode';

/** Tells how far work is, 0 to 1, and what it does. */
export type Tell = (text: string, fraction: number) => void;

/** Work that takes a while, as a notification with a way to stop it. Rejects as the work does. */
export function withStop<T>(
  title: string,
  work: (signal: AbortSignal, tell: Tell) => Promise<T>,
): Promise<T> {
  const options = { location: ProgressLocation.Notification, title, cancellable: true };
  return Promise.resolve(
    window.withProgress(options, (shown, token) => {
      const stop = new AbortController();
      token.onCancellationRequested(() => stop.abort());
      let percent = 0;
      return work(stop.signal, (message, fraction) => {
        const increment = Math.max(0, Math.min(100, fraction * 100) - percent);
        percent += increment;
        shown.report({ message, increment });
      });
    }),
  );
}
