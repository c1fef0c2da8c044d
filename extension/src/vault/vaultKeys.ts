import { UserError } from '../../../protocol/src/errors.ts';
import { createScrubber } from '../../../protocol/src/scrub/scrubber.ts';
import { valueFault, type RequestUse } from '../../../remote-agent/src/vault/injection.ts';
import { brokerWords } from '../agentMessages.ts';
import { keyMark } from '../keys/scrubber.ts';
import type { Authorization, KeyHeader } from '../keys/keyVault.ts';
import type { Vault } from './core/vaultContract.ts';
import { VaultError } from './core/vaultState.ts';
import { coveringGrant, strayHost, type Wanted } from './grants.ts';
import type { ReleasedValues } from './releasedValues.ts';

/** A value of the vault that a connection takes for its key. */
export interface VaultKey {
  readonly item: string;
  readonly field: string;
}

/** A connection, as far as its key goes. `origin` is where its requests go. */
export interface KeyedConnection {
  readonly id: string;
  readonly name: string;
  readonly origin: string;
}

export interface VaultKeysOptions {
  readonly openVaults: () => Promise<readonly Vault[]>;
  /** True where there is a vault that a person would have to open first. */
  readonly hasLocked: () => boolean;
  readonly released: ReleasedValues;
  readonly now: () => number;
}

/**
 * Keys of connections that are values of the vault. Each is read for the one request that it goes into, under a grant for
 * exactly this connection, its host and the header of its kind, with a line in the vault's log before.
 */
export class VaultKeys {
  readonly #options: VaultKeysOptions;

  constructor(options: VaultKeysOptions) {
    this.#options = options;
  }

  /** Rejects with `unreadable` and what to do. */
  async authorize(connection: KeyedConnection, key: VaultKey, header: KeyHeader): Promise<Authorization> {
    const { hasLocked, now, openVaults, released } = this.#options;
    const { name } = connection;
    const wanted = wantedKey(connection, key, header);
    const { use } = wanted.wish;
    const found = coveringGrant(await openVaults(), wanted, now());
    if (!found)
      throw unreadable(hasLocked() ? brokerWords.vaultLocked(name) : brokerWords.noVaultGrant(name));
    const { vault, grant } = found;
    if (strayHost(use, vault.get(key.item)?.hosts ?? []) !== undefined)
      throw unreadable(brokerWords.noVaultGrant(name));
    try {
      using secret = await vault.open(key.item, key.field, grant.itemVersion);
      const value = secret.use((bytes) => bytes.toString('utf8'));
      if (valueFault(use, value) !== undefined) throw unreadable(brokerWords.vaultUnfit(name));
      await vault.consume(grant.id, { host: use.hosts.join(', ') });
      released.add(value);
      return {
        headers: { [header.name]: header.prefix + value },
        scrubber: createScrubber([value], keyMark),
      };
    } catch (error) {
      if (error instanceof VaultError) throw unreadable(brokerWords.vaultRefused(name, error.code));
      throw error;
    }
  }

  /**
   * Ends what a connection was granted, but for `kept`, where its vault is open. A grant for another address covers nothing
   * anyway.
   */
  async end(connection: string, kept?: VaultKey): Promise<void> {
    for (const vault of await this.#options.openVaults())
      for (const { id, principal, state, item, field } of vault.grants()) {
        const isKept = item === kept?.item && field === kept.field;
        const isAlive = state === 'accepted' || state === 'pending';
        if (principal === principalOf(connection) && isAlive && !isKept) await vault.revoke(id);
      }
  }
}

/** What a connection needs a grant for: this value, in the header of its kind, for its own host and port alone. */
export function wantedKey(
  { id, origin }: KeyedConnection,
  { item, field }: VaultKey,
  { name, prefix }: KeyHeader,
): Wanted & { readonly wish: { readonly use: RequestUse } } {
  const use: RequestUse = { kind: 'header', hosts: [hostOf(origin)], name, prefix };
  return { principal: principalOf(id), scope: '', wish: { item, field, use } };
}

function principalOf(connection: string): string {
  return `connection:${connection}`;
}

/** Without a port it would stand for the TLS port. */
function hostOf(origin: string): string {
  const { protocol, hostname, port } = new URL(origin);
  return port === '' ? `${hostname}${protocol === 'http:' ? ':80' : ''}` : `${hostname}:${port}`;
}

function unreadable(text: string): UserError {
  return new UserError('unreadable', text);
}
