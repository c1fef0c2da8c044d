import { l10n, window } from 'vscode';
import { plain } from '../../plainText.ts';
import type { ItemDraft, ItemSummary } from '../core/items.ts';
import type { Secret } from '../core/secret.ts';
import type { Vault } from '../core/vaultContract.ts';

const t = l10n.t;

/** How long the values stay in memory for an undo. */
const undoLifeMs = 120_000;

/** An item that is about to be removed, with the values of its versions, as long as the way back is offered. */
export interface RemovedItem {
  /** Resolves when the message is gone or two minutes are over; the item is back where its button was pressed. */
  offerUndo(): Promise<void>;
  wipe(): void;
}

/** Unseals what an undo needs. The caller wipes it. */
export async function removedItem(vault: Vault, item: ItemSummary): Promise<RemovedItem> {
  const values: Secret[] = [];
  const drafts: Omit<ItemDraft, 'baseVersion'>[] = [];
  const wipe = (): void => values.forEach((value) => value.wipe());
  try {
    // Oldest first, so that they get their order back.
    for (const version of [...vault.history(item.id)].reverse()) {
      const fields = [];
      for (const { name, kind } of version.fields) {
        const value = await vault.open(item.id, name, version.version);
        values.push(value);
        fields.push({ name, kind, value });
      }
      const { id, title, hosts, tags, expiresAt } = version;
      drafts.push({ id, title, kind: version.kind, fields, hosts, tags, expiresAt });
    }
  } catch (error) {
    wipe();
    throw error;
  }
  return {
    offerUndo: async () => {
      const undo = t('Undo');
      const text = t('“{0}” is removed from the vault.', plain(item.title));
      const late = Promise.withResolvers<undefined>();
      const timer = setTimeout(() => late.resolve(undefined), undoLifeMs);
      try {
        if ((await Promise.race([window.showInformationMessage(text, undo), late.promise])) !== undo) return;
      } finally {
        clearTimeout(timer);
      }
      let baseVersion = 0;
      for (const draft of drafts) baseVersion = (await vault.save({ ...draft, baseVersion })).version;
      await window.showInformationMessage(t('“{0}” is back, with its versions.', plain(item.title)));
    },
    wipe,
  };
}
