import type { Readable, Writable } from 'node:stream';
import type { Transport } from '../../../protocol/src/channel.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import { encodeFrame, FrameDecoder } from '../../../protocol/src/framing.ts';

/**
 * Messages over a child's standard input and output. A stream that breaks the framing is closed: what comes after a
 * broken frame can't be told from data.
 */
export function createStdioTransport(input: Readable, output: Writable): Transport {
  return {
    send: (message) => void output.write(encodeFrame(message)),
    start: (onMessage, onClose) => {
      const decoder = new FrameDecoder();
      let isClosed = false;
      const close = (reason: string) => {
        if (isClosed) return;
        isClosed = true;
        onClose(reason);
      };
      input.on('data', (chunk: Buffer) => {
        if (isClosed) return;
        try {
          for (const message of decoder.push(chunk)) onMessage(message);
        } catch (error) {
          output.end();
          close(errorMessage(error));
        }
      });
      input.once('close', () => close('it ended'));
      input.on('error', (error) => close(error.message));
      output.on('error', (error) => close(error.message));
    },
    close: () => void output.end(),
  };
}
