import { window } from 'vscode';
import { columns } from '../../documents/columns.ts';
import type { Report } from '../../documents/reportTexts.ts';
import { timestamp } from '../../figures.ts';
import type { Notifier } from '../../notifier.ts';
import { plain } from '../../plainText.ts';
import { refusalOf } from '../core/grants.ts';
import type { Vault } from '../core/vaultContract.ts';
import { grantee, grantWords, limitsWord, refusalWord } from './grantWords.ts';
import { sentenceOf } from './reviewRequests.ts';
import { vaultNotices } from './vaultNotices.ts';

/** Every grant of the open vaults with whether it is in force; the chosen one is revoked after a question. */
export async function listGrants(vaults: readonly Vault[], notifier: Notifier, now: number): Promise<void> {
  const lines = vaults.flatMap((vault) =>
    vault
      .grants()
      .filter(({ state }) => state === 'accepted' || state === 'pending')
      .map((grant) => ({
        label: sentenceOf(vault, grant),
        description: refusalWord(refusalOf(grant, vault.get(grant.item)?.version, now)),
        detail: [limitsWord(grant.limits), grantWords.used(grant.used)].join(' · '),
        vault,
        grant,
      })),
  );
  if (lines.length === 0) {
    notifier.show(vaultNotices.noGrants());
    return;
  }
  const chosen = await window.showQuickPick(lines, { title: grantWords.list(), matchOnDetail: true });
  if (!chosen) return;
  const { text, button } = grantWords.revokeQuestion(chosen.label);
  if ((await window.showWarningMessage(text, { modal: true }, button)) !== button) return;
  await chosen.vault.revoke(chosen.grant.id);
  notifier.show(vaultNotices.revoked());
}

/** Who used what, where and when, newest first; a value is nowhere in it. */
export function usesReport(vaults: readonly Vault[]): Report {
  const title = grantWords.usesTitle();
  const uses = vaults.flatMap((vault) => vault.uses()).sort((a, b) => b.at - a.at);
  const rows = uses.map(({ at, principal, item, field, host }) => [
    timestamp(at),
    principal === 'person' ? grantWords.person() : grantee(principal),
    plain(item),
    plain(field),
    plain(host === '' ? '–' : host),
  ]);
  const body = rows.length === 0 ? grantWords.usesEmpty() : columns([grantWords.usesHead(), ...rows]);
  return { title, text: `${title}\n${'='.repeat(Array.from(title).length)}\n\n${body}\n` };
}
