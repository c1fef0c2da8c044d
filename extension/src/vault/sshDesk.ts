import { Buffer } from 'node:buffer';
import type { ParamsOf, ResultOf } from '../../../protocol/src/contract.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { parsePlace } from '../../../protocol/src/places.ts';
import type { vaultPersonRequests } from '../../../protocol/src/vault.ts';
import { isSignature } from './core/ed25519.ts';
import type { Grant } from './core/grants.ts';
import type { ItemSummary } from './core/items.ts';
import type { Vault } from './core/vaultContract.ts';
import { VaultError } from './core/vaultState.ts';
import { coversWanted, type Wanted } from './grants.ts';
import { releaseWords, sshWords } from './releaseWords.ts';
import { keyOfLine, parseSignIn, rawKey } from './sshWire.ts';

type Requests = typeof vaultPersonRequests;
type Asked = Pick<ParamsOf<Requests['vault/sshKeys']>, 'place' | 'host' | 'port'>;

export interface SshDeskOptions {
  readonly openVaults: () => Promise<readonly Vault[]>;
  /** Puts the request with this id to the person, and resolves when they answered it or turned away. */
  readonly review: (grant: string) => Promise<void>;
  readonly now: () => number;
}

interface KeyPair {
  readonly vault: Vault;
  readonly item: ItemSummary;
  /** On the wire (RFC 4253, section 6.6). */
  readonly publicKey: Buffer;
}

/** An SSH server gives up after a few keys that it does not know (`MaxAuthTries`, 6), and others are tried besides. */
const mostKeys = 4;
const privateKey = 'private-key';
const publicKey = 'public-key';
const use = { kind: 'sshSignature' } as const;

/**
 * Signs in to places with key pairs of the vault. What is signed is a request to be let in with exactly that key, and
 * nothing else; each signature is under a person's grant for the place, and a line in the vault's log before it is made.
 */
export class SshDesk {
  readonly #options: SshDeskOptions;

  constructor(options: SshDeskOptions) {
    this.#options = options;
  }

  /** Public keys to offer to a host, those that may sign without a question first. */
  async keys(asked: Asked): Promise<ResultOf<Requests['vault/sshKeys']>> {
    const keys = (await this.#pairs(asked)).map((pair) => ({
      title: pair.item.title,
      publicKey: pair.publicKey.toString('base64'),
      isGranted: this.#covering(pair, asked) !== undefined,
    }));
    return keys.sort((a, b) => Number(b.isGranted) - Number(a.isGranted)).slice(0, mostKeys);
  }

  /**
   * Rejects with `bad-message` for what is no request to be let in with that key, and with `permission-needed` where no
   * person lets it sign.
   */
  async sign(
    { data, mayAsk, publicKey: key, ...asked }: ParamsOf<Requests['vault/sshSign']>,
    signal: AbortSignal,
  ): Promise<ResultOf<Requests['vault/sshSign']>> {
    const bytes = Buffer.from(data, 'base64');
    const signIn = parseSignIn(bytes);
    if (!signIn || signIn.publicKey.toString('base64') !== key)
      throw new UserError('bad-message', sshWords.noSignIn());
    const pairs = (await this.#pairs(asked)).filter((each) => each.publicKey.equals(signIn.publicKey));
    const pair = pairs.find((each) => this.#covering(each, asked)) ?? pairs[0];
    if (!pair) throw needed(sshWords.noKey(asked.host));
    try {
      const grant = this.#covering(pair, asked) ?? (await this.#ask(pair, asked, mayAsk));
      if (signal.aborted) throw new UserError('cancelled', sshWords.cancelled());
      await pair.vault.consume(grant.id, { host: `${signIn.user}@${asked.host}:${asked.port}` });
      const signature = await pair.vault.sign(pair.item.id, bytes);
      const raw = rawKey(signIn.publicKey);
      if (!raw || !isSignature(raw, bytes, signature)) throw needed(sshWords.twoKeys(pair.item.title));
      return { signature: signature.toString('base64') };
    } catch (error) {
      if (error instanceof VaultError) throw needed(sshWords.refused(pair.item.title, error.code));
      throw error;
    }
  }

  async #ask(pair: KeyPair, asked: Asked, mayAsk: boolean): Promise<Grant> {
    const { title } = pair.item;
    if (!mayAsk) throw needed(sshWords.noGrant(title, asked.place));
    const { principal, scope } = wantedOf(pair, asked);
    const { id } = await pair.vault.ask({
      item: pair.item.id,
      field: privateKey,
      principal,
      scope,
      use,
      reason: '',
      limits: { count: null, until: null },
    });
    await this.#options.review(id);
    const grant = this.#covering(pair, asked);
    if (!grant) throw needed(sshWords.noGrant(title, asked.place));
    return grant;
  }

  #covering(pair: KeyPair, asked: Asked): Grant | undefined {
    const now = this.#options.now();
    const version = pair.vault.get(pair.item.id)?.version;
    return pair.vault
      .grants()
      .find((grant) => grant.itemVersion === version && coversWanted(grant, wantedOf(pair, asked), now));
  }

  /** The key pairs that may be used for a host: an item that was saved for some hosts is for no other. */
  async #pairs({ host, port }: Asked): Promise<readonly KeyPair[]> {
    const names: readonly string[] = [host.toLowerCase(), `${host.toLowerCase()}:${port}`];
    const pairs: KeyPair[] = [];
    for (const vault of await this.#options.openVaults())
      for (const item of vault.list()) {
        const isFor =
          item.hosts.length === 0 || item.hosts.some((each) => names.includes(each.toLowerCase()));
        if (item.kind !== 'keyPair' || !isFor || !hasBoth(item)) continue;
        const key = await publicKeyOf(vault, item);
        if (key) pairs.push({ vault, item, publicKey: key });
      }
    return pairs;
  }
}

function wantedOf({ item }: KeyPair, { place }: Asked): Wanted {
  const kind = parsePlace(place)?.kind;
  if (kind !== 'ssh' && kind !== 'slurm') throw new UserError('bad-message', sshWords.noPlace());
  return { principal: `place:${place}`, scope: '', wish: { item: item.id, field: privateKey, use } };
}

function hasBoth({ fields }: ItemSummary): boolean {
  return [privateKey, publicKey].every((name) => fields.some((field) => field.name === name));
}

/** Undefined for another kind of key, and for one that does not open: others are still of use. */
async function publicKeyOf(vault: Vault, { id, version }: ItemSummary): Promise<Buffer | undefined> {
  try {
    using line = await vault.open(id, publicKey, version);
    return line.use(keyOfLine);
  } catch (error) {
    if (error instanceof VaultError) return undefined;
    throw error;
  }
}

function needed(detail: string): UserError {
  return new UserError('permission-needed', detail, { remedy: releaseWords.lookAtVault() });
}
