import { UserError } from '../../../protocol/src/errors.ts';
import { brokerWords } from '../agentMessages.ts';
import type { Authorization, KeyVault } from '../keys/keyVault.ts';
import { createScrubber } from '../keys/scrubber.ts';
import type { VaultKeys } from '../vault/vaultKeys.ts';
import { connectionKindFacts, type NetworkKind } from './connectionKinds.ts';
import { originOf, type SavedConnection } from './connectionStore.ts';

/** The keys of connections: their own ones, and values of the vault. */
export class ConnectionKeys {
  readonly #own: Pick<KeyVault, 'authorize'>;
  readonly #values: Pick<VaultKeys, 'authorize'>;

  constructor(own: Pick<KeyVault, 'authorize'>, values: Pick<VaultKeys, 'authorize'>) {
    this.#own = own;
    this.#values = values;
  }

  /** The headers with the key of a connection. Rejects where the key that it needs is not there, with the way out. */
  async authorize(connection: SavedConnection, kind: NetworkKind): Promise<Authorization> {
    const facts = connectionKindFacts[kind];
    const none = { headers: {}, scrubber: createScrubber(undefined) };
    if (facts.key === 'none') return none;
    const { id, name, hasKey, vaultKey } = connection;
    const origin = originOf(connection);
    if (vaultKey) return this.#values.authorize({ id, name, origin }, vaultKey, facts.keyHeader);
    const found = await this.#own.authorize(id, origin, facts.keyHeader);
    if (typeof found !== 'string') return found;
    if (found === 'none' && facts.key === 'optional' && !hasKey) return none;
    switch (found) {
      case 'lost':
        throw new UserError('unreadable', brokerWords.keyLost(name));
      case 'other-origin':
        throw new UserError('conflict', brokerWords.keyDropped(name));
      case 'none':
        throw new UserError('unreadable', hasKey ? brokerWords.keyGone(name) : brokerWords.noKey(name));
    }
  }
}
