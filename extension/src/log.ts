import { window, type LogOutputChannel } from 'vscode';

/** The output channel that a person reads with Show Log. Never given a key or a result's contents. */
export interface Log {
  info(text: string): void;
  warn(text: string): void;
  /** Writes the text and the error with its chain of causes. */
  error(text: string, error?: unknown): void;
  show(): void;
}

/** Every text passes `scrub`. The caller disposes `channel`. */
export function createLog(scrub: (text: string) => string): Log & { readonly channel: LogOutputChannel } {
  const channel = window.createOutputChannel('Sallyport', { log: true });
  return {
    channel,
    info: (text) => channel.info(scrub(text)),
    warn: (text) => channel.warn(scrub(text)),
    error: (text, error) =>
      channel.error(scrub(error === undefined ? text : `${text}: ${causeChain(error)}`)),
    show: () => channel.show(true),
  };
}

/** An error and its causes, each with its stack, outermost first; at most ten. */
function causeChain(error: unknown): string {
  const lines: string[] = [];
  let at: unknown = error;
  for (let depth = 0; at !== undefined && depth < 10; depth++) {
    lines.push(at instanceof Error ? (at.stack ?? at.message) : JSON.stringify(at));
    at = at instanceof Error ? at.cause : undefined;
  }
  return lines.join('\nCaused by: ');
}
