import type { Buffer } from 'node:buffer';
import type { CounterStore } from './counterStore.ts';
import { openSshLine, pemOfSeed, publicKeyOf, seedOfPem, signBytes } from './ed25519.ts';
import { noContent, type FrameContent } from './frames.ts';
import { answered, asked, carried, consumed, revoked } from './grantBook.ts';
import type { Grant, GrantDraft, UseLine } from './grants.ts';
import { assertDraft, keptField, summaryOfDraft } from './itemDrafts.ts';
import type { ItemDraft, ItemSummary } from './items.ts';
import { writeBackup } from './backups.ts';
import type { PasswordDerivation } from './passwordKey.ts';
import { openRow, sealRow } from './rows.ts';
import { UnsealError } from './sealing.ts';
import { Secret } from './secret.ts';
import type { StorePlace, VaultStore } from './vaultStore.ts';
import type { Vault } from './vaultContract.ts';
import type { StoredVersion, VaultIndex } from './vaultIndex.ts';
import { VaultError, type VaultKind } from './vaultState.ts';

/** What an open vault works with. */
export interface SealedVaultOptions {
  readonly kind: VaultKind;
  readonly place: StorePlace;
  readonly store: VaultStore;
  readonly counters: CounterStore | null;
  readonly derive: PasswordDerivation;
}

/** `Vault` over sealed files. */
export class SealedVault implements Vault {
  readonly id: string;
  readonly kind: VaultKind;
  protected readonly options: SealedVaultOptions;
  #store: VaultStore | undefined;
  #isGuarded: boolean;
  readonly #listeners = new Set<() => void>();

  constructor(options: SealedVaultOptions) {
    this.options = options;
    this.id = options.store.header.id;
    this.kind = options.kind;
    this.#store = options.store;
    this.#isGuarded = options.counters !== null;
  }

  get isLocked(): boolean {
    return this.#store === undefined;
  }

  get isRollbackGuarded(): boolean {
    return this.#isGuarded;
  }

  list(): readonly ItemSummary[] {
    return this.store.index.list();
  }

  get(item: string): ItemSummary | undefined {
    return this.store.index.current(item);
  }

  history(item: string): readonly ItemSummary[] {
    return this.store.index
      .versions(item)
      .map(({ summary }) => summary)
      .reverse();
  }

  async open(item: string, field: string, version?: number): Promise<Secret> {
    await this.refresh();
    return this.#openField((index) => findVersion(index, item, version), field);
  }

  async save(draft: ItemDraft, options: { readonly carryGrants?: boolean } = {}): Promise<ItemSummary> {
    const [saved] = await this.#saveAll([draft], options.carryGrants ?? false);
    if (!saved) throw new VaultError('not-written');
    return saved;
  }

  saveAll(drafts: readonly ItemDraft[]): Promise<readonly ItemSummary[]> {
    return this.#saveAll(drafts, false);
  }

