import { Buffer } from 'node:buffer';

/**
 * Zeroed memory for what is to be wiped, outside JavaScript's heap: V8 keeps small typed arrays in the heap, moves them
 * about, and leaves copies behind that nothing can wipe.
 */
export function ownMemory(length: number): Buffer {
  return Buffer.from(new ArrayBuffer(length));
}
