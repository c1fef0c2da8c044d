import * as z from 'zod/mini';
import { request } from './contract.ts';

/**
 * Engine ↔ a worker: a host that several people share. TLS 1.3 both ways, each side known by the fingerprint of its
 * Ed25519 identity alone. After the handshake the worker speaks first; until then nothing is said to it.
 */

/** The application protocols (RFC 7301), offered one at a time. */
export const workerProtocols = { work: 'sallyport-worker/1', enrol: 'sallyport-enrol/1' } as const;

/** The worker's first line on a connection for work, when it has accepted who asks. A stream follows. */
export const workerReadyLine = 'sallyport-worker 1';
/**
 * Its first line on a connection for enrolling: this, a space and its identity's public key (DER, base64), which the
 * invitation's fingerprint vouches for. One line of `enrolRequest` follows.
 */
export const enrolReadyLine = 'sallyport-enrol 1';
/** How a worker refuses, before it closes: this, a space and one of `workerRefusals`. */
export const refusedWord = 'refused';
export const workerRefusals = [
  /** The fingerprint is not in the worker's list. */
  'not-enrolled',
  /** The certificate is not one of the identity that it names, or its time is over. */
  'certificate',
  'too-often',
  /** As many connections are open as one identity may have. */
  'too-many',
  /** The worker's own files can't be trusted: another user's, or open to others. */
  'unsafe-files',
  'code',
  'internal',
] as const;
export type WorkerRefusal = (typeof workerRefusals)[number];

/** The longest line of either side. */
export const workerLineBytes = 4096;

export const enrolRequest = z.strictObject({
  /** The one-time code, without what names the worker. */
  secret: z.string().check(z.regex(/^[A-Za-z0-9_-]{43}$/)),
  /** The identity's public key: SubjectPublicKeyInfo, DER, base64. */
  identity: z.string().check(z.maxLength(200)),
  /** What people on the worker see of who this is. */
  name: z.string().check(z.regex(/^[\p{L}\p{N} ._@-]{1,64}$/u)),
});
export type EnrolRequest = z.infer<typeof enrolRequest>;

/** A worker that this home is enrolled at. */
export const workerView = z.strictObject({
  /** The word after `worker:` in a place's id. */
  name: z.string(),
  host: z.string(),
  port: z.int(),
  /** `SHA256:` and base64 without padding, of the worker's identity. */
  fingerprint: z.string(),
});
export type WorkerView = z.infer<typeof workerView>;

export const workerRequests = {
  'worker/list': request(z.strictObject({}), z.array(workerView)),
  /** Enrols with a one-time code of the worker. Rejects with `sign-in` for a code that is no more, `host-key`, `unreachable`. */
  'worker/enrol': request(
    z.strictObject({ name: z.string(), code: z.string().check(z.maxLength(1024)), as: z.string() }),
    workerView,
    { timeoutMs: 60_000 },
  ),
  /** Forgets the worker here; there, its owner removes the identity. */
  'worker/forget': request(z.strictObject({ name: z.string() }), z.strictObject({ found: z.boolean() })),
} as const;

/** What the engine asks of the person's side: the identity's private key is there and stays there. */
export const workerPersonRequests = {
  'worker/identity': request(z.strictObject({}), z.strictObject({ publicKey: z.string() })),
  /** Signs a certificate for at most a day, given as the part to be signed (RFC 5280 `TBSCertificate`), base64. */
  'worker/sign': request(
    z.strictObject({ certificate: z.string().check(z.maxLength(2048)) }),
    z.strictObject({ signature: z.string() }),
  ),
} as const;
