import type { Readable } from 'node:stream';

/**
 * The first line of a stream, without its end; what follows stays in the stream. Rejects where it is longer than
 * `limitBytes`, where the stream ends before, and after `timeoutMs`.
 */
export function readFirstLine(stream: Readable, limitBytes: number, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let held = Buffer.alloc(0);
    const done = (act: () => void) => {
      clearTimeout(timer);
      stream.off('readable', look).off('end', ended).off('close', ended).off('error', failed);
      act();
    };
    const fail = (text: string) => done(() => reject(new Error(text)));
    const ended = () => fail('it closed the connection');
    const failed = (error: Error) => fail(error.message);
    const timer = setTimeout(() => fail('it said nothing in time'), timeoutMs);
    const look = () => {
      for (let chunk = stream.read() as Buffer | null; chunk; chunk = stream.read() as Buffer | null) {
        held = Buffer.concat([held, chunk]);
        const end = held.indexOf(10);
        if (end < 0 && held.length <= limitBytes) continue;
        if (end < 0 || end > limitBytes) fail('its first line is too long');
        else {
          done(() => {
            if (held.length > end + 1) stream.unshift(held.subarray(end + 1));
            resolve(held.toString('utf8', 0, end));
          });
        }
        return;
      }
    };
    stream.on('readable', look).once('end', ended).once('close', ended).once('error', failed);
    look();
  });
}
