import { createHash } from 'node:crypto';
import { readSync } from 'node:fs';
import { UserError } from '../../../protocol/src/errors.ts';
import { createPace } from '../../../remote-agent/src/files/pace.ts';
import type { ContentSink } from './fileState.ts';

const chunkBytes = 1024 * 1024;

/** Keeps nothing: for measuring what is only looked at. */
export const hashOnly: ContentSink = {
  async putFile(descriptor, { limitBytes = Infinity, pace = createPace() } = {}) {
    const sum = createHash('sha256');
    const chunk = Buffer.allocUnsafe(chunkBytes);
    let sizeBytes = 0;
    for (let count = readSync(descriptor, chunk); count > 0; count = readSync(descriptor, chunk)) {
      sizeBytes += count;
      if (sizeBytes > limitBytes)
        throw new UserError('too-large', `Larger than the ${limitBytes} bytes that are left`);
      sum.update(chunk.subarray(0, count));
      if (pace.isDue()) await pace.rest();
    }
    return { digest: sum.digest('hex'), sizeBytes };
  },
};
