import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { UserError } from '../../../../protocol/src/errors.ts';
import { showHiddenLines } from '../../../../protocol/src/text.ts';

/** More than this before the sentinel is no greeting of a shell any more. */
const noiseBytes = 1024 * 1024;
const lineBytes = 64 * 1024;
const shownCharacters = 600;
/** What is kept of noise: enough to be shown, and for a sentinel that comes in pieces. */
const keptCharacters = 4096;

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
  /** Settles when the host has answered something that is asked now, or the connection has ended. */
  readonly hostAnswers: () => Promise<void>;
}

/** A limit passes in so many steps. */
const limitSteps = 6;
/** A host that answers nothing for so many limits is lost, should the connection not have said so before. */
const silentLimits = 4;

/**
 * Reads what a program prints up to and with the line that begins with the sentinel, and gives the rest of that line.
 * Whatever start-up files printed before is left out; what follows stays in the stream. Throws where the stream ends
 * or the time passes without it, with what was printed, made fit to be shown. Time in which the host answers nothing
 * does not count. Throws `closed` where the connection ended or the host stays silent: neither says anything about the
 * shell.
 */
export function readToSentinel(
  { stream, errors, isLost, hostAnswers }: StartedProgram,
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
    const lose = () => reject(new UserError('closed', 'The connection was lost while a program was started'));
    let timer: NodeJS.Timeout;
    let passed = 0;
    let silent = 0;
    const step = (answers: () => Promise<void>) => {
      let hasAnswered = false;
      answers().then(
        () => (hasAnswered = true),
        () => undefined,
      );
      timer = setTimeout(() => {
        if (hasAnswered) passed += 1;
        else silent += 1;
        if (passed >= limitSteps) refuse('The shell over there does not run what it is told to');
        else if (silent >= silentLimits * limitSteps) done(lose);
        else step(hostAnswers);
      }, limitMs / limitSteps);
    };
    // Nothing is asked of a host while all goes well.
    step(() => Promise.resolve());
    const ended = () =>
      done(() => {
        // A stream learns of the end of its connection before the connection tells.
        setImmediate(() => {
          if (isLost()) lose();
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
        const isEndless = at < 0 ? size > noiseBytes : held.length - at > lineBytes;
        if (isEndless) {
          refuse('The shell over there prints without an end before it runs anything');
          return;
        }
        if (at < 0) held = held.slice(-keptCharacters);
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
