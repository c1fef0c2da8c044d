import { createHash, createPublicKey, type KeyObject } from 'node:crypto';

/** SubjectPublicKeyInfo of Ed25519 up to the key itself (RFC 8410 §4). */
const spkiHead = Buffer.from('302a300506032b6570032100', 'hex');

/** The y coordinates of the points of small order (RFC 8032, section 5.1), sign bit clear: anything verifies by one. */
const smallOrder = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);

/** Whoever can sign for it is this one. */
export interface Identity {
  readonly key: KeyObject;
  /** As OpenSSH shows a key: `SHA256:` and base64 without padding, over the SubjectPublicKeyInfo. */
  readonly fingerprint: string;
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Buffer;
}

/** Reads an Ed25519 public key (DER). Undefined for anything else, for a point of small order, and for a second name of one. */
export function parseIdentity(spki: Uint8Array): Identity | undefined {
  const bytes = Buffer.from(spki);
  if (bytes.length !== spkiHead.length + 32 || !bytes.subarray(0, spkiHead.length).equals(spkiHead))
    return undefined;
  const point = Buffer.from(bytes.subarray(spkiHead.length));
  point[31] = (point[31] ?? 0) & 0x7f;
  if (!isReduced(point) || smallOrder.has(point.toString('hex'))) return undefined;
  try {
    const key = createPublicKey({ key: bytes, format: 'der', type: 'spki' });
    return { key, spki: bytes, fingerprint: fingerprintOf(bytes) };
  } catch {
    return undefined;
  }
}

/** True for a number below 2^255 − 19, its least byte first: another one would be a second name of the same point. */
function isReduced(point: Uint8Array): boolean {
  return point[31] !== 0x7f || (point[0] ?? 0) < 0xed || point.subarray(1, 31).some((byte) => byte !== 0xff);
}

/** The fingerprint of a public key's SubjectPublicKeyInfo. */
export function fingerprintOf(spki: Uint8Array): string {
  return `SHA256:${createHash('sha256').update(spki).digest('base64').replace(/=+$/, '')}`;
}

/** The same as a file's name of 22 characters, 128 bits: short, for a socket below it has little room for its path. */
export function folderNameOf(fingerprint: string): string {
  return createHash('sha256').update(fingerprint).digest('base64url').slice(0, 22);
}
