import { generateKeyPairSync } from 'node:crypto';

/** A key pair of an SSH server, made for one use of the terminal. */
export interface TerminalHostKey {
  /** The public key's 32 bytes, base64. */
  readonly publicKey: string;
  /** The file that Dropbear reads it from: the type, then the private and the public half as one string. */
  readonly file: Buffer;
}

/** Makes an Ed25519 key from the kernel's generator as it is now. */
export function createHostKey(): TerminalHostKey {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const [secret, open] = [jwk.d, jwk.x].map((part) => Buffer.from(part ?? '', 'base64url'));
  if (secret?.length !== 32 || open?.length !== 32) throw new Error('Node made another kind of key');
  return {
    publicKey: open.toString('base64'),
    file: Buffer.concat([field(Buffer.from(keyType)), field(Buffer.concat([secret, open]))]),
  };
}

/**
 * The line of `authorized_keys` that lets in the holder of a key (32 bytes, base64) for a shell and for nothing else.
 * Throws for what is no such key, so that nothing else gets onto the line.
 */
export function authorizedKey(publicKey: string, shell: string): string {
  const bytes = Buffer.from(publicKey, 'base64');
  if (bytes.length !== 32 || /["\n\\]/.test(shell)) throw new Error('not a key and its shell');
  const options = [
    `command="${shell}"`,
    'no-port-forwarding',
    'no-agent-forwarding',
    'no-X11-forwarding',
  ].join(',');
  const key = Buffer.concat([field(Buffer.from(keyType)), field(bytes)]).toString('base64');
  return `${options} ${keyType} ${key}\n`;
}

const keyType = 'ssh-ed25519';

/** A string of RFC 4251, 5. */
function field(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
