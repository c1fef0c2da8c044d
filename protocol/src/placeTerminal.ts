import * as z from 'zod/mini';
import { request } from './contract.ts';

/**
 * A terminal in a VM of a project, for the person alone: nothing else can ask for one. Output is read, not told, so
 * that whoever shows it sets the pace.
 */

/** The largest piece of input or output, in UTF-16 units. */
export const terminalTextUnits = 64 * 1024;

/** The same text in pieces that `place/terminalWrite` takes, none of them cut within a character. */
export function terminalPieces(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(text.length, at + terminalTextUnits);
    const isWithin = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
    if (isWithin) end -= 1;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

const terminal = z.string().check(z.regex(/^[a-f0-9]{24}$/));
const extent = z.int().check(z.minimum(1), z.maximum(1000));
const size = { columns: extent, rows: extent };
const text = z.string().check(z.maxLength(terminalTextUnits));

/** How a shell ended: its exit code, or the signal that ended it; neither where the connection was lost. */
export const terminalEnd = z.strictObject({ code: z.nullable(z.int()), signal: z.nullable(z.string()) });
export type TerminalEnd = z.infer<typeof terminalEnd>;

/** What the extension asks of the engine about terminals. Every request but the first rejects with `not-found` after the end. */
export const terminalRequests = {
  /**
   * Starts the project's VM where it does not run, and a shell in it; `network` means the VM of its cards that were given
   * one, which the shell itself is not. Read from it at once: one that nobody reads from is closed after two minutes, since
   * its answer may have been lost. Rejects with `not-trusted`, `isolation-missing`
   * with the remedy, `conflict` where too many are open, and as connecting does.
   */
  'place/terminalOpen': request(
    z.strictObject({ root: z.string(), network: z.boolean(), ...size }),
    z.strictObject({ terminal }),
    { timeoutMs: 0 },
  ),
  /**
   * Settles when there is output, or the shell has ended: then `end` is set, and the terminal is gone. The output is
   * text with the controls of a terminal that move, colour and erase, and no others. One read at a time.
   */
  'place/terminalRead': request(
    z.strictObject({ terminal }),
    z.strictObject({ text, end: z.nullable(terminalEnd) }),
    { timeoutMs: 0 },
  ),
  /** Settles when the VM has taken it. */
  'place/terminalWrite': request(z.strictObject({ terminal, text }), z.strictObject({}), { timeoutMs: 0 }),
  'place/terminalResize': request(z.strictObject({ terminal, ...size }), z.strictObject({})),
  /** Ends the shell and all that it started. Closing one that has ended does nothing. */
  'place/terminalClose': request(z.strictObject({ terminal }), z.strictObject({})),
} as const;
