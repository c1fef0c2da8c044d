import type { CodeLens } from 'vscode-languageserver';
import type { CardStatus } from '../../../protocol/src/engine.ts';
import { permissionSentence } from '../../../protocol/src/permissions.ts';
import { lensTitles } from '../messages.ts';
import { askedPermissions } from './askedPermissions.ts';
import type { ManifestContext } from './manifestContext.ts';
import { membersOf, spanOf } from './nodes.ts';
import { rangeOf } from './positions.ts';

/** What the engine's records say of a card. */
export interface CardRecord {
  readonly status: CardStatus | null;
  /** Permissions that a person has not accepted yet. */
  readonly waiting: number;
}

/**
 * Above a card: run it, how its last run ended, what it may reach. Above a project: run it, open its canvas. At an app or
 * a plugin: what people will be asked to accept.
 */
export function codeLenses(context: ManifestContext, record: CardRecord | undefined): CodeLens[] {
  if (context.kind === 'app' || context.kind === 'plugin') return askingLens(context);
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

function askingLens(context: ManifestContext): CodeLens[] {
  const asked = askedPermissions(context);
  if (!asked) return [];
  const title = asked.length === 0 ? lensTitles.closed() : lensTitles.asks(asked.map(permissionSentence));
  return [{ range: permissionsRange(context), command: { title, command: '' } }];
}

function permissionsRange({ lines, parsed }: ManifestContext) {
  const key = membersOf(parsed.root).find((member) => member.key === 'permissions')?.keyNode;
  return rangeOf(lines, key ? spanOf(key) : { start: 0, end: 0 });
}

/** Beside the key `permissions` where there is one: every permission is shown where it is asked for. */
function permissionLens(
  context: ManifestContext,
  record: CardRecord | undefined,
  lens: (title: string, command: string, target: object) => CodeLens,
): CodeLens {
  const card = context.card?.id;
  const asked = askedPermissions(context) ?? [];
  if (asked.length === 0) return lens(lensTitles.closed(), '', { card });
  const title = lensTitles.permissions(asked.map(permissionSentence), record?.waiting ?? asked.length);
  return { ...lens(title, 'sallyport.reviewPermissions', { card }), range: permissionsRange(context) };
}
