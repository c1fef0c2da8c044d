import {
  createScrubber as createValueScrubber,
  type Scrubber as ValueScrubber,
  type ScrubbedStream,
} from '../../../protocol/src/scrub/scrubber.ts';

/** Takes a key out of what comes back, so that no text, log or model sees it, whatever a server echoes. */
export type Scrubber = Pick<ValueScrubber, 'text' | 'stream'>;
/** A pass over a stream of bytes: a key that is cut by a chunk's end is found too. */
export type ByteScrubber = Pick<ScrubbedStream, 'push' | 'end'>;

/** What stands in the place of a key. */
export const keyMark = '[key removed]';
/** Shorter texts are words such as `none` that local servers take for a key: no secrets, and part of many answers. */
const shortestSecret = 12;

/** Finds the key in every spelling that the scrubber of vault values knows. */
export function createScrubber(key: string | undefined): Scrubber {
  return createValueScrubber(key === undefined || key.length < shortestSecret ? [] : [key], keyMark);
}
