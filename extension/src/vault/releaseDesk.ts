import type { ParamsOf, ResultOf } from '../../../protocol/src/contract.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { tooShort } from '../../../protocol/src/scrub/scrubber.ts';
import type { ReleasedValue, vaultPersonRequests, VaultWish } from '../../../protocol/src/vault.ts';
import type { Grant } from './core/grants.ts';
import type { Vault } from './core/vaultContract.ts';
import { VaultError } from './core/vaultState.ts';
import { coveringGrant, strayHost, type Wanted } from './grants.ts';
import type { ReleasedValues } from './releasedValues.ts';
import { releaseWords } from './releaseWords.ts';
import { sealValue } from './sealValue.ts';

type Requests = typeof vaultPersonRequests;

export interface ReleaseDeskOptions {
  /** The vaults that are open, the agents' one first. */
  readonly openVaults: () => Promise<readonly Vault[]>;
  /** True where there is a vault that a person would have to open first. */
  readonly hasLocked: () => boolean;
  readonly released: ReleasedValues;
  readonly now: () => number;
}

interface Found {
  readonly vault: Vault;
  readonly grant: Grant;
  readonly wish: VaultWish;
}

/**
 * Gives values out: only under a person's grant for exactly this principal, project, field and use, only sealed to the
 * one who uses them, and each with a line in the vault's log that is written first.
 */
export class ReleaseDesk {
  readonly #options: ReleaseDeskOptions;

  constructor(options: ReleaseDeskOptions) {
    this.#options = options;
  }

  /** All or nothing. Rejects with `permission-needed`; what is not granted waits for a person from then on. */
  async release(params: ParamsOf<Requests['vault/release']>): Promise<ResultOf<Requests['vault/release']>> {
    const { principal, scope, jobId, recipient, wishes } = params;
    assertCard(principal);
    const vaults = await this.#options.openVaults();
    const found: Found[] = [];
    for (const wish of wishes) found.push(await this.#find(vaults, { principal, scope, wish }));
    const values: ReleasedValue[] = [];
    for (const { vault, grant, wish } of found) {
      await vault
        .consume(grant.id, { host: 'hosts' in wish.use ? wish.use.hosts.join(', ') : '' })
        .catch((error: unknown) => {
          throw refusal(error, wish);
        });
      values.push({ grant: grant.id, wish, sealed: await this.#seal(vault, grant, wish, jobId, recipient) });
    }
    return { values };
  }

  async covered({
    principal,
    scope,
    wishes,
  }: ParamsOf<Requests['vault/covered']>): Promise<ResultOf<Requests['vault/covered']>> {
    assertCard(principal);
    const vaults = await this.#options.openVaults();
    return {
      covered: wishes.map((wish) => this.#covering(vaults, { principal, scope, wish }) !== undefined),
    };
  }

  async names(): Promise<ResultOf<Requests['vault/names']>> {
    const vaults = await this.#options.openVaults();
    return vaults.flatMap((vault) =>
      vault.list().map(({ id, title, kind, fields, hosts }) => ({
        item: id,
        title,
        kind,
        fields: fields.map(({ name }) => name),
        hosts: [...hosts],
      })),
    );
  }

  /** Waits as pending where a person has not answered yet. Rejects with `not-found` where there is no such field. */
  async ask({
    reason,
    ...wanted
  }: ParamsOf<Requests['vault/ask']>): Promise<ResultOf<Requests['vault/ask']>> {
    assertCard(wanted.principal);
    const vaults = await this.#options.openVaults();
    const covering = this.#covering(vaults, wanted);
    if (covering) return { grant: covering.grant.id, state: 'accepted' };
    const vault = this.#holding(vaults, wanted.wish);
    if (!vault) throw notFound(wanted.wish, this.#options.hasLocked());
    assertHosts(vault, wanted.wish);
    const grant = await askFor(vault, wanted, reason).catch((error: unknown) => {
      throw refusal(error, wanted.wish);
    });
    return { grant: grant.id, state: 'pending' };
  }

  async #find(vaults: readonly Vault[], wanted: Wanted): Promise<Found> {
    const { wish } = wanted;
    const covering = this.#covering(vaults, wanted);
    if (covering) {
      assertHosts(covering.vault, wish);
      return { ...covering, wish };
    }
    const vault = this.#holding(vaults, wish);
    if (!vault) throw notFound(wish, this.#options.hasLocked());
    assertHosts(vault, wish);
    // A person finds it among what waits; that it could not be put there changes nothing about the answer.
    await askFor(vault, wanted, '').catch(() => undefined);
    throw needed(releaseWords.noGrant(wish), releaseWords.answerIt());
  }

  #covering(vaults: readonly Vault[], wanted: Wanted): { vault: Vault; grant: Grant } | undefined {
    return coveringGrant(vaults, wanted, this.#options.now());
  }

  #holding(vaults: readonly Vault[], { item, field }: VaultWish): Vault | undefined {
    return vaults.find((vault) => vault.get(item)?.fields.some(({ name }) => name === field));
  }

  async #seal(
    vault: Vault,
    grant: Grant,
    wish: VaultWish,
    jobId: string,
    recipient: string,
  ): Promise<ReleasedValue['sealed']> {
    using secret = await vault.open(wish.item, wish.field, grant.itemVersion).catch((error: unknown) => {
      throw refusal(error, wish);
    });
    return secret.use((bytes) => {
      const text = bytes.toString('utf8');
      if (tooShort([text]).length > 0) throw needed(releaseWords.tooShort(wish), releaseWords.useLonger());
      this.#options.released.add(text);
      return sealValue(recipient, { jobId, grant: grant.id, wish }, bytes);
    });
  }
}

/**
 * Values are sealed for cards alone. What was granted to a plugin, a place or a connection is put into a request or signs
 * here; sealed to a key that the engine names, it would be the engine's.
 */
function assertCard(principal: string): void {
  if (!principal.startsWith('card:')) throw new UserError('bad-message', releaseWords.onlyCards());
}

function askFor(vault: Vault, { principal, scope, wish }: Wanted, reason: string): Promise<Grant> {
  const { item, field, use } = wish;
  return vault.ask({ item, field, principal, scope, use, reason, limits: { count: null, until: null } });
}

function assertHosts(vault: Vault, wish: VaultWish): void {
  const hosts = vault.get(wish.item)?.hosts ?? [];
  const stray = strayHost(wish.use, hosts);
  if (stray !== undefined) throw needed(releaseWords.strayHost(wish, stray), releaseWords.addHost());
}

/** `isLocked`: another answer may come when a person has unlocked a vault. */
function notFound({ item, field }: VaultWish, hasLocked: boolean): UserError {
  const remedy = hasLocked ? releaseWords.unlockOrSave() : releaseWords.saveIt();
  const data = { remedy, isLocked: hasLocked };
  return new UserError('permission-needed', releaseWords.notFound(item, field), data);
}

function needed(detail: string, remedy: string): UserError {
  return new UserError('permission-needed', detail, { remedy });
}

/** What the vault says, without its cause: that may hold more than is to be told. */
function refusal(error: unknown, wish: VaultWish): UserError {
  if (error instanceof UserError) return error;
  const code = error instanceof VaultError ? error.code : 'internal';
  return needed(releaseWords.refused(wish, code), releaseWords.lookAtVault());
}
