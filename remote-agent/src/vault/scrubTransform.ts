import { Transform } from 'node:stream';
import type { Scrubber } from '../../../protocol/src/scrub/scrubber.ts';

/** How long a writer must be silent for the beginning of what may be a value to be given out. */
const idleMs = 50;

/** A stream without the values. What is held back of it is given out in its pauses where it is too short to tell. */
export function createScrubTransform(scrubber: Scrubber): Transform {
  const pass = scrubber.stream();
  let timer: NodeJS.Timeout | undefined;
  const give = (stream: Transform, bytes: Uint8Array) => {
    if (bytes.length > 0) stream.push(bytes);
  };
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      clearTimeout(timer);
      give(this, pass.push(chunk));
      timer = setTimeout(() => give(this, pass.idle()), idleMs);
      done();
    },
    flush(done) {
      clearTimeout(timer);
      give(this, pass.end());
      done();
    },
    destroy(error, done) {
      clearTimeout(timer);
      done(error);
    },
  });
}
