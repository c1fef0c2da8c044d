import * as z from 'zod/mini';
import { UserError } from '../../../../protocol/src/errors.ts';
import { idPattern, type CardManifest } from '../../../../protocol/src/manifests.ts';
import {
  permissionKey,
  permissionSentence,
  permissionsOfCard,
  widening,
  type Permission,
} from '../../../../protocol/src/permissions.ts';
import { isProtectedPath } from '../../gate/protectedPaths.ts';
import { checkCardText } from '../../manifests/checkManifest.ts';
import type { Consents } from '../../permissions/consents.ts';
import { cardFile } from '../../project/findCards.ts';
import type { LoadedProject, Projects } from '../../project/model.ts';
import { about, defineTool } from './defineTool.ts';
import { changedFile, newFile, readForChange } from './editTool.ts';
import { prepareChanges, type ChangeDeps, type PlannedFile } from './fileChanges.ts';
import type { Tool } from './tool.ts';
import { assertInside, toolPath, type ToolPath } from './toolPath.ts';

export interface SaveDeps extends ChangeDeps {
  readonly projects: Projects;
  readonly consents: Pick<Consents, 'accepted' | 'review' | 'accept'>;
}

const input = z.strictObject({
  card: about('The id of the card: the name of its folder.', z.string().check(z.regex(idPattern))),
  folder: z.optional(
    about(
      'Its folder, relative to the project, for a card that is not in cards/ID. Ends in the id.',
      z.string(),
    ),
  ),
  manifest: about('The whole content of _card.json, as an object.', z.record(z.string(), z.unknown())),
  files: z.optional(
    about(
      'Files of the card, whole: its program and what it needs. Files that are not named stay as they are.',
      z
        .array(
          z.strictObject({
            path: about('Relative to the card’s folder.', z.string().check(z.minLength(1))),
            text: about('The whole text.', z.string()),
          }),
        )
        .check(z.maxLength(200)),
    ),
  ),
});

/** A card whose manifest is among what is saved, and what it asks for that nobody accepted. */
interface SavedCard {
  readonly id: string;
  readonly manifest: CardManifest;
  readonly asks: readonly Permission[];
}

/** `project_save`: a card's manifest and files in one act. What it would open is asked for, permission by permission. */
export function createSaveTool({ journal, dirtyPaths, projects, consents }: SaveDeps): Tool {
  return defineTool({
    name: 'project_save',
    description:
      'Writes a card: its _card.json and its files, all or nothing. The manifest is checked first. A card that asks for a permission that was not accepted needs a person’s approval (approval_required), each permission by itself; ask for as little as the card needs.',
    input,
    list: 'ordinary',
    effect: 'saveCard',
    async prepare({ card, folder: askedFolder, manifest, files: given = [] }, context) {
      const { root } = context;
      const project = projects.refresh(root);
      const folder = folderOf(project, root, card, askedFolder);
      const text = `${JSON.stringify(manifest, null, 2)}\n`;
      const contents = [{ path: cardFile, text }, ...given];
      const accepted = consents.accepted(root);
      const files: PlannedFile[] = [];
      const cards: SavedCard[] = [];
      for (const [index, each] of contents.entries()) {
        const path = toolPath(root, `${folder}/${each.path}`);
        assertInside(path);
        assertOfCard(path, folder, each.path);
        const isManifest = path.relative.toLowerCase().endsWith(`/${cardFile}`);
        if (isManifest && index > 0 && path.relative.toLowerCase() === `${folder}/${cardFile}`.toLowerCase())
          throw new UserError('bad-message', `Give ${cardFile} as manifest, not as a file`);
        if (isManifest) {
          const id = path.relative.split('/').at(-2) ?? card;
          assertSameCard(project, id, path);
          cards.push(checked(id, each.path, each.text, accepted.get(id) ?? []));
        }
        files.push(await planned(path, each.text));
      }
      const permissions = distinct(cards.flatMap(({ asks }) => asks));
      const lines = cards.flatMap(({ id, manifest: { title, runtime }, asks }) => [
        `card ${id} “${title}”, runtime ${runtime}`,
        ...asks.map((permission) => `card ${id} would be allowed to: ${permissionSentence(permission)}`),
      ]);
      return prepareChanges({
        context,
        journal: journal(),
        dirtyPaths,
        args: {
          card,
          folder,
          manifest: JSON.parse(JSON.stringify(manifest)) as never,
          files: given.map(({ path, text: content }) => ({ path, text: content })),
        },
        title: `Save the card ${card} in ${folder}`,
        files,
        permissions,
        shownByDifference: ['manifest', 'files'],
        lines,
        afterwards: () => acceptExactly(consents, root, cards) + problemsOf(projects, root, cards),
      });
    },
  });
}

