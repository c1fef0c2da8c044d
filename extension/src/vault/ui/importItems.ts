import { window, workspace, type Uri } from 'vscode';
import { basename } from 'node:path';
import type { Notifier } from '../../notifier.ts';
import { importBitwarden } from '../core/importers/bitwardenJson.ts';
import { importDotenv } from '../core/importers/dotenvFile.ts';
import { ImportError, importLimits, type Imported } from '../core/importers/imported.ts';
import { importKeepassCsv } from '../core/importers/keepassCsv.ts';
import type { Vault } from '../core/vaultContract.ts';
import { shredFile } from './shredFile.ts';
import { vaultNotices } from './vaultNotices.ts';
import { importProblem, importWords } from './vaultWords.ts';

const formats = [
  { label: importWords.formats.dotenv, read: importDotenv, extensions: ['env', '*'] },
  { label: importWords.formats.bitwarden, read: importBitwarden, extensions: ['json'] },
  { label: importWords.formats.keepass, read: importKeepassCsv, extensions: ['csv'] },
] as const;

/** Takes what another tool exported into a vault, all of it or nothing, and offers to shred the file. */
export async function importItems(vault: Vault, notifier: Notifier): Promise<void> {
  const format = await window.showQuickPick(
    formats.map(({ label, read }) => ({ label: label(), read })),
    { title: importWords.chooseFormat() },
  );
  if (!format) return;
  const [file] = (await window.showOpenDialog({ canSelectMany: false, openLabel: importWords.open() })) ?? [];
  if (!file) return;
  const name = basename(file.path);
  let imported: Imported;
  try {
    imported = format.read(await textOf(file), (id) => vault.get(id) !== undefined);
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    notifier.show(vaultNotices.failed(importProblem(error, name)));
    return;
  }
  try {
    if (!(await isWanted(name, imported, notifier))) return;
    await vault.saveAll(imported.drafts);
    notifier.show(vaultNotices.imported(imported.drafts.length, imported.skipped.length));
  } finally {
    for (const { fields } of imported.drafts) for (const { value } of fields) value?.wipe();
  }
  await offerShredding(file, name, notifier);
}

async function isWanted(name: string, imported: Imported, notifier: Notifier): Promise<boolean> {
  if (imported.drafts.length === 0) {
    notifier.show(vaultNotices.failed(importWords.nothing()));
    return false;
  }
  const shown = imported.skipped.slice(0, 10).map(({ at, why }) => importWords.skipped(at, why));
  const rest = imported.skipped.length - shown.length;
  const skipped = rest > 0 ? [...shown, importWords.more(rest)] : shown;
  const { text, detail, button } = importWords.question(name, imported.drafts.length, skipped);
  return (await window.showInformationMessage(text, { modal: true, detail }, button)) === button;
}

async function offerShredding(file: Uri, name: string, notifier: Notifier): Promise<void> {
  const { text, detail, button } = importWords.shredQuestion(name);
  if ((await window.showWarningMessage(text, { modal: true, detail }, button)) !== button) return;
  const isGone = file.scheme === 'file' && (await shredFile(file.fsPath));
  notifier.show(isGone ? vaultNotices.shredded(name) : vaultNotices.notShredded(name));
}

async function textOf(file: Uri): Promise<string> {
  const { size } = await workspace.fs.stat(file);
  if (size > importLimits.characters) throw new ImportError('too-large');
  return new TextDecoder().decode(await workspace.fs.readFile(file));
}
