import { hkdfSync, randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createAgentsVault,
  openAgentsVault,
  type AgentsVault,
} from '../../extension/src/vault/core/agentsVault.ts';
import type { CounterStore, KnownHead } from '../../extension/src/vault/core/counterStore.ts';
import type { ItemDraft } from '../../extension/src/vault/core/items.ts';
import type { OpenOptions } from '../../extension/src/vault/core/openOptions.ts';
import type { PasswordDerivation } from '../../extension/src/vault/core/passwordKey.ts';
import { Secret } from '../../extension/src/vault/core/secret.ts';

/** Stands in for scrypt where a test is about something else. */
export const quickDerivation: PasswordDerivation = async (password, salt) =>
  password.use((bytes) => Buffer.from(hkdfSync('sha256', bytes, salt, 'quick', 32)));

/** The second place of counters, in memory. */
export class MemoryCounters implements CounterStore {
  readonly known = new Map<string, KnownHead>();
  isBroken = false;

  async read(vaultId: string): Promise<KnownHead | undefined> {
    if (this.isBroken) throw new Error('no keyring');
    return this.known.get(vaultId);
  }

  async write(vaultId: string, head: KnownHead): Promise<void> {
    if (this.isBroken) throw new Error('no keyring');
    this.known.set(vaultId, head);
  }
}

/** Folders for vaults, with what opens them. `close` removes them. */
export class VaultHarness {
  readonly root = mkdtempSync(join(tmpdir(), 'sallyport-vault-'));
  readonly counters = new MemoryCounters();
  readonly deviceKey = Secret.own(randomBytes(32));
  now = Date.UTC(2026, 0, 1);

  /** The place of the vault with this name. */
  place(name = 'vault', more: Partial<OpenOptions> = {}): OpenOptions {
    return {
      folder: join(this.root, name),
      counters: this.counters,
      derive: quickDerivation,
      now: () => this.now,
      ...more,
    };
  }

  async create(name = 'vault', more: Partial<OpenOptions> = {}): Promise<AgentsVault> {
    return (await createAgentsVault(this.place(name, more), this.deviceKey)).vault;
  }

  /** Opens the agents' vault of this name, or fails with its state. */
  async open(name = 'vault', more: Partial<OpenOptions> = {}): Promise<AgentsVault> {
    const result = await openAgentsVault(this.place(name, more), this.deviceKey);
    if (result.state !== 'open') throw new Error(`It is ${JSON.stringify(result)}`);
    return result.vault;
  }

  /** The result of opening without its vault, as plain data. */
  async state(name = 'vault', more: Partial<OpenOptions> = {}): Promise<Record<string, unknown>> {
    const result = await openAgentsVault(this.place(name, more), this.deviceKey);
    if (result.state !== 'open') return { ...result };
    result.vault.lock();
    return { state: 'open' };
  }

  copy(from: string, to: string): void {
    cpSync(join(this.root, from), join(this.root, to), { recursive: true });
  }

  /** Names and contents of a folder's files, to see that nothing was touched. */
  contents(name = 'vault'): Record<string, string> {
    const folder = join(this.root, name);
    return Object.fromEntries(
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => [
          join(entry.parentPath, entry.name),
          readFileSync(join(entry.parentPath, entry.name), 'hex'),
        ]),
    );
  }

  close(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** A login with a user and a password. */
export function loginDraft(id: string, password: string, baseVersion = 0): ItemDraft {
  return {
    id,
    baseVersion,
    title: `Item ${id}`,
    kind: 'login',
    fields: [
      { name: 'user', kind: 'text', value: Secret.fromText(`user of ${id}`) },
      { name: 'password', kind: 'secret', value: Secret.fromText(password) },
    ],
    hosts: ['api.example.org'],
    tags: [],
    expiresAt: null,
  };
}

/** A value as text, wiped. */
export async function read(
  vault: Pick<AgentsVault, 'open'>,
  item: string,
  field = 'password',
  version?: number,
): Promise<string> {
  using secret = await vault.open(item, field, version);
  return secret.use((bytes) => bytes.toString());
}
