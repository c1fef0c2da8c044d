import type { ParamsOf } from '../../../../protocol/src/contract.ts';
import type { placePersonRequests } from '../../../../protocol/src/places.ts';

type Requests = typeof placePersonRequests;
export type HostKeyQuestion = Omit<ParamsOf<Requests['place/confirmHostKey']>, 'place'>;
export type ChangedHostKey = Omit<ParamsOf<Requests['place/changedHostKey']>, 'place'>;
export type SecretQuestion = Omit<ParamsOf<Requests['place/askSecret']>, 'place'>;

/** The person, as a connection asks. A rejection counts as a no. */
export interface SshPerson {
  /** Keys of the vault that may be offered to this host. Without `mayAsk`, those that sign without a question. */
  vaultKeys(
    at: { readonly host: string; readonly port: number },
    mayAsk?: boolean,
  ): Promise<readonly SshSigner[]>;
  confirmHostKey(question: HostKeyQuestion): Promise<boolean>;
  showChangedHostKey(change: ChangedHostKey): Promise<void>;
  /** One answer for each prompt; null where the person declines. */
  askSecret(question: SecretQuestion): Promise<readonly string[] | null>;
}

/** A person who may not be asked now: every question is declined, and what they granted before still counts. */
export function unattended(person: SshPerson): SshPerson {
  return {
    vaultKeys: (at) => person.vaultKeys(at, false),
    confirmHostKey: () => Promise.resolve(false),
    showChangedHostKey: () => Promise.resolve(),
    askSecret: () => Promise.resolve(null),
  };
}

/** A key that can sign and can't be read, such as one of the vault. */
export interface SshSigner {
  /** For people: how the key is called. */
  readonly name: string;
  /** The public key on the wire (RFC 4253, 6.6). */
  readonly publicKey: Buffer;
  /** A raw signature of its key type over `data`; `hash` is wanted for RSA keys. */
  sign(data: Buffer, hash: 'sha1' | 'sha256' | 'sha512' | undefined): Promise<Buffer>;
}
