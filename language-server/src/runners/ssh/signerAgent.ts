import ssh2 from 'ssh2';
import type { BaseAgent, ParsedKey, SignCallback, SigningRequestOptions } from 'ssh2';
import type { SshSigner } from './sshPerson.ts';

/** Signers as an agent: ssh2 asks it for signatures and never sees a key. */
export function signerAgent(signers: readonly SshSigner[]): BaseAgent {
  return new SignerAgent(signers);
}

class SignerAgent extends ssh2.BaseAgent<Buffer> {
  readonly #signers: readonly SshSigner[];

  constructor(signers: readonly SshSigner[]) {
    super();
    this.#signers = signers;
  }

  override getIdentities(answer: (error?: Error | null, keys?: Buffer[]) => void): void {
    answer(
      null,
      this.#signers.map(({ publicKey }) => publicKey),
    );
  }

  override sign(
    key: Buffer,
    data: Buffer,
    options: SigningRequestOptions | SignCallback,
    answer?: SignCallback,
  ): void {
    const done = typeof options === 'function' ? options : (answer ?? (() => undefined));
    const wanted = wireOf(key);
    const signer = wanted && this.#signers.find(({ publicKey }) => publicKey.equals(wanted));
    if (!signer) {
      done(new Error('This key is not one of those that were offered'));
      return;
    }
    signer.sign(data, typeof options === 'function' ? undefined : options.hash).then(
      (signature) => done(null, signature),
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
    );
  }
}

/** ssh2 hands on what it made of the key that it was given. */
function wireOf(key: Buffer | ParsedKey): Buffer | undefined {
  return Buffer.isBuffer(key) ? key : key.getPublicSSH();
}
