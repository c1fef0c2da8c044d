import { window, type QuickPickItem } from 'vscode';
import { together, type Disposable } from '../disposable.ts';
import { timestamp } from '../figures.ts';
import { plain } from '../plainText.ts';
import type { Services } from '../services.ts';
import { watchSettings } from './guardedSettings.ts';
import { presenceWords } from './presenceMessages.ts';

/** Manage Presence, and the watch over the settings that open something. */
export function registerPresence(services: Services): Disposable {
  const { commands, confirmations, log, notifier, person, settings } = services;
  return together(
    watchSettings({ confirmations, presence: person, settings, notifier, log }),
    commands.register('sallyport.managePresence', async () => {
      const kept = await person.factors();
      const items: (QuickPickItem & { readonly act: () => Promise<unknown> })[] = [
        ...kept.passkeys.map((passkey) => ({
          label: `$(key) ${plain(passkey.label)}`,
          description: presenceWords.passkeyAdded(timestamp(passkey.createdAt)),
          act: () => person.removePasskey(passkey),
        })),
        { label: `$(add) ${presenceWords.addPasskey()}`, act: () => person.addPasskey() },
        kept.password
          ? { label: `$(edit) ${presenceWords.changePassword()}`, act: () => person.setPassword() }
          : { label: `$(add) ${presenceWords.setPassword()}`, act: () => person.setPassword() },
        ...(kept.password
          ? [{ label: `$(trash) ${presenceWords.removePassword()}`, act: () => person.removePassword() }]
          : []),
      ];
      const chosen = await window.showQuickPick(items, {
        title: presenceWords.manageTitle(),
        matchOnDescription: true,
      });
      await chosen?.act();
    }),
  );
}