/** Where a card lies or is to lie. Throws where the project would not find it there, or finds the id elsewhere. */
function folderOf(project: LoadedProject, root: string, card: string, asked: string | undefined): string {
  const known = project.cards.get(card);
  const wanted = asked ?? (known ? known.folder : `cards/${card}`);
  const path = toolPath(root, wanted);
  assertInside(path);
  if (path.relative.split('/').at(-1) !== card)
    throw new UserError(
      'bad-message',
      `The folder of the card ${card} must have that name: ${path.relative}`,
    );
  const parent = path.relative.split('/').slice(0, -1).join('/');
  const patterns = project.manifest?.cards ?? [];
  const every = parent === '' ? '*' : `${parent}/*`;
  if (!patterns.some((pattern) => trimmed(pattern) === path.relative || trimmed(pattern) === every)) {
    throw new UserError(
      'bad-project',
      `The project looks for cards in ${patterns.join(', ') || 'no folder'}, so ${path.relative} would not be one. Choose another folder.`,
    );
  }
  return path.relative;
}

function trimmed(pattern: string): string {
  return pattern.replace(/^\.\//, '').replace(/\/$/, '');
}

/**
 * A save is judged by the permissions that it widens, not file by file. So it writes nothing else that would be asked
 * for: other protected files go through create and edit.
 */
function assertOfCard(path: ToolPath, folder: string, asked: string): void {
  if (!path.relative.startsWith(`${folder}/`))
    throw new UserError('unsafe-path', `${asked} is not in the card’s folder ${folder}`);
  const name = path.relative.split('/').at(-1) ?? '';
  const isManifest = name.toLowerCase() === cardFile;
  if (isManifest && name !== cardFile)
    throw new UserError('unsafe-path', `${asked}: the name of a manifest is ${cardFile}`);
  if (isManifest ? isProtectedFolder(path) : path.isProtected) {
    throw new UserError(
      'unsafe-path',
      `${asked} is a protected file. project_save does not write it; use create or edit, which ask a person.`,
    );
  }
}

function isProtectedFolder({ relative }: ToolPath): boolean {
  return isProtectedPath(relative.slice(0, relative.lastIndexOf('/')));
}

function assertSameCard(project: LoadedProject, id: string, path: ToolPath): void {
  const known = project.cards.get(id);
  if (known && toolPath(project.root, known.manifestPath).real !== path.real)
    throw new UserError('conflict', `There is a card ${id} already, in ${known.folder}. Choose another id.`);
}

function checked(id: string, path: string, text: string, accepted: readonly Permission[]): SavedCard {
  const { manifest, problems } = checkCardText(text);
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (!manifest || errors.length > 0) {
    const shown = errors.map(
      ({ message, start }) => `line ${text.slice(0, start).split('\n').length}: ${message}`,
    );
    throw new UserError(
      'bad-message',
      [`The manifest ${path} of the card ${id} has faults, so nothing was written:`, ...shown].join('\n'),
    );
  }
  return { id, manifest, asks: widening(accepted, permissionsOfCard(manifest)) };
}

async function planned(path: ToolPath, text: string): Promise<PlannedFile> {
  const bytes = Buffer.from(text);
  if (!path.exists) return newFile(path, bytes);
  const { before, bytes: old } = await readForChange(path);
  return changedFile(path, before, old, bytes);
}

function distinct(permissions: readonly Permission[]): Permission[] {
  return [...new Map(permissions.map((each) => [permissionKey(each), each])).values()];
}

/** Records what the person was shown and allowed, and nothing else, by the same code as the review of permissions. */
function acceptExactly(consents: SaveDeps['consents'], root: string, cards: readonly SavedCard[]): string {
  const asking = cards.filter(({ asks }) => asks.length > 0);
  if (asking.length === 0) return '';
  try {
    const { digest } = consents.review(root);
    consents.accept(
      root,
      digest,
      asking.map(({ id, asks }) => ({ card: id, keys: asks.map(permissionKey) })),
    );
    return `\nAllowed by a person: ${asking.flatMap(({ asks }) => asks.map(permissionSentence)).join('; ')}.`;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `\nThe files were saved, but the permissions could not be recorded, so the card does not run yet: ${why}`;
  }
}

function problemsOf(projects: Projects, root: string, cards: readonly SavedCard[]): string {
  const project = projects.refresh(root);
  const ids = new Set(cards.map(({ id }) => id));
  const lines = [...project.cards.values()]
    .filter(({ id }) => ids.has(id))
    .flatMap(({ id, problems }) =>
      problems.map(({ severity, message }) => `${severity} in ${id}: ${message}`),
    );
  return lines.length === 0 ? '' : `\nThe project has problems with it:\n${lines.join('\n')}`;
}