  async remove(item: string): Promise<void> {
    await this.#changed((store) =>
      store.rewrite(async (index) => ({
        change: { removed: { id: item, version: findVersion(index, item).summary.version } },
      })),
    );
  }

  async generateKeyPair(draft: Omit<ItemDraft, 'kind' | 'fields' | 'baseVersion'>): Promise<ItemSummary> {
    const seed = this.options.place.random.draw(32);
    const privateKey = Secret.own(pemOfSeed(seed));
    const publicKey = Secret.fromText(openSshLine(publicKeyOf(seed)));
    seed.fill(0);
    try {
      return await this.save({
        ...draft,
        kind: 'keyPair',
        baseVersion: 0,
        fields: [
          { name: privateKeyField, kind: 'privateKey', value: privateKey },
          { name: 'public-key', kind: 'publicKey', value: publicKey },
        ],
      });
    } finally {
      privateKey.wipe();
    }
  }

  async sign(item: string, data: Uint8Array): Promise<Buffer> {
    if (this.get(item)?.fields.every(({ name }) => name !== privateKeyField))
      throw new VaultError('no-private-key', { item });
    using pem = await this.open(item, privateKeyField);
    const seed = pem.use(seedOfPem);
    try {
      return signBytes(seed, data);
    } finally {
      seed.fill(0);
    }
  }

  grants(): readonly Grant[] {
    return this.store.index.grants();
  }

  ask(draft: GrantDraft): Promise<Grant> {
    return this.#commit((index, now) => {
      const id = this.options.place.random.draw(16).toString('hex');
      const { grant, isFresh } = asked(index, draft, id, now);
      return { contents: isFresh ? [{ ...noContent, grants: [grant] }] : [], result: grant };
    });
  }

  answer(id: string, answer: 'accepted' | 'declined', limits?: Grant['limits']): Promise<Grant> {
    return this.#commit((index, now) => {
      const grant = answered(index, id, answer, limits, now);
      return { contents: [{ ...noContent, grants: [grant] }], result: grant };
    });
  }

  async revoke(id: string): Promise<void> {
    await this.#commit((index) => {
      const grant = revoked(index, id);
      return { contents: grant ? [{ ...noContent, grants: [grant] }] : [], result: undefined };
    });
  }

  async consume(id: string, { host }: { readonly host: string }): Promise<void> {
    await this.#commit((index, now) => {
      const use = consumed(index, id, host, now);
      return { contents: [{ ...noContent, uses: [use] }], result: undefined };
    });
  }

  uses(): readonly UseLine[] {
    return this.store.index.uses().toReversed();
  }

  async note(lines: readonly Omit<UseLine, 'at'>[]): Promise<void> {
    await this.#commit((_index, now) => ({
      contents: lines.length > 0 ? [{ ...noContent, uses: lines.map((line) => ({ ...line, at: now })) }] : [],
      result: undefined,
    }));
  }

  async refresh(): Promise<boolean> {
    const hasChanged = await this.#guarded((store) => store.refresh());
    if (hasChanged) this.#tell();
    return hasChanged;
  }

  onChange(listener: () => void): Disposable {
    const own = () => listener();
    this.#listeners.add(own);
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) };
  }

  async exportBackup(path: string, passphrase: Secret): Promise<void> {
    const { place, derive } = this.options;
    await this.#guarded((store) =>
      store.copy((log, keyring, header, index) =>
        writeBackup({ path, passphrase, place, derive }, { log, keyring, header, index }),
      ),
    );
  }

  lock(): void {
    if (!this.#store) return;
    this.#store.wipe();
    this.#store = undefined;
    this.#tell();
  }

  /** Throws `locked`. */
  protected get store(): VaultStore {
    if (!this.#store) throw new VaultError('locked');
    return this.#store;
  }

  /** Changes the files, keeps the counter in its second place, and tells the listeners. */
  async #changed<T>(work: (store: VaultStore) => Promise<T>): Promise<T> {
    const before = this.store.digest;
    const result = await this.#guarded(work);
    if (this.#store && this.#store.digest !== before) {
      await this.keepCounter();
      this.#tell();
    }
    return result;
  }

  protected changed<T>(work: (store: VaultStore) => Promise<T>): Promise<T> {
    return this.#changed(work);
  }

  /** The change is made already: a second place that fails only ends the guard against older files. */
  async keepCounter(): Promise<void> {
    const { counters } = this.options;
    const { digest, header } = this.store;
    if (!counters) return;
    try {
      await counters.write(this.id, { counter: header.head.counter, digest });
      this.#isGuarded = true;
    } catch {
      this.#isGuarded = false;
    }
  }

  /** A vault that was given other keys elsewhere is locked here. */
  async #guarded<T>(work: (store: VaultStore) => Promise<T>): Promise<T> {
    try {
      return await work(this.store);
    } catch (error) {
      if (error instanceof VaultError && error.code === 'locked') this.lock();
      throw error;
    }
  }

  #commit<T>(
    plan: (
      index: VaultIndex,
      now: number,
    ) => { readonly contents: readonly FrameContent[]; readonly result: T },
  ): Promise<T> {
    return this.#changed((store) => store.commit((index) => plan(index, this.options.place.now())));
  }

  async #saveAll(drafts: readonly ItemDraft[], carryGrants: boolean): Promise<readonly ItemSummary[]> {
    for (const draft of drafts) assertDraft(draft);
    const kept = await this.#keptValues(drafts);
    try {
      return await this.#commit((index, now) => {
        const taken = new Set<string>();
        const items = drafts.map((draft) => {
          const current = index.current(draft.id);
          if (taken.has(draft.id)) throw new VaultError('changed-elsewhere', { item: draft.id });
          taken.add(draft.id);
          const summary = summaryOfDraft(draft, current, index.lastVersion(draft.id), now);
          const values = draft.fields.map((field) => field.value ?? valueOf(kept, draft, field.name));
          return { summary, row: sealRow(this.store.keyring, summary, values, this.options.place.random) };
        });
        const grants = carryGrants
          ? drafts.flatMap((draft) =>
              carried(
                index,
                draft.id,
                draft.baseVersion,
                draft.fields.map(({ name }) => name),
              ),
            )
          : [];
        return { contents: framesOf(items, grants), result: items.map(({ summary }) => summary) };
      });
    } finally {
      for (const value of kept.values()) value.wipe();
    }
  }

  /** The values of fields that a draft leaves as they are. */
  async #keptValues(drafts: readonly ItemDraft[]): Promise<Map<string, Secret>> {
    const kept = new Map<string, Secret>();
    if (drafts.every(({ fields }) => fields.every(({ value }) => value))) return kept;
    await this.refresh();
    for (const draft of drafts) {
      const current = this.store.index.current(draft.id);
      for (const field of draft.fields) {
        if (field.value) continue;
        if ((current?.version ?? 0) !== draft.baseVersion)
          throw new VaultError('changed-elsewhere', { item: draft.id, version: current?.version ?? 0 });
        keptField(field, current);
        const find = (index: VaultIndex) => findVersion(index, draft.id, draft.baseVersion);
        kept.set(`${draft.id} ${field.name}`, await this.#openField(find, field.name));
      }
    }
    return kept;
  }

  async #openField(find: (index: VaultIndex) => StoredVersion, field: string): Promise<Secret> {
    const { summary } = find(this.store.index);
    const at = summary.fields.findIndex(({ name }) => name === field);
    if (at < 0) throw new VaultError('no-such-field', { item: summary.id, field });
    const row = await this.#guarded((store) => store.readRow(find));
    try {
      return openRow(this.store.keyring, summary, row, at);
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error;
      throw new VaultError('tampered', { what: 'row-altered', item: summary.id });
    }
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

const privateKeyField = 'private-key';
const itemsOfFrame = 512;

/** Throws `no-such-item` or `no-such-version`. */
function findVersion(index: VaultIndex, item: string, version?: number): StoredVersion {
  const versions = index.versions(item);
  const found =
    version === undefined ? versions.at(-1) : versions.find((each) => each.summary.version === version);
  if (found) return found;
  throw new VaultError(versions.length === 0 ? 'no-such-item' : 'no-such-version', { item });
}

function valueOf(kept: ReadonlyMap<string, Secret>, draft: ItemDraft, field: string): Secret {
  const value = kept.get(`${draft.id} ${field}`);
  if (!value) throw new VaultError('no-such-field', { item: draft.id, field });
  return value;
}

function framesOf(items: FrameContent['items'], grants: readonly Grant[]): FrameContent[] {
  const frames: FrameContent[] = [];
  for (let at = 0; at < items.length; at += itemsOfFrame)
    frames.push({ ...noContent, items: items.slice(at, at + itemsOfFrame) });
  if (grants.length > 0) frames.push({ ...noContent, grants });
  return frames;
}
