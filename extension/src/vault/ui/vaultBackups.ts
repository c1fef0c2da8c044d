import { QuickPickItemKind, ThemeIcon, Uri, window, type QuickPickItem } from 'vscode';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { timestamp } from '../../figures.ts';
import type { Notifier } from '../../notifier.ts';
import { plain } from '../../plainText.ts';
import type { Presence } from '../../presence/presence.ts';
import type { PresenceAct } from '../../presence/presenceAct.ts';
import { AgentsVault } from '../core/agentsVault.ts';
import { openBackup, shortestPassphrase, type Backup, type BackupResult } from '../core/backups.ts';
import type { VaultPlace } from '../core/openOptions.ts';
import { derivePasswordKey, passwordOf } from '../core/passwordKey.ts';
import { restoreBackup, type RestoreKey, type RestoreResult } from '../core/restoreBackup.ts';
import type { Vault } from '../core/vaultContract.ts';
import { nodeFiles } from '../core/vaultFiles.ts';
import type { VaultKind } from '../core/vaultState.ts';
import type { Vaults } from '../life/vaults.ts';
import { freshDeviceKey } from '../life/vaultSecrets.ts';
import { newSecret, secretBox } from './secretBox.ts';
import { showKit } from './showKit.ts';
import type { VaultDoors } from './vaultDoors.ts';
import { vaultNotices } from './vaultNotices.ts';
import { itemKindWord, lifeWords, statusExplanation, vaultName } from './vaultWords.ts';

export interface VaultBackupsOptions {
  readonly vaults: Vaults;
  readonly places: Readonly<Record<VaultKind, VaultPlace>>;
  readonly person: Presence;
  readonly notifier: Notifier;
  readonly doors: VaultDoors;
}

/** Sealing a vault to a passphrase, and making such a file the vault of this machine. */
export class VaultBackups {
  readonly #options: VaultBackupsOptions;

  constructor(options: VaultBackupsOptions) {
    this.#options = options;
  }

  async backUp(vault: Vault): Promise<void> {
    const day = timestamp(Date.now()).slice(0, 10);
    const target = await window.showSaveDialog({
      defaultUri: Uri.file(join(homedir(), `sallyport-${vault.kind}-${day}.vault`)),
    });
    if (!target) return;
    const text = await newSecret({
      title: vaultName(vault.kind),
      prompt: lifeWords.passphrase(),
      repeat: lifeWords.repeat(),
      problem: (typed) =>
        Buffer.byteLength(typed) < shortestPassphrase ? lifeWords.passphraseShort() : undefined,
      differs: lifeWords.differs(),
    });
    if (text === undefined) return;
    using passphrase = passwordOf(text);
    await vault.exportBackup(target.fsPath, passphrase);
    this.#options.notifier.show(vaultNotices.backedUp(basename(target.fsPath)));
  }

  /** Shows what is inside before anything is done; what is older or of another vault needs presence. */
  async restore(): Promise<void> {
    const [file] = (await window.showOpenDialog({ canSelectMany: false })) ?? [];
    if (!file) return;
    const path = file.fsPath;
    const backup = await this.#open(path);
    if (!backup) return;
    try {
      if (await isWanted(backup)) await this.#restore(backup, path);
    } finally {
      backup.close();
    }
  }

  async #open(path: string): Promise<Backup | undefined> {
    let result: BackupResult | undefined;
    await secretBox({
      title: lifeWords.restoreTitle(),
      prompt: lifeWords.passphraseOf(basename(path)),
      accept: async (text) => {
        using passphrase = passwordOf(text);
        result = await openBackup(path, passphrase, { files: nodeFiles, derive: derivePasswordKey });
        return result.state === 'wrong-passphrase' ? lifeWords.wrongPassphrase() : undefined;
      },
    });
    const found = result;
    if (found?.state === 'open') return found.backup;
    if (found && found.state !== 'wrong-passphrase')
      this.#options.notifier.show(vaultNotices.backupProblem(statusExplanation(found)));
    return undefined;
  }

  async #restore(backup: Backup, path: string): Promise<void> {
    const { vaults, places, notifier, person } = this.#options;
    const key = await this.#newKey(backup.kind);
    if (!key) return;
    try {
      const place = places[backup.kind];
      let result: RestoreResult = await restoreBackup(backup, place, key, { isConfirmed: false });
      if (result.state === 'stale' || result.state === 'foreign') {
        const act: PresenceAct = { name: 'restore', path, digest: await digestOf(path), why: result.state };
        const proof = await person.prove(act);
        if (!proof || !person.spend(proof, { ...act, digest: await digestOf(path) })) return;
        result = await restoreBackup(backup, place, key, { isConfirmed: true });
      }
      if (result.state !== 'restored') return;
      const { vault, secretKey } = result;
      const isAgents = vault instanceof AgentsVault;
      if (!isAgents) vaults.personal.adopt(vault);
      else if (key.kind === 'agents' && !(await vaults.agents.adopt(vault, key.deviceKey)))
        notifier.show(vaultNotices.failed(statusExplanation({ state: 'not-kept' })));
      await showKit({ use: isAgents ? 'recovery' : 'personal', secretKey, vaultId: vault.id }, notifier);
      notifier.show(vaultNotices.restored(vaultName(vault.kind), vault.list().length));
    } finally {
      if (key.kind === 'agents') key.deviceKey.wipe();
      else key.password.wipe();
    }
  }

  async #newKey(kind: VaultKind): Promise<RestoreKey | undefined> {
    if (kind === 'agents') return { kind, deviceKey: freshDeviceKey() };
    const text = await this.#options.doors.askNewPassword(lifeWords.createTitle());
    return text === undefined ? undefined : { kind, password: passwordOf(text) };
  }
}

async function isWanted(backup: Backup): Promise<boolean> {
  const items = backup.list();
  const restore = { label: lifeWords.restoreNow(), isRestore: true };
  const lines: (QuickPickItem & { readonly isRestore?: boolean })[] = [
    { ...restore, description: lifeWords.restoreNote(), iconPath: new ThemeIcon('history') },
    {
      label: lifeWords.backupMade(backup.kind, timestamp(backup.madeAt), items.length),
      kind: QuickPickItemKind.Separator,
    },
    ...items.map((item) => ({ label: plain(item.title), description: itemKindWord(item.kind) })),
  ];
  const title = lifeWords.backupMade(backup.kind, timestamp(backup.madeAt), items.length);
  const options = { title, placeHolder: lifeWords.restoreTitle(), ignoreFocusOut: true };
  for (;;) {
    const chosen = await window.showQuickPick(lines, options);
    if (!chosen) return false;
    if (chosen.isRestore) return true;
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
