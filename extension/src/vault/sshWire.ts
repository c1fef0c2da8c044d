import { Buffer } from 'node:buffer';

/** What a client signs to be let in with a key. */
export interface SignInRequest {
  readonly user: string;
  /** The key on the wire (RFC 4253, section 6.6). */
  readonly publicKey: Buffer;
}

const keyType = 'ssh-ed25519';
const userAuthRequest = 50;
/** Lengths of the hashes that key exchanges make: the session's identifier is one. */
const sessionLengths: ReadonlySet<number> = new Set([20, 32, 48, 64]);
const longestUser = 256;

/**
 * The request of which `bytes` are the text to be signed for the method `publickey` with an Ed25519 key (RFC 4252,
 * section 7); undefined for anything else, also where anything is left over. The same bytes are no signed file, no
 * certificate and no other message of SSH.
 */
export function parseSignIn(bytes: Uint8Array): SignInRequest | undefined {
  const reader = new Reader(bytes);
  const session = reader.string();
  const message = reader.byte();
  const user = reader.string();
  const service = reader.text();
  const method = reader.text();
  const isSigned = reader.byte();
  const algorithm = reader.text();
  const publicKey = reader.string();
  if (!session || !sessionLengths.has(session.length) || message !== userAuthRequest) return undefined;
  if (service !== 'ssh-connection' || method !== 'publickey' || isSigned !== 1) return undefined;
  if (algorithm !== keyType || !publicKey || !rawKey(publicKey) || !reader.isAtEnd) return undefined;
  if (!user || user.length === 0 || user.length > longestUser) return undefined;
  const name = user.toString('utf8');
  return Buffer.from(name).equals(user) ? { user: name, publicKey } : undefined;
}

/** The key of a line of `authorized_keys` on the wire; undefined for what is no Ed25519 key. A comment is not read. */
export function keyOfLine(line: Uint8Array): Buffer | undefined {
  const [type, text = ''] = Buffer.from(line)
    .toString('latin1')
    .trim()
    .split(/[ \t]+/);
  const key = Buffer.from(text, 'base64');
  return type === keyType && key.toString('base64') === text && rawKey(key) ? key : undefined;
}

/** The 32 bytes of an Ed25519 key from its form on the wire (RFC 8709, section 4); undefined for another. */
export function rawKey(publicKey: Uint8Array): Buffer | undefined {
  const reader = new Reader(publicKey);
  const type = reader.text();
  const raw = reader.string();
  return type === keyType && raw?.length === 32 && reader.isAtEnd ? raw : undefined;
}

/** Reads what RFC 4251, section 5 describes. What is cut short reads as undefined from there on. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  byte(): number | undefined {
    return this.#take(1)?.[0];
  }

  string(): Buffer | undefined {
    const length = this.#take(4)?.readUInt32BE();
    return length === undefined ? undefined : this.#take(length);
  }

  text(): string | undefined {
    return this.string()?.toString('latin1');
  }

  #take(count: number): Buffer | undefined {
    const end = this.#at + count;
    const taken = end <= this.#bytes.length ? this.#bytes.subarray(this.#at, end) : undefined;
    this.#at = taken ? end : this.#bytes.length + 1;
    return taken;
  }
}
