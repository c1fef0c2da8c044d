/** Smaller pieces are cut from memory that is shared, and cost the collector little. */
const largeBytes = 16 * 1024;

/**
 * Frees the memory of a large piece that nobody reads any more; it is empty then. What waits for the collector drives
 * it to whole rounds: some hundred for each GB. A piece that shares its memory with others is left alone.
 */
export function giveBack(bytes: Uint8Array): void {
  const { buffer, byteLength } = bytes;
  if (byteLength >= largeBytes && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer)
    buffer.transfer(0);
}
