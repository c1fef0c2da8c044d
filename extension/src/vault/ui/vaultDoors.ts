import { window } from 'vscode';
import type { Notifier } from '../../notifier.ts';
import type { Presence } from '../../presence/presence.ts';
import type { PresenceAct } from '../../presence/presenceAct.ts';
import { passwordOf, shortestPassword } from '../core/passwordKey.ts';
import { parseSecretKey } from '../core/secretKey.ts';
import type { Vault } from '../core/vaultContract.ts';
import type { VaultKind } from '../core/vaultState.ts';
import type { Vaults } from '../life/vaults.ts';
import type { VaultSecrets } from '../life/vaultSecrets.ts';
import { newSecret, secretBox } from './secretBox.ts';
import { showKit } from './showKit.ts';
import { vaultNotices } from './vaultNotices.ts';
import { lifeWords, statusExplanation, statusWord, vaultName } from './vaultWords.ts';

export interface VaultDoorsOptions {
  readonly vaults: Vaults;
  readonly secrets: VaultSecrets;
  readonly person: Presence;
  readonly notifier: Notifier;
}

/** Creating, opening, recovering and locking, as a person does it. */
export class VaultDoors {
  readonly #options: VaultDoorsOptions;

  constructor(options: VaultDoorsOptions) {
    this.#options = options;
  }

  /** The vault, opened or created by the person where need be; undefined where they turned away, after words. */
  async need(kind: VaultKind): Promise<Vault | undefined> {
    const { vaults } = this.#options;
    vaults.personal.look();
    const open = await vaults.find(kind);
    if (open) return open;
    if (vaults[kind].status.state === 'absent') await this.create(kind);
    else await this.open(kind);
    return vaults.find(kind);
  }

  async create(kind: VaultKind): Promise<void> {
    const { vaults, notifier } = this.#options;
    if (kind === 'agents') {
      const { recoveryKey, isKept } = await vaults.agents.create();
      if (!isKept) notifier.show(vaultNotices.failed(statusExplanation({ state: 'not-kept' })));
      await showKit({ use: 'recovery', secretKey: recoveryKey, vaultId: idOf(vaults, kind) }, notifier);
    } else {
      const text = await this.askNewPassword(lifeWords.createTitle());
      if (text === undefined) return;
      using password = passwordOf(text);
      const { secretKey } = await vaults.personal.create(password);
      await showKit({ use: 'personal', secretKey, vaultId: idOf(vaults, kind) }, notifier);
      await this.#offerToKeep(secretKey);
    }
    notifier.show(vaultNotices.vaultCreated(vaultName(kind)));
  }

  /** Opens it: by the device key, or by password and Secret Key. Says why not. */
  async open(kind: VaultKind): Promise<void> {
    if (kind === 'personal') await this.#unlock();
    else {
      const { agents } = this.#options.vaults;
      await agents.retry();
      this.#sayState(kind);
    }
  }

  async recover(): Promise<void> {
    const { vaults, notifier } = this.#options;
    const key = await secretBox({
      title: lifeWords.recoverTitle(),
      prompt: lifeWords.recoveryKey(),
      accept: secretKeyProblem,
    });
    if (key === undefined) return;
    const state = await vaults.agents.recover(key);
    if (state === 'wrong-secret-key') notifier.show(vaultNotices.wrongRecoveryKey());
    else if (state === 'open') notifier.show(vaultNotices.opened(vaultName('agents')));
    else this.#sayState('agents');
  }

  /** A whole older file that was put back, or one whose age can't be told: opened after presence. */
  async openOlder(kind: VaultKind): Promise<void> {
    const { vaults, person } = this.#options;
    const actNow = (): PresenceAct => {
      const { status } = vaults[kind];
      const digest = status.state === 'rolled-back' ? `${status.counter} of ${status.known}` : status.state;
      return { name: 'restore', path: vaultName(kind), digest, why: 'stale' };
    };
    const proof = await person.prove(actNow());
    if (!proof) return;
    // What lies there may be another file by now.
    if (kind === 'agents') await vaults.agents.retry();
    if (!person.spend(proof, actNow())) {
      this.#sayState(kind);
      return;
    }
    if (kind === 'agents') {
      await vaults.agents.retry({ openOlder: true });
      this.#sayState(kind);
    } else await this.#unlock({ openOlder: true });
  }

