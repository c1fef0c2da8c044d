/**
 * The framing of blobs between an engine and a served runner, on a byte stream of its own that begins with
 * `streamOpenings.bulk`. The engine sends operations, the runner answers each in their order; many may be on the way.
 *
 *   put   `P` digest[32] size[8]  then size bytes      answer  ok: `K`               failed: `E` length[4] text
 *   get   `G` digest[32]                               answer  ok: `D` size[8] bytes failed: `E` length[4] text
 *
 * Numbers are big-endian and unsigned; digests are SHA-256, raw. The text is the JSON of an error: `{code, message}`.
 * A put whose bytes are not what the digest says stores nothing. The runner reads the bytes of a put that it refuses.
 */
export const bulkCodes = { put: 0x50, get: 0x47, stored: 0x4b, data: 0x44, failed: 0x45 } as const;

export const bulkHeadBytes = { put: 1 + 32 + 8, get: 1 + 32, data: 1 + 8, failed: 1 + 4 } as const;

/** The longest text of a refusal. */
export const bulkErrorBytes = 64 * 1024;
