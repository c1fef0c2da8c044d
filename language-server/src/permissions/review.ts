import { hash } from 'node:crypto';
import { canonicalJson } from '../../../protocol/src/canonicalJson.ts';
import type { PermissionReview } from '../../../protocol/src/engine.ts';
import {
  permissionKey,
  permissionSentence,
  permissionsOfCard,
  widening,
  type Permission,
} from '../../../protocol/src/permissions.ts';
import type { LoadedProject } from '../project/model.ts';

/** The accepted permissions of each card. */
export type Accepted = ReadonlyMap<string, readonly Permission[]>;

/** What was accepted for the card that is asked about. */
export type AcceptedByCard = Pick<Accepted, 'get'>;

/** Nothing accepted: a new project, a copied one, or one whose file system can't tell it from a copy. */
export const nothingAccepted: Accepted = new Map();

/**
 * What a project asks for beyond the default, card by card, and the digest that binds an answer to exactly this: the
 * folder, the cards, their titles, every canonical permission, and which of them are new.
 */
export function buildReview(
  project: LoadedProject,
  scope: string | null,
  accepted: Accepted,
): PermissionReview {
  const cards = [...project.cards.values()].flatMap(({ id, manifest }) => {
    const asked = manifest ? permissionsOfCard(manifest) : [];
    if (!manifest || asked.length === 0) return [];
    const unanswered = new Set(widening(accepted.get(id) ?? [], asked).map(permissionKey));
    const permissions = asked.map((permission) => ({
      key: permissionKey(permission),
      permission,
      sentence: permissionSentence(permission),
      isNew: unanswered.has(permissionKey(permission)),
    }));
    return [{ id, title: manifest.title, permissions }];
  });
  cards.sort((a, b) => (a.id < b.id ? -1 : 1));
  const bound = cards.map(({ id, title, permissions }) => ({
    id,
    title,
    permissions: permissions.map(({ key, isNew }) => ({ key, isNew })),
  }));
  return { root: project.root, scope, digest: hash('sha256', canonicalJson({ scope, cards: bound })), cards };
}
