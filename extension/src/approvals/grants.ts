import { ThemeIcon, window } from 'vscode';
import type { ProjectView } from '../../../protocol/src/engine.ts';
import { agentNotices, approvalWords } from '../agentMessages.ts';
import type { Engine } from '../engine.ts';
import { timestamp } from '../figures.ts';
import type { Notifier } from '../notifier.ts';
import { plain } from '../plainText.ts';

/** Lists the grants of a project; the ones that are selected are revoked. */
export async function reviewGrants(
  { root, name }: ProjectView,
  { engine, notifier }: { readonly engine: Engine; readonly notifier: Notifier },
): Promise<void> {
  const grants = await engine.call('grant/list', { root });
  if (grants.length === 0) {
    notifier.show(agentNotices.noGrants(name));
    return;
  }
  const items = grants.map((grant) => ({
    label: approvalWords.grantLabel(grant.kind, grant.conversation !== null),
    description: grant.folder === '' ? '' : plain(grant.folder),
    detail: approvalWords.grantedAt(timestamp(grant.createdAt)),
    iconPath: new ThemeIcon('unlock'),
    grant,
  }));
  const chosen = await window.showQuickPick(items, {
    title: approvalWords.grantsTitle(name),
    placeHolder: approvalWords.grantsPlaceholder(),
    canPickMany: true,
    ignoreFocusOut: true,
  });
  if (!chosen || chosen.length === 0) return;
  let revoked = 0;
  for (const { grant } of chosen) {
    if ((await engine.call('grant/revoke', { id: grant.id })).revoked) revoked++;
  }
  notifier.show(agentNotices.grantsRevoked(revoked));
}
