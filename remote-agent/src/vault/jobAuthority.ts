import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { der } from './der.ts';

/**
 * A certificate authority for one job: its card trusts it, nothing else does. Both keys are in the memory of the runner
 * alone and end with the job.
 */
export interface JobAuthority {
  /** What the card is shown. */
  readonly certificatePem: string;
  /** The key and certificates, as PEM, of a server that stands in for `host`. */
  issue(host: string): { readonly key: string; readonly cert: string };
  /** The same to serve with. Made once for each host. */
  contextFor(host: string): SecureContext;
}

const hourMs = 3_600_000;

/** An authority on P-256 that is valid from an hour ago (clocks differ) for `validMs` from `now` on. */
export function createJobAuthority(now: number, validMs: number): JobAuthority {
  const validity = der.sequence(der.time(now - hourMs), der.time(now + validMs));
  const authority = createKeys();
  const server = createKeys();
  const issuer = nameOf('Sallyport, for one job');
  const own = certificate({
    issuer,
    subject: issuer,
    validity,
    spki: authority.spki,
    signer: authority.privateKey,
    extensions: [
      extension('2.5.29.19', true, der.sequence(der.boolean(true), der.integer(Buffer.of(0)))),
      // keyCertSign, the sixth bit.
      extension('2.5.29.15', true, der.bits(Buffer.of(0x04), 2)),
      extension('2.5.29.14', false, der.octets(authority.id)),
    ],
  });
  const certificatePem = toPem('CERTIFICATE', own);
  const key = server.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const contexts = new Map<string, SecureContext>();
  const issue = (host: string) => {
    const made = certificate({
      issuer,
      subject: nameOf('Sallyport egress'),
      validity,
      spki: server.spki,
      signer: authority.privateKey,
      extensions: [
        extension('2.5.29.19', true, der.sequence()),
        // digitalSignature, the first bit.
        extension('2.5.29.15', true, der.bits(Buffer.of(0x80), 7)),
        extension('2.5.29.37', false, der.sequence(der.oid('1.3.6.1.5.5.7.3.1'))),
        extension('2.5.29.17', false, der.sequence(generalName(host))),
        extension('2.5.29.14', false, der.octets(server.id)),
        extension('2.5.29.35', false, der.sequence(der.tagged(0, authority.id, false))),
      ],
    });
    return { key, cert: toPem('CERTIFICATE', made) + certificatePem };
  };
  return {
    certificatePem,
    issue,
    contextFor(host) {
      const known = contexts.get(host) ?? createSecureContext({ ...issue(host), minVersion: 'TLSv1.2' });
      contexts.set(host, known);
      return known;
    },
  };
}

interface Keys {
  readonly privateKey: KeyObject;
  readonly spki: Buffer;
  /** SHA-1 of the key's bits, as RFC 5280 §4.2.1.2 proposes: a name, no protection. */
  readonly id: Buffer;
}

function createKeys(): Keys {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  // The uncompressed point is the last 65 bytes.
  return { privateKey, spki, id: createHash('sha1').update(spki.subarray(-65)).digest() };
}

/** An X.509 certificate of version 3 (RFC 5280), signed with ECDSA over SHA-256 (RFC 5758). */
function certificate(parts: {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly validity: Buffer;
  readonly spki: Buffer;
  readonly signer: KeyObject;
  readonly extensions: readonly Buffer[];
}): Buffer {
  const algorithm = der.sequence(der.oid('1.2.840.10045.4.3.2'));
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const signed = der.sequence(
    der.tagged(0, der.integer(Buffer.of(2)), true),
    der.integer(serial),
    algorithm,
    parts.issuer,
    parts.validity,
    parts.subject,
    parts.spki,
    der.tagged(3, der.sequence(...parts.extensions), true),
  );
  return der.sequence(signed, algorithm, der.bits(sign('sha256', signed, parts.signer)));
}

function extension(oid: string, isCritical: boolean, value: Buffer): Buffer {
  return der.sequence(der.oid(oid), ...(isCritical ? [der.boolean(true)] : []), der.octets(value));
}

function nameOf(commonName: string): Buffer {
  return der.sequence(der.set(der.sequence(der.oid('2.5.4.3'), der.text(commonName))));
}

function generalName(host: string): Buffer {
  return isIP(host) === 0
    ? der.tagged(2, Buffer.from(host, 'latin1'), false)
    : der.tagged(7, addressBytes(host), false);
}

/** The bytes of an address in canonical form. */
function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address
    .replace(/[0-9.]+$/, (last) => (last.includes('.') ? asGroups(last) : last))
    .split('::');
  const groups = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const all = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

function asGroups(dotted: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

function toPem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
