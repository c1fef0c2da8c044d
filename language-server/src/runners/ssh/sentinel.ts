import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { UserError } from '../../../../protocol/src/errors.ts';
import { showHiddenLines } from '../../../../protocol/src/text.ts';

/** More than this before the sentinel is no greeting of a shell any more. */
const noiseBytes = 1024 * 1024;
const shownCharacters = 600;

/** A word that no start-up file prints by chance or on purpose. */
export function createSentinel(): string {
  return `sallyport-${randomBytes(16).toString('hex')}`;
}

/** What a program that was started prints, and what became of the connection that it was started over. */
export interface StartedProgram {
  readonly stream: Readable;
  /** The last of what came on its standard error so far. */
  readonly errors: () => string;
  readonly isLost: () => boolean;
}

/**
 * Reads what a program prints up to and with the line that begins with the sentinel, and gives the rest of that line.
 * Whatever start-up files printed before is left out; what follows stays in the stream. Throws where the stream ends
 * or the time passes without it, with what was printed, made fit to be shown; `closed` where the connection ended,
 * which says nothing about the shell.
 */
export function readToSentinel(
  { stream, errors, isLost }: StartedProgram,
  sentinel: string,
  limitMs = 30_000,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const mark = `\n${sentinel} `;
    let held = '';
    let size = 0;
    const done = (act: () => void) => {
      stream.off('readable', look).off('end', ended).off('close', ended);
      clearTimeout(timer);
      act();
    };
    const refuse = (why: string) =>
      done(() =>
        reject(new UserError('incompatible', `${why}${shown(held, errors())}`, { remedy: noiseRemedy })),
      );
    const timer = setTimeout(() => refuse('The shell over there does not run what it is told to'), limitMs);
    const ended = () =>
      done(() => {
        // A stream learns of the end of its connection before the connection tells.
        setImmediate(() => {
          if (isLost())
            reject(new UserError('closed', 'The connection was lost while a program was started'));
          else refuse('The shell over there ended before the runner could be started');
        });
      });
    const look = () => {
      for (let chunk = stream.read() as Buffer | null; chunk; chunk = stream.read() as Buffer | null) {
        size += chunk.length;
        // Latin-1 keeps every byte, so that what follows the line is put back as it came.
        held += chunk.toString('latin1');
        const at = held.indexOf(mark);
        const end = at < 0 ? -1 : held.indexOf('\n', at + mark.length);
        if (end >= 0) {
          const [line, rest] = [held.slice(at + mark.length, end), held.slice(end + 1)];
          done(() => {
            if (rest !== '') stream.unshift(Buffer.from(rest, 'latin1'));
            resolve(Buffer.from(line, 'latin1').toString('utf8'));
          });
          return;
        }
        if (size > noiseBytes) {
          refuse('The shell over there prints without an end before it runs anything');
          return;
        }
      }
    };
    stream.on('readable', look).once('end', ended).once('close', ended);
    look();
  });
}

const noiseRemedy =
  'A start-up file of the shell there (such as .bashrc) may end it or replace it. Let it do so for interactive shells only.';

/** The last of what came, escaped. */
function shown(output: string, errors: string): string {
  const text =
    `${Buffer.from(output.slice(-shownCharacters), 'latin1').toString('utf8')}\n${errors.slice(-shownCharacters)}`.trim();
  return text === '' ? '; it printed nothing' : `; it printed:\n${showHiddenLines(text)}`;
}
