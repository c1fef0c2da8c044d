import { Uri, window } from 'vscode';
import { open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import type { Notifier } from '../../notifier.ts';
import { plain } from '../../plainText.ts';
import type { Presence } from '../../presence/presence.ts';
import type { PresenceAct } from '../../presence/presenceAct.ts';
import type { ItemSummary } from '../core/items.ts';
import type { Vault } from '../core/vaultContract.ts';
import { vaultNotices } from './vaultNotices.ts';
import { importWords, itemKindWord } from './vaultWords.ts';

/** Writes chosen items, readable, to one new file of mode 0600, after presence for exactly these and that path. */
export async function exportItems(
  vault: Vault,
  { person, notifier }: { readonly person: Presence; readonly notifier: Notifier },
): Promise<void> {
  if (vault.list().length === 0) {
    notifier.show(vaultNotices.noItems());
    return;
  }
  const chosen = await window.showQuickPick(
    vault.list().map((item) => ({
      label: plain(item.title),
      description: itemKindWord(item.kind),
      item,
    })),
    { title: importWords.exportTitle(), placeHolder: importWords.exportPick(), canPickMany: true },
  );
  if (!chosen || chosen.length === 0) return;
  const target = await window.showSaveDialog({
    title: importWords.exportTitle(),
    defaultUri: Uri.file(join(homedir(), 'vault-export.json')),
  });
  if (!target) return;
  const path = target.fsPath;
  const actOf = (items: readonly ItemSummary[]): PresenceAct => ({
    name: 'export',
    vault: vault.kind,
    items: items.map(({ id, version }) => `${id} ${version}`).sort(),
    path,
  });
  const items = chosen.map(({ item }) => item);
  const proof = await person.prove(actOf(items));
  if (!proof) return;
  const now = items.flatMap(({ id }) => vault.get(id) ?? []);
  if (!person.spend(proof, actOf(now))) {
    notifier.show(vaultNotices.notRevealed());
    return;
  }
  await writeItems(vault, now, path);
  await vault.note(
    now.map(({ id }) => ({ grant: '', principal: 'person', item: id, field: '*', host: 'export' })),
  );
  notifier.show(vaultNotices.exported(now.length, basename(path)));
}

async function writeItems(vault: Vault, items: readonly ItemSummary[], path: string): Promise<void> {
  const written = [];
  for (const { id, title, kind, fields, hosts, tags, expiresAt } of items) {
    const values: Record<string, string> = {};
    for (const { name } of fields) {
      using value = await vault.open(id, name);
      values[name] = value.use((bytes) => bytes.toString('utf8'));
    }
    written.push({ id, title, kind, hosts, tags, expiresAt, values });
  }
  // A save dialog asked already whether a file of that name may be replaced.
  const file = await open(path, 'w', 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(`${JSON.stringify({ version: 1, items: written }, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}
