import { window } from 'vscode';
import { together, type Disposable } from '../../disposable.ts';
import type { Services } from '../../services.ts';
import { VaultError } from '../core/vaultState.ts';
import { grantAccepted } from './cardGrants.ts';
import { grantWords } from './grantWords.ts';
import { RequestReviewer, type WaitingGrant } from './reviewRequests.ts';
import { vaultNotices } from './vaultNotices.ts';
import { vaultProblem } from './vaultWords.ts';

/** Requests for values that wait: one notification for all of them, the review, and the grants of accepted permissions. */
export function createRequests(services: Services): Disposable {
  const { commands, log, notifier, person, projects, reports, reviewer: permissions } = services;
  const { vaults } = services.vault;
  const waiting = async (): Promise<readonly WaitingGrant[]> =>
    (await vaults.open())
      .flatMap((vault) => vault.grants().map((grant) => ({ vault, grant })))
      .filter(({ grant }) => grant.state === 'pending')
      .sort((a, b) => a.grant.askedAt - b.grant.askedAt);
  const reviewer = new RequestReviewer({
    waiting,
    projectOf: async (scope) => (await projects.projects()).find((project) => project.scope === scope)?.name,
    person,
    notifier,
    reports,
    now: () => Date.now(),
  });
  const review = async (only?: unknown): Promise<void> => {
    try {
      await reviewer.review(typeof only === 'string' ? only : undefined);
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      notifier.show(vaultNotices.failed(vaultProblem(error)));
    }
  };
  let known: ReadonlySet<string> = new Set();
  let isShown = false;
  /** How many reviews of permissions give their grants just now: those wait for nobody. */
  let granting = 0;
  const announce = async (): Promise<void> => {
    if (granting > 0) return;
    const open = [vaults.agents.status, vaults.personal.status];
    const ids = open.flatMap((status) =>
      status.state === 'open'
        ? status.vault
            .grants()
            // Somebody connects to a place, or chose a plugin or a connection: the question is put to them there.
            .filter(
              ({ state, principal }) => state === 'pending' && !/^(place|plugin|connection):/.test(principal),
            )
            .map(({ id }) => id)
        : [],
    );
    const isNews = ids.some((id) => !known.has(id));
    known = new Set(ids);
    if (!isNews || isShown || reviewer.isOpen) return;
    isShown = true;
    try {
      const { text, button } = grantWords.waiting(ids.length);
      if ((await window.showWarningMessage(text, button)) === button) await review();
    } finally {
      isShown = false;
    }
  };
  return together(
    vaults.onDidChange(() => void announce().catch((error: unknown) => notifier.showError(error))),
    permissions.onDidAccept(({ accepted, scope }) => {
      granting++;
      grantAccepted(accepted, scope, {
        vaults: () => vaults.open(),
        reviewer,
        notifier,
        now: () => Date.now(),
      })
        .catch((error: unknown) => {
          if (error instanceof VaultError) notifier.show(vaultNotices.failed(vaultProblem(error)));
          else log.error('Failed to give the grants of accepted permissions', error);
        })
        .finally(() => {
          granting--;
          void announce().catch((error: unknown) => notifier.showError(error));
        });
    }),
    commands.register('sallyport.reviewVaultRequests', review),
  );
}
