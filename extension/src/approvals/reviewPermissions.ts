import { UserError } from '../../../protocol/src/errors.ts';
import type { ProjectView } from '../../../protocol/src/engine.ts';
import type { Disposable } from '../disposable.ts';
import { Emitter } from '../emitter.ts';
import type { Engine } from '../engine.ts';
import type { Reports } from '../documents/reports.ts';
import { notices } from '../messages.ts';
import type { Notifier } from '../notifier.ts';
import { pickPermissions } from './permissionPick.ts';
import { reviewLines, toAccepted } from './reviewLines.ts';

/** Keys of permissions by card, and the scope of the project that they are bound to. */
export interface AcceptedPermissions {
  readonly accepted: readonly { readonly card: string; readonly keys: readonly string[] }[];
  readonly scope: string;
}

/**
 * The only way to accept a card's permissions: a list that this file opens, answered by a person, bound to the digest of
 * what the list showed. No command, message or setting carries an answer.
 */
export class PermissionReviewer {
  readonly #engine: Engine;
  readonly #reports: Reports;
  readonly #notifier: Notifier;
  readonly #accepted = new Emitter<AcceptedPermissions>((error) => this.#notifier.showError(error));
  #isOpen = false;

  constructor(engine: Engine, reports: Reports, notifier: Notifier) {
    this.#engine = engine;
    this.#reports = reports;
    this.#notifier = notifier;
  }

  /** What a person accepted, after the engine took it. */
  readonly onDidAccept = (listener: (accepted: AcceptedPermissions) => void): Disposable =>
    this.#accepted.on(listener);

  /** Resolves when the person has answered or turned away. One review at a time; a second call does nothing. */
  async review(project: ProjectView): Promise<void> {
    if (this.#isOpen) return;
    this.#isOpen = true;
    try {
      await this.#ask(project);
    } finally {
      this.#isOpen = false;
    }
  }

  async #ask(project: ProjectView): Promise<void> {
    const { root } = project;
    const review = await this.#engine.call('permissions/review', { root });
    const lines = reviewLines(review);
    if (lines.asked.length + lines.accepted.length === 0) {
      this.#notifier.show(notices.nothingToReview(project.name));
      return;
    }
    if (review.scope === null) {
      this.#notifier.show(notices.noPersistentScope(root));
      return;
    }
    const selected = await pickPermissions(root, lines, this.#reports);
    if (!selected) return;
    const accepted = toAccepted(selected);
    if (accepted.length === 0) {
      this.#notifier.show(notices.nothingAccepted());
      return;
    }
    try {
      const answer = await this.#engine.call('permissions/accept', { root, digest: review.digest, accepted });
      this.#notifier.show(notices.permissionsAccepted(answer.accepted));
      this.#accepted.fire({ accepted, scope: review.scope });
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'conflict') throw error;
      this.#notifier.show(notices.reviewChanged(root));
    }
  }
}
