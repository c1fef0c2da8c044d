import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { der } from '../vault/der.ts';
import { fingerprintOf, type Identity } from './identity.ts';

/** Signs with an identity, wherever its private key is kept. */
export interface IdentitySigner {
  /** SubjectPublicKeyInfo of the Ed25519 key, DER. */
  readonly spki: Buffer;
  readonly sign: (toBeSigned: Buffer) => Promise<Buffer> | Buffer;
}

/** What a TLS connection is made with. */
export interface Leaf {
  readonly key: string;
  readonly cert: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** How long a certificate is good for, and how far clocks may be apart. */
export const leafMs = 24 * 60 * 60 * 1000;
const slackMs = 10 * 60 * 1000;

const ed25519 = der.sequence(der.oid('1.3.101.112'));

/**
 * A certificate on P-256 that an Ed25519 identity has signed: TLS of Electron can't be served or asked with Ed25519
 * itself. Its issuer is named by the identity's fingerprint. The key is in memory alone.
 */
export async function createLeaf(signer: IdentitySigner, now: number): Promise<Leaf> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const expiresAt = now + leafMs;
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const toBeSigned = der.sequence(
    der.tagged(0, der.integer(Buffer.of(2)), true),
    der.integer(serial),
    ed25519,
    nameOf(issuerOf(fingerprintOf(signer.spki))),
    der.sequence(der.time(now - slackMs), der.time(expiresAt)),
    nameOf('Sallyport'),
    publicKey.export({ format: 'der', type: 'spki' }),
  );
  const signature = await signer.sign(toBeSigned);
  const cert = der.sequence(toBeSigned, ed25519, der.bits(signature));
  return {
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    cert: new X509Certificate(cert).toString(),
    expiresAt,
  };
}

/** The fingerprint that a certificate says it was signed by; it proves nothing until `leafFault` has looked. */
export function claimedSigner(leaf: X509Certificate): string | undefined {
  const [, digest] = /^CN=sallyport ([a-f0-9]{64})$/.exec(leaf.issuer) ?? [];
  return digest === undefined
    ? undefined
    : `SHA256:${Buffer.from(digest, 'hex').toString('base64').replace(/=+$/, '')}`;
}

/** What is wrong with a certificate as one of this identity; undefined where nothing is. Any error is a fault. */
export function leafFault(leaf: X509Certificate, identity: Identity, now: number): string | undefined {
  try {
    if (claimedSigner(leaf) !== identity.fingerprint) return 'it names another identity';
    if (leaf.publicKey.asymmetricKeyType !== 'ec') return 'its key is of another kind';
    if (leaf.publicKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
      return 'its key is on another curve';
    if (!leaf.verify(identity.key)) return 'the identity did not sign it';
    const from = Date.parse(leaf.validFrom);
    const to = Date.parse(leaf.validTo);
    if (!(to - from <= leafMs + 2 * slackMs)) return 'it is valid for too long';
    if (!(now >= from - slackMs)) return 'it is not valid yet; compare the clocks of both machines';
    if (!(now <= to)) return 'it has expired';
    return undefined;
  } catch {
    return 'it can’t be read';
  }
}

/** A name without characters that have to be escaped in one. */
function issuerOf(fingerprint: string): string {
  return `sallyport ${Buffer.from(fingerprint.slice('SHA256:'.length), 'base64').toString('hex')}`;
}

function nameOf(commonName: string): Buffer {
  return der.sequence(der.set(der.sequence(der.oid('2.5.4.3'), der.text(commonName))));
}
