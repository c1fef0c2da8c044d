import { Buffer } from 'node:buffer';

/** The parts of what a client signs to be let in with a key (RFC 4252, section 7), in their order. */
export interface SignInParts {
  readonly session: Buffer;
  readonly message: number;
  readonly user: string;
  readonly service: string;
  readonly method: string;
  readonly isSigned: number;
  readonly algorithm: string;
  readonly publicKey: Buffer;
  readonly rest: Buffer;
}

/** A sound request for `publicKey` with these parts in place of its own. */
export function signInBytes(publicKey: Buffer, changes: Partial<SignInParts> = {}): Buffer {
  const parts: SignInParts = {
    session: Buffer.alloc(32, 7),
    message: 50,
    user: 'who',
    service: 'ssh-connection',
    method: 'publickey',
    isSigned: 1,
    algorithm: 'ssh-ed25519',
    publicKey,
    rest: Buffer.alloc(0),
    ...changes,
  };
  return Buffer.concat([
    sshString(parts.session),
    Buffer.of(parts.message),
    sshString(parts.user),
    sshString(parts.service),
    sshString(parts.method),
    Buffer.of(parts.isSigned),
    sshString(parts.algorithm),
    sshString(parts.publicKey),
    parts.rest,
  ]);
}

/** A string of RFC 4251, section 5. */
export function sshString(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
