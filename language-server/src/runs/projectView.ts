import { dirname, join } from 'node:path';
import type { CardStatus, CardView, ProjectView } from '../../../protocol/src/engine.ts';
import {
  permissionKey,
  permissionSentence,
  permissionsOfCard,
  widening,
} from '../../../protocol/src/permissions.ts';
import type { Accepted } from '../permissions/review.ts';
import type { LoadedCard, LoadedProject } from '../project/model.ts';

export interface ProjectViewFacts {
  readonly scope: string | null;
  readonly trusted: boolean;
  readonly accepted: Accepted;
  readonly runId: string | null;
  readonly statusOf: (card: string) => CardStatus | null;
}

/** A project as it is shown: its cards, what they ask for, and where each stands. */
export function toProjectView(project: LoadedProject, facts: ProjectViewFacts): ProjectView {
  const cards = [...project.cards.values()];
  return {
    root: project.root,
    name: project.manifest?.name ?? project.root,
    scope: facts.scope,
    trusted: facts.trusted,
    problems: errorsIn(project.problems) + cards.reduce((sum, card) => sum + errorsIn(card.problems), 0),
    cards: cards.map((card) => toCardView(card, facts)),
    runId: facts.runId,
  };
}

function toCardView(card: LoadedCard, { accepted, statusOf }: ProjectViewFacts): CardView {
  const { id, manifest, manifestPath, problems } = card;
  const asked = manifest ? permissionsOfCard(manifest) : [];
  const unanswered = new Set(widening(accepted.get(id) ?? [], asked).map(permissionKey));
  return {
    id,
    title: manifest?.title ?? id,
    description: manifest?.description ?? '',
    runtime: manifest?.runtime ?? 'command',
    manifestPath,
    entryPath: typeof manifest?.entry === 'string' ? join(dirname(manifestPath), manifest.entry) : null,
    inputs: Object.entries(manifest?.inputs ?? {}).map(([name, { type, from, optional }]) => ({
      name,
      type,
      ...(from === undefined ? {} : { from }),
      optional: optional ?? false,
    })),
    outputs: Object.entries(manifest?.outputs ?? {}).map(([name, { type, optional }]) => ({
      name,
      type,
      optional: optional ?? false,
    })),
    viewOutput: manifest?.view?.output ?? null,
    permissions: asked.map((permission) => ({
      key: permissionKey(permission),
      permission,
      sentence: permissionSentence(permission),
      accepted: !unanswered.has(permissionKey(permission)),
    })),
    blocked: unanswered.size > 0,
    problems: errorsIn(problems),
    status: statusOf(id),
  };
}

function errorsIn(problems: readonly { readonly severity: string }[]): number {
  return problems.filter(({ severity }) => severity === 'error').length;
}
