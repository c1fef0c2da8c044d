import { l10n, Uri, window } from 'vscode';
import { open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Notifier } from '../../notifier.ts';
import { secretKeyKit, type KitWords } from '../core/secretKey.ts';
import { vaultNotices } from './vaultNotices.ts';
import { lifeWords } from './vaultWords.ts';

const t = l10n.t;

export interface Kit {
  readonly use: 'personal' | 'recovery';
  readonly secretKey: string;
  readonly vaultId: string;
}

/**
 * Shows a key this one time, and writes it as a page to print where the person wants. Goes on until they say that they
 * have it: closing the question asks again, since nobody can give the key a second time.
 */
export async function showKit(kit: Kit, notifier: Notifier): Promise<void> {
  const { text, save, done } = lifeWords.kitShown(kit.use);
  const detail = lifeWords.kitDetail(kit.use, kit.secretKey);
  for (;;) {
    const chosen = await window.showWarningMessage(text, { modal: true, detail }, save, done);
    if (chosen === done) return;
    if (chosen === save) await saveKit(kit, notifier);
  }
}

async function saveKit(kit: Kit, notifier: Notifier): Promise<void> {
  const target = await window.showSaveDialog({
    defaultUri: Uri.file(join(homedir(), lifeWords.kitFile(kit.use))),
  });
  if (!target) return;
  const file = await open(target.fsPath, 'w', 0o600);
  try {
    await file.writeFile(secretKeyKit({ ...kit, at: Date.now(), words: kitWords() }));
    await file.chmod(0o600);
  } finally {
    await file.close();
  }
  notifier.show(vaultNotices.kitSaved(target.fsPath));
}

function kitWords(): KitWords {
  return {
    personalTitle: t('Secret Key of a Sallyport personal vault'),
    personalBody: [
      t('Together with the password it opens the vault. One without the other opens nothing.'),
      t('Keep this page where you keep papers that matter, away from the computer.'),
    ],
    recoveryTitle: t('Recovery key of a Sallyport agents’ vault'),
    recoveryBody: [
      t(
        'It opens the vault where the key of the machine is lost. Whoever has it and the file reads all of it.',
      ),
      t('Keep this page where you keep papers that matter, away from the computer.'),
    ],
    vault: t('Vault'),
    made: t('Made'),
    password: t('Password'),
  };
}
