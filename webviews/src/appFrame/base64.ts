const pieceBytes = 32 * 1024;

/** RFC 4648 §4, padded. */
export function base64OfBytes(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    binary += String.fromCharCode(...bytes.subarray(at, at + pieceBytes));
  }
  return btoa(binary);
}
