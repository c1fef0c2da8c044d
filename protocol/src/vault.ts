import * as z from 'zod/mini';
import { canonicalJson } from './canonicalJson.ts';
import { notification, request } from './contract.ts';
import { principal } from './gate.ts';

/**
 * Vault values on their way to where they are used. The vault is the extension's; the engine carries sealed envelopes
 * that only the one who uses the value (a runner) can open, and learns names, never values.
 */

/** How a value is used. `header`, `basic` and `query` are put into a request at the egress, for the listed hosts only. */
export const vaultUse = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('header'),
    hosts: z.array(z.string()),
    name: z.string(),
    prefix: z.string(),
  }),
  z.strictObject({ kind: z.literal('basic'), hosts: z.array(z.string()), user: z.string() }),
  z.strictObject({ kind: z.literal('query'), hosts: z.array(z.string()), name: z.string() }),
  z.strictObject({ kind: z.literal('env'), name: z.string() }),
  z.strictObject({ kind: z.literal('fd'), name: z.string() }),
  z.strictObject({ kind: z.literal('sshSignature') }),
]);
export type VaultUse = z.infer<typeof vaultUse>;

/** One wish: this field of this item, for this use. */
export const vaultWish = z.strictObject({ item: z.string(), field: z.string(), use: vaultUse });
export type VaultWish = z.infer<typeof vaultWish>;

/**
 * A value sealed to one recipient key: X25519, HKDF-SHA256, AES-256-GCM, bound to the job and the wish by the
 * additional data. All of it is base64.
 */
export const sealedValue = z.strictObject({
  ephemeralKey: z.string(),
  iv: z.string(),
  ciphertext: z.string(),
  tag: z.string(),
});
export type SealedValue = z.infer<typeof sealedValue>;

export const releasedValue = z.strictObject({ grant: z.string(), wish: vaultWish, sealed: sealedValue });
export type ReleasedValue = z.infer<typeof releasedValue>;
/** All values of one job. */
export const releasedValues = z.array(releasedValue).check(z.maxLength(100));

/** What a sealed value is bound to, as the text of its additional data: another job, grant, use or host opens nothing. */
export function sealedValueContext(jobId: string, grant: string, wish: VaultWish): string {
  return canonicalJson({ sallyport: 'vault value', version: 1, jobId, grant, wish });
}

/**
 * What a job authenticates under its ticket (HMAC-SHA256, RFC 2104) to show that a public key is its own: the key of
 * another job, or of an earlier one, proves nothing.
 */
export function keyProofText(jobId: string, publicKey: string): string {
  return canonicalJson({ sallyport: 'vault key', version: 1, jobId, publicKey });
}

/** Which place signs in, and to which host of the way there. */
const sshAsked = {
  place: z.string(),
  host: z.string().check(z.minLength(1), z.maxLength(255)),
  port: z.int(),
};

/** A request of a plugin as it wrote it, to one whole address. */
export const plainRequest = z.strictObject({
  method: z.string().check(z.regex(/^(GET|HEAD|POST|PUT|PATCH|DELETE)$/)),
  url: z.string().check(z.maxLength(8000)),
  /** Names in lower case. */
  headers: z.record(z.string(), z.string()),
  /** Base64; null for none. */
  body: z.nullable(z.string()),
});

/** Which plugin of which installation, and the keys of the wishes (`vaultWish`) that it has now. */
const pluginAsked = {
  principal: principal.check(z.regex(/^plugin:/)),
  scope: z.string(),
  wishes: z.array(z.string()).check(z.maxLength(100)),
};

/** Values are sealed for cards and for nobody else. */
const card = principal.check(z.regex(/^card:/));

