import { l10n } from 'vscode';
import type { Notice } from '../../messages.ts';
import { plain } from '../../plainText.ts';

/** What happened, as notifications. */

const t = l10n.t;

function info(text: string): Notice {
  return { severity: 'info', text };
}

function warning(text: string): Notice {
  return { severity: 'warning', text };
}

export const vaultNotices = {
  saved: (title: string): Notice => info(t('“{0}” is sealed in the vault.', plain(title))),
  keyPairMade: (title: string): Notice =>
    info(t('“{0}” was made in the vault. Its private key has been nowhere else.', plain(title))),
  copied: (): Notice =>
    info(t('Copied. The clipboard is cleared in 30 seconds, if it still holds this value.')),
  notRevealed: (): Notice => warning(t('The item changed meanwhile, so nothing was shown.')),
  locked: (): Notice => info(t('Both vaults are locked: their keys are out of memory.')),
  nothingToLock: (): Notice => info(t('No vault is open.')),
  vaultCreated: (name: string): Notice => info(t('{0}: created.', name)),
  opened: (name: string): Notice => info(t('{0}: open.', name)),
  notOpen: (name: string, state: string): Notice => warning(t('{0}: {1}.', name, state)),
  wrongRecoveryKey: (): Notice =>
    warning(t('That recovery key is not the one of this vault. Nothing was changed.')),
  bothThere: (): Notice => info(t('There are both vaults already. The Vault view shows them.')),
  noVault: (): Notice => ({
    ...info(t('There is no vault yet, so there is nothing in it.')),
    action: { title: t('Create a Vault'), command: 'sallyport.createVault' },
  }),
  noPersonalVault: (): Notice => ({
    ...info(t('There is no personal vault yet, so it has no password.')),
    action: {
      title: t('Create a Vault'),
      command: 'sallyport.createVault',
      args: [{ vault: { kind: 'personal' } }],
    },
  }),
  noItems: (): Notice => info(t('No vault that is open has an item yet.')),
  imported: (count: number, skipped: number): Notice =>
    info(
      skipped === 0
        ? count === 1
          ? t('One item was sealed in the vault.')
          : t('{0} items were sealed in the vault.', count)
        : t('Sealed in the vault: {0}. Left out: {1}.', count, skipped),
    ),
  shredded: (file: string): Notice => info(t('{0} was overwritten and removed.', plain(file))),
  notShredded: (file: string): Notice =>
    warning(t('{0} could not be shredded: it is no ordinary file, or may not be written.', plain(file))),
  exported: (count: number, file: string): Notice =>
    warning(
      count === 1
        ? t('One item stands readable in {0}. Remove it when you are done.', plain(file))
        : t('{0} items stand readable in {1}. Remove it when you are done.', count, plain(file)),
    ),
  backedUp: (file: string): Notice =>
    info(t('The vault is sealed in {0}. It opens with the passphrase alone.', plain(file))),
  backupProblem: (text: string): Notice => warning(text),
  restored: (name: string, items: number): Notice =>
    info(
      items === 1
        ? t('{0} has one item from the backup. What was there before lies beside it.', name)
        : t('{0} has {1} items from the backup. What was there before lies beside it.', name, items),
    ),
  failed: (text: string): Notice => ({ severity: 'error', text }),
  granted: (sentence: string): Notice => info(t('Granted: {0}', sentence)),
  declined: (): Notice => info(t('Declined. Nothing was released.')),
  revoked: (): Notice => info(t('Revoked. The value is released no more.')),
  noGrants: (): Notice => info(t('Nothing of the open vaults is granted to anyone.')),
  nothingWaits: (): Notice => info(t('Nobody waits for a value.')),
  kitSaved: (file: string): Notice => info(t('Saved as {0}. Print it, then remove the file.', plain(file))),
  passwordChanged: (): Notice =>
    info(t('The password is changed, and everything is sealed under fresh keys.')),
};
