import { UserError } from '../../../protocol/src/errors.ts';
import type { PermissionReview } from '../../../protocol/src/engine.ts';
import { covers, permissionKey, permissionsOfCard } from '../../../protocol/src/permissions.ts';
import type { LoadedProject, Projects } from '../project/model.ts';
import type { ConsentRecords } from '../store/consentRecords.ts';
import type { Database } from '../store/database.ts';
import { buildReview, nothingAccepted, type Accepted, type AcceptedByCard } from './review.ts';

export interface ConsentsOptions {
  readonly projects: Projects;
  /** The project's scope by its folder; null where the file system has no birth time. */
  readonly scopeOf: (root: string) => string | null;
  readonly isTrusted: () => boolean;
  readonly now: () => number;
  /** Opens the store on first need. */
  readonly store: () => { readonly database: Database; readonly consents: ConsentRecords };
}

/** A person's answers to what cards ask for. Only the person's side may call `accept`. */
export class Consents {
  readonly #options: ConsentsOptions;

  constructor(options: ConsentsOptions) {
    this.#options = options;
  }

  /** What was accepted for this folder, read anew each time: another engine may have changed it. */
  accepted(root: string): Accepted {
    const scope = this.#options.scopeOf(root);
    return scope === null ? nothingAccepted : this.#options.store().consents.ofScope(scope);
  }

  /** The same, read card by card as each is asked for: a run asks at every step. */
  acceptedByCard(root: string): AcceptedByCard {
    const scope = this.#options.scopeOf(root);
    if (scope === null) return nothingAccepted;
    return { get: (card) => this.#options.store().consents.ofCard(scope, card) };
  }

  review(root: string): PermissionReview {
    return this.#reviewOf(this.#options.projects.refresh(root));
  }

  /**
   * Accepts the permissions named, for the cards named. Throws `not-trusted` in an untrusted workspace, `conflict`
   * where anything differs from what was reviewed under `digest` or where the folder has no scope to hang on.
   */
  accept(
    root: string,
    digest: string,
    accepted: readonly { readonly card: string; readonly keys: readonly string[] }[],
  ): number {
    if (!this.#options.isTrusted()) {
      throw new UserError(
        'not-trusted',
        'Nothing is accepted in Restricted Mode. Trust this workspace first (Workspaces: Manage Workspace Trust).',
        { root },
      );
    }
    const { database, consents } = this.#options.store();
    return database.transaction(() => {
      const review = this.review(root);
      const { scope } = review;
      if (scope === null) {
        throw new UserError(
          'conflict',
          `Nothing can be accepted for ${root}: its file system does not tell a folder from its copy. Move the project to a file system that records when a folder was made.`,
          { root },
        );
      }
      if (review.digest !== digest) throw changed(root);
      let count = 0;
      for (const { card, keys } of accepted) {
        const shown = review.cards.find(({ id }) => id === card);
        for (const key of new Set(keys)) {
          const found = shown?.permissions.find((each) => each.key === key);
          if (!found) throw changed(root);
          consents.accept(scope, card, found.permission, this.#options.now());
          count += 1;
        }
      }
      return count;
    });
  }

  /** Takes back a permission, and with it every wider one that would still cover it. */
  revoke(root: string, card: string, key: string): boolean {
    const scope = this.#options.scopeOf(root);
    if (scope === null) return false;
    const { database, consents } = this.#options.store();
    const manifest = this.#options.projects.refresh(root).cards.get(card)?.manifest;
    const asked = manifest && permissionsOfCard(manifest).find((each) => permissionKey(each) === key);
    return database.transaction(() => {
      const wider = (consents.ofScope(scope).get(card) ?? []).filter((have) => asked && covers(have, asked));
      const keys = new Set([key, ...wider.map(permissionKey)]);
      return [...keys].filter((each) => consents.revoke(scope, card, each)).length > 0;
    });
  }

  #reviewOf(project: LoadedProject): PermissionReview {
    return buildReview(project, this.#options.scopeOf(project.root), this.accepted(project.root));
  }
}

function changed(root: string): UserError {
  return new UserError(
    'conflict',
    'What the cards ask for changed while you were looking. Nothing was accepted; review it again.',
    { root },
  );
}
