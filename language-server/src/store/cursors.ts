import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { UserError } from '../../../protocol/src/errors.ts';

/**
 * Paging cursors: the row id to go on from, bound to the list it belongs to by an HMAC under a key that lives as long
 * as this engine. A cursor that was made up, altered, kept over a restart or meant for another list is refused.
 */
export class Cursors {
  readonly #key: Buffer;

  constructor(key: Buffer = randomBytes(32)) {
    this.#key = key;
  }

  /** `list` names the list with everything that filters it; `seq` is the last row shown. */
  seal(list: string, seq: number): string {
    const signature = createHmac('sha256', this.#key)
      .update(JSON.stringify([list, seq]))
      .digest('base64url');
    return `${seq}.${signature}`;
  }

  /** The row id of a cursor that `seal` made for the same list. Throws `bad-message`. */
  open(list: string, cursor: string): number {
    const seq = Number(/^[0-9]{1,15}/.exec(cursor)?.[0]);
    const given = Buffer.from(cursor);
    const sealed = Buffer.from(this.seal(list, seq));
    if (given.length === sealed.length && timingSafeEqual(given, sealed)) return seq;
    throw new UserError('bad-message', 'This place in the list is no longer valid. Open the list again.');
  }
}
