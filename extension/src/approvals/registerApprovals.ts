import { window } from 'vscode';
import { parseTarget } from '../commandTarget.ts';
import { together, type Disposable } from '../disposable.ts';
import { choose, notices } from '../messages.ts';
import { plain } from '../plainText.ts';
import type { Services } from '../services.ts';
import { watchWaitingPermissions } from './permissionNotice.ts';

/** Review Permissions, Revoke Permission, and the notice that permissions wait. */
export function registerApprovals(services: Services): Disposable {
  const { commands, engine, notifier, picker, projects, reviewer } = services;
  return together(
    watchWaitingPermissions(projects, notifier),
    commands.register('sallyport.reviewPermissions', async (...args) => {
      await reviewer.review(await picker.project(parseTarget(args)));
    }),
    commands.register('sallyport.revokePermission', async (...args) => {
      const target = parseTarget(args);
      const { root, name, cards } = await picker.project(target);
      const items = cards.flatMap((card) =>
        card.permissions
          .filter((each) => each.accepted)
          .map(({ key, sentence }) => ({
            label: plain(sentence),
            description: plain(card.title),
            card: card.id,
            title: card.title,
            key,
          })),
      );
      if (items.length === 0) {
        notifier.show(notices.nothingToRevoke(name));
        return;
      }
      const named = items.find((item) => item.card === target.card && item.key === target.permissionKey);
      const options = {
        title: choose.revokeTitle(root),
        placeHolder: choose.revoke(),
        matchOnDescription: true,
      };
      const chosen = named ?? (await window.showQuickPick(items, options));
      if (!chosen) return;
      const { revoked } = await engine.call('permissions/revoke', {
        root,
        card: chosen.card,
        key: chosen.key,
      });
      notifier.show(revoked ? notices.permissionRevoked(chosen.title) : notices.nothingToRevoke(name));
    }),
  );
}
