/** Smaller pieces are cut from memory that is shared, and cost the collector little. */
const largeBytes = 16 * 1024;
/** Room for what is in a packet beside its data (10 bytes before them, 4 to 19 of padding) and for the head of an answer. */
const aroundBytes = 64;

/**
 * Frees the memory of a large piece that nobody reads any more; it is empty then. What waits for the collector drives
 * it to whole rounds: some hundred for each GB. A piece that shares its memory with others is left alone.
 */
export function giveBack(bytes: Uint8Array): void {
  free(bytes, 0);
}

/**
 * The same for data that came in a packet of SSH, once nobody reads them any more. ssh2 decrypts each packet into memory
 * of its own, where what is around the data (RFC 4253, 6; RFC 4254, 5.2) is read by then.
 */
export function giveBackPacket(data: Uint8Array): void {
  free(data, aroundBytes);
}

function free({ buffer, byteLength }: Uint8Array, around: number): void {
  const isAlone = buffer.byteLength - byteLength <= around;
  if (byteLength >= largeBytes && isAlone && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
