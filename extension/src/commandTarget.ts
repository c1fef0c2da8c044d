import * as z from 'zod/mini';
import type { CardView, ProjectView } from '../../protocol/src/engine.ts';

/** What a command is about. Menus pass a tree node that carries these fields; lenses, panels and keys pass the same. */
export interface CommandTarget {
  readonly root?: string | undefined;
  readonly card?: string | undefined;
  readonly runId?: string | undefined;
  readonly permissionKey?: string | undefined;
  /** A file of the project, where VS Code itself passes one (editor title, explorer). */
  readonly path?: string | undefined;
}

const optionalText = z.optional(z.string());
const target = z.object({
  root: optionalText,
  card: optionalText,
  runId: optionalText,
  permissionKey: optionalText,
});
const uri = z.object({ scheme: z.literal('file'), fsPath: z.string() });

/**
 * Reads a command's arguments: a target, a file's `Uri`, or a root and a card as two strings. Anything else means
 * "nothing in particular".
 */
export function parseTarget(args: readonly unknown[]): CommandTarget {
  const [first, second] = args;
  if (typeof first === 'string')
    return typeof second === 'string' ? { root: first, card: second } : { root: first };
  const file = z.safeParse(uri, first);
  if (file.success) return { path: file.data.fsPath };
  const parsed = z.safeParse(target, first);
  return parsed.success ? parsed.data : {};
}

/** The one project that a target names, by root or by a file inside; undefined where it names none. */
export function findProject(
  projects: readonly ProjectView[],
  wanted: CommandTarget,
): ProjectView | undefined {
  const { root, path } = wanted;
  if (root !== undefined) return projects.find((project) => project.root === root);
  if (path === undefined) return undefined;
  return projects
    .filter((project) => path.startsWith(`${project.root}/`) || path.startsWith(`${project.root}\\`))
    .sort((a, b) => b.root.length - a.root.length)[0];
}

/** The card that a target names, by id or by a file in the card's folder. */
export function findCard(project: ProjectView, wanted: CommandTarget): CardView | undefined {
  if (wanted.card !== undefined) return project.cards.find((card) => card.id === wanted.card);
  const { path } = wanted;
  if (path === undefined) return undefined;
  return project.cards.find((card) => path.startsWith(card.manifestPath.replace(/_card\.json$/, '')));
}
