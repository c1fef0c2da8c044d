import { Buffer } from 'node:buffer';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import { Secret } from '../core/secret.ts';

/** Where the keys of a vault are typed or read: never an argument, never a variable. */
export interface KeyReader {
  /** One line without its end, for the caller to wipe. Rejects where there is none. */
  read(question: string): Promise<Secret>;
  close(): void;
}

const longest = 4096;

/** Reads line after line from an open descriptor, without asking. It is closed in the end: no command may inherit it. */
export function descriptorReader(descriptor: number): KeyReader {
  return {
    async read() {
      const line = Buffer.allocUnsafeSlow(longest);
      const one = Buffer.allocUnsafeSlow(1);
      let length = 0;
      while (length < longest && readSync(descriptor, one) === 1 && one[0] !== 10)
        line[length++] = one[0] ?? 0;
      const secret = Secret.copy(line.subarray(0, line[length - 1] === 13 ? length - 1 : length));
      line.fill(0);
      one.fill(0);
      if (secret.length === 0) throw new Error('The descriptor of the keys has no line');
      return secret;
    },
    close: () => closeSync(descriptor),
  };
}

/** Asks at the terminal that this process belongs to, whatever its input and output are, and echoes nothing. */
export function terminalReader(path = '/dev/tty'): KeyReader {
  const descriptor = openTerminal(path);
  const input = new ReadStream(descriptor);
  // Until the end, so that nothing that is typed ahead is echoed or lost.
  input.setRawMode(true);
  return {
    read: (question) => ask(input, descriptor, question),
    close: () => {
      input.setRawMode(false);
      input.destroy();
    },
  };
}

function openTerminal(path: string): number {
  try {
    return openSync(path, 'r+');
  } catch (error) {
    throw new Error('There is no terminal to ask at. Use --keys-fd.', { cause: error });
  }
}

async function ask(input: ReadStream, descriptor: number, question: string): Promise<Secret> {
  writeSync(descriptor, question);
  const typed = Buffer.allocUnsafeSlow(longest);
  let length = 0;
  try {
    for (;;) {
      const byte = await nextByte(input);
      if (byte === undefined || byte === 3 || byte === 4) throw new Error('It was cancelled');
      if (byte === 13 || byte === 10) return Secret.copy(typed.subarray(0, length));
      if (byte === 127 || byte === 8) length = Math.max(0, length - 1);
      else if (length < longest) typed[length++] = byte;
    }
  } finally {
    typed.fill(0);
    writeSync(descriptor, '\r\n');
  }
}

async function nextByte(input: ReadStream): Promise<number | undefined> {
  for (;;) {
    const one = input.read(1) as Buffer | null;
    if (one) return one[0];
    if (input.readableEnded || input.destroyed) return undefined;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        input.off('readable', go).off('end', go).off('error', go);
        resolve();
      };
      input.once('readable', go).once('end', go).once('error', go);
    });
  }
}