/** Asked by the engine, answered by the extension. */
export const vaultPersonRequests = {
  /**
   * Values for one job, each only under a grant of a person that covers principal, item, field and use. Rejects with
   * `denied`, naming the first one that is not covered. Each value released is one line of the vault's log.
   */
  'vault/release': request(
    z.strictObject({
      principal: card,
      scope: z.string(),
      jobId: z.string(),
      /** The recipient's X25519 public key, raw, base64. */
      recipient: z.string(),
      wishes: z.array(vaultWish),
    }),
    z.strictObject({ values: z.array(releasedValue) }),
    { timeoutMs: 0 },
  ),
  /** Which of these have a grant now; nothing is released and nothing is asked. */
  'vault/covered': request(
    z.strictObject({ principal: card, scope: z.string(), wishes: z.array(vaultWish) }),
    z.strictObject({ covered: z.array(z.boolean()) }),
  ),
  /** Ids and fields that can be named; never values. */
  'vault/names': request(
    z.strictObject({}),
    z.array(
      z.strictObject({
        item: z.string(),
        title: z.string(),
        kind: z.string(),
        fields: z.array(z.string()),
        hosts: z.array(z.string()),
      }),
    ),
  ),
  /** What a model asks for: waits as pending until a person answers, in native UI with presence where it is needed. */
  'vault/ask': request(
    z.strictObject({ principal: card, scope: z.string(), wish: vaultWish, reason: z.string() }),
    z.strictObject({ grant: z.string(), state: z.enum(['pending', 'accepted', 'declined']) }),
    { timeoutMs: 0 },
  ),
  /**
   * The grants by which values go into requests of this plugin to this host now, each with the name of its value
   * (`item.field`). Nothing is released. Rejects with `permission-needed` where a vault that had one is locked.
   */
  'vault/granted': request(
    z.strictObject({ ...pluginAsked, host: z.string(), port: z.int() }),
    z.array(z.strictObject({ grant: z.string(), label: z.string() })),
  ),
  /**
   * Makes one request with the values of these grants put in, and opens its answer without them. `hosts` are those that
   * the plugin may reach. Nothing is followed. Each value used is one line of the vault's log. Rejects with
   * `permission-needed` where a grant is not in force for exactly this, `unsafe-path` where the address is refused,
   * `unreachable` for an answer that can't be looked through, `closed` and `timeout` for the network.
   */
  'vault/fetch': request(
    z.strictObject({
      ...pluginAsked,
      grants: z.array(z.string()).check(z.minLength(1), z.maxLength(16)),
      hosts: z.array(z.string()),
      request: plainRequest,
    }),
    z.strictObject({
      stream: z.string(),
      /** Where the connection led. */
      address: z.string(),
      status: z.int(),
      statusText: z.string(),
      /** Names in lower case. */
      headers: z.record(z.string(), z.string()),
    }),
    { timeoutMs: 0 },
  ),
  /** The next bytes of an answer, as `provider/read` gives them. Rejects with `too-large` beyond what a fetch may have. */
  'vault/fetchRead': request(
    z.strictObject({ stream: z.string() }),
    z.strictObject({ base64: z.string(), done: z.boolean() }),
    { timeoutMs: 0 },
  ),
  'vault/fetchClose': request(z.strictObject({ stream: z.string() }), z.null()),
  /**
   * Key pairs that may be offered to a host, by their public halves (Ed25519, on the wire of RFC 8709, base64). Titles
   * are for people. `isGranted`: it signs without a question now.
   */
  'vault/sshKeys': request(
    z.strictObject(sshAsked),
    z.array(z.strictObject({ title: z.string(), publicKey: z.string(), isGranted: z.boolean() })),
  ),
  /**
   * A signature (64 bytes, base64) over a request to sign in with exactly this key (RFC 4252, section 7), and over
   * nothing else. Rejects with `permission-needed` where no grant of a person is for this place, with `bad-message` for
   * other bytes. Where `mayAsk` is false nobody is asked.
   */
  'vault/sshSign': request(
    z.strictObject({
      ...sshAsked,
      mayAsk: z.boolean(),
      publicKey: z.string(),
      data: z.string().check(z.maxLength(4096)),
    }),
    z.strictObject({ signature: z.string() }),
    { timeoutMs: 5 * 60_000 },
  ),
} as const;

/** Told by the extension to the engine: names, grants or locks changed. */
export const vaultNotifications = {
  'vault/changed': notification(z.strictObject({})),
} as const;