  lock(): void {
    const { vaults, notifier } = this.#options;
    const isOpen = [vaults.agents, vaults.personal].some(({ status }) => status.state === 'open');
    vaults.lock();
    notifier.show(isOpen ? vaultNotices.locked() : vaultNotices.nothingToLock());
  }

  async changePassword(): Promise<void> {
    const { vaults, secrets, notifier } = this.#options;
    const vault = vaults.personal.use() ?? ((await this.need('personal')) && vaults.personal.use());
    if (!vault) return;
    const title = lifeWords.unlockTitle();
    const current = await secretBox({ title, prompt: lifeWords.password(), accept: () => undefined });
    if (current === undefined) return;
    const secretKey = (await secrets.secretKey()) ?? (await this.#askSecretKey());
    const text = secretKey === undefined ? undefined : await this.askNewPassword(title);
    if (secretKey === undefined || text === undefined) return;
    using before = passwordOf(current);
    using next = passwordOf(text);
    await vault.changePassword({ password: before, secretKey }, next);
    notifier.show(vaultNotices.passwordChanged());
  }

  askNewPassword(title: string): Promise<string | undefined> {
    return newSecret({
      title,
      prompt: lifeWords.newPassword(),
      repeat: lifeWords.repeat(),
      problem: (text) => (Buffer.byteLength(text) < shortestPassword ? lifeWords.short() : undefined),
      differs: lifeWords.differs(),
    });
  }

  /** The box stays until the password fits, so that a slip costs no more than another try. */
  async #unlock(options: { readonly openOlder?: boolean } = {}): Promise<void> {
    const { vaults, secrets, notifier } = this.#options;
    vaults.personal.look();
    if (vaults.personal.status.state === 'absent') return this.create('personal');
    const kept = await secrets.secretKey();
    const secretKey = kept ?? (await this.#askSecretKey());
    if (secretKey === undefined) return;
    let end: string | undefined;
    await secretBox({
      title: lifeWords.unlockTitle(),
      prompt: lifeWords.password(),
      accept: async (text) => {
        using password = passwordOf(text);
        const result = await vaults.personal.unlock({ password, secretKey }, options);
        end = result.state;
        switch (result.state) {
          case 'wrong-password':
            return result.waitMs > 0 ? lifeWords.wait(result.waitMs) : lifeWords.wrongPassword();
          case 'wait':
            return lifeWords.wait(result.waitMs);
          default:
            return undefined;
        }
      },
    });
    if (end === 'wrong-secret-key') {
      if (kept !== undefined) await secrets.forgetSecretKey();
      notifier.show(vaultNotices.failed(lifeWords.wrongSecretKey()));
    } else if (end === 'open') {
      notifier.show(vaultNotices.opened(vaultName('personal')));
      if (kept === undefined) await this.#offerToKeep(secretKey);
    } else if (end !== undefined) this.#sayState('personal');
  }

  #askSecretKey(): Promise<string | undefined> {
    return secretBox({
      title: lifeWords.unlockTitle(),
      prompt: lifeWords.secretKey(),
      accept: secretKeyProblem,
    });
  }

  async #offerToKeep(secretKey: string): Promise<void> {
    const { text, button } = lifeWords.keepSecretKey();
    // Not waited for: the question may stay as long as it likes.
    void window.showInformationMessage(text, button).then(async (chosen) => {
      if (chosen === button) await this.#options.secrets.keepSecretKey(secretKey);
    });
  }

  #sayState(kind: VaultKind): void {
    const { vaults, notifier } = this.#options;
    const { status } = vaults[kind];
    if (status.state === 'open') notifier.show(vaultNotices.opened(vaultName(kind)));
    else
      notifier.show(
        vaultNotices.notOpen(vaultName(kind), `${statusWord(status) ?? ''}. ${statusExplanation(status)}`),
      );
  }
}

function secretKeyProblem(text: string): string | undefined {
  const parsed = parseSecretKey(text);
  parsed?.secret.wipe();
  return parsed ? undefined : lifeWords.secretKeyProblem();
}

function idOf(vaults: Vaults, kind: VaultKind): string {
  const { status } = vaults[kind];
  return status.state === 'open' ? status.vault.id : '';
}
