import { QuickPickItemKind, ThemeIcon, window, type QuickPickItem } from 'vscode';
import { plain } from '../../plainText.ts';
import type { ItemSummary } from '../core/items.ts';
import type { Vault } from '../core/vaultContract.ts';
import type { VaultKind } from '../core/vaultState.ts';
import type { VaultTarget } from './vaultTarget.ts';
import { editWords, itemKindWord, revealWords, vaultName } from './vaultWords.ts';

export interface ChosenItem {
  readonly vault: Vault;
  readonly item: ItemSummary;
}

/** The item that a command names, or one that a person chooses. Undefined where there is none, or it is turned away. */
export async function chooseItem(
  vaults: readonly Vault[],
  target: VaultTarget,
): Promise<ChosenItem | 'no-items' | undefined> {
  if (target.item !== undefined) {
    const vault = vaults.find(({ kind }) => kind === target.kind);
    const item = vault?.get(target.item);
    if (vault && item) return { vault, item };
  }
  const lines = vaults.flatMap((vault): (QuickPickItem & Partial<ChosenItem>)[] => [
    { label: vaultName(vault.kind), kind: QuickPickItemKind.Separator },
    ...vault.list().map((item) => ({
      label: plain(item.title),
      description: itemKindWord(item.kind),
      vault,
      item,
    })),
  ]);
  if (!lines.some(({ item }) => item)) return 'no-items';
  const chosen = await window.showQuickPick(lines, {
    title: revealWords.chooseItem(),
    matchOnDescription: true,
  });
  return chosen?.vault && chosen.item ? { vault: chosen.vault, item: chosen.item } : undefined;
}

/** The field that a command names, or one that a person chooses where there are several. */
export async function chooseField(item: ItemSummary, name: string | undefined): Promise<string | undefined> {
  const named = item.fields.find((field) => field.name === name);
  if (named) return named.name;
  const [only, ...others] = item.fields;
  if (only && others.length === 0) return only.name;
  const chosen = await window.showQuickPick(
    item.fields.map((field) => ({ label: plain(field.name), name: field.name })),
    { title: revealWords.chooseField(item.title) },
  );
  return chosen?.name;
}

/** One of the vaults, where there is more than one. */
export async function chooseVault(vaults: readonly Vault[]): Promise<Vault | undefined> {
  const kind = await chooseVaultKind(vaults.map((vault) => vault.kind));
  return vaults.find((vault) => vault.kind === kind);
}

/** One of these kinds, where there is more than one. */
export async function chooseVaultKind(kinds: readonly VaultKind[]): Promise<VaultKind | undefined> {
  const [only, ...others] = kinds;
  if (only && others.length === 0) return only;
  const chosen = await window.showQuickPick(
    kinds.map((kind) => ({
      label: vaultName(kind),
      detail: kind === 'agents' ? editWords.agentsDetail() : editWords.personalDetail(),
      iconPath: new ThemeIcon(kind === 'agents' ? 'robot' : 'person'),
      vault: kind,
    })),
    { title: editWords.chooseVault() },
  );
  return chosen?.vault;
}
