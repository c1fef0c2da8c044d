import type { CodeLens } from 'vscode-languageserver';
import type { CardStatus } from '../../../protocol/src/engine.ts';
import { permissionSentence, permissionsOfCard } from '../../../protocol/src/permissions.ts';
import { lensTitles } from '../messages.ts';
import type { ManifestContext } from './manifestContext.ts';
import { membersOf, spanOf } from './nodes.ts';
import { rangeOf } from './positions.ts';

/** What the engine's records say of a card. */
export interface CardRecord {
  readonly status: CardStatus | null;
  /** Permissions that a person has not accepted yet. */
  readonly waiting: number;
}

/** Above a card: run it, how its last run ended, what it may reach. Above a project: run it, open its canvas. */
export function codeLenses(context: ManifestContext, record: CardRecord | undefined): CodeLens[] {
  const root = context.project?.root;
  if (root === undefined) return [];
  const top = rangeOf(context.lines, { start: 0, end: 0 });
  const lens = (title: string, command: string, target: object): CodeLens => ({
    range: top,
    command: { title, command, arguments: [{ root, ...target }] },
  });
  if (context.kind === 'project') {
    return [
      lens(lensTitles.runProject(), 'sallyport.runProject', {}),
      lens(lensTitles.openCanvas(), 'sallyport.openCanvas', {}),
    ];
  }
  if (!context.card) return [];
  const card = context.card.id;
  const status = record?.status;
  return [
    lens(lensTitles.runCard(), 'sallyport.runCard', { card }),
    ...(status
      ? [
          lens(lensTitles.state(status.state, status.cached, status.runMs), 'sallyport.openRun', {
            card,
            runId: status.runId,
          }),
        ]
      : []),
    permissionLens(context, record, lens),
  ];
}

/** Beside the key `permissions` where there is one: every permission is shown where it is asked for. */
function permissionLens(
  context: ManifestContext,
  record: CardRecord | undefined,
  lens: (title: string, command: string, target: object) => CodeLens,
): CodeLens {
  const card = context.card?.id;
  const asked = context.card?.manifest ? permissionsOfCard(context.card.manifest) : [];
  if (asked.length === 0) return lens(lensTitles.closed(), '', { card });
  const title = lensTitles.permissions(asked.map(permissionSentence), record?.waiting ?? asked.length);
  const key = membersOf(context.parsed.root).find((member) => member.key === 'permissions')?.keyNode;
  return {
    ...lens(title, 'sallyport.reviewPermissions', { card }),
    ...(key ? { range: rangeOf(context.lines, spanOf(key)) } : {}),
  };
}
