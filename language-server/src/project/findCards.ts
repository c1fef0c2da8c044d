import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { limits } from '../../../protocol/src/limits.ts';
import type { CardPattern } from '../manifests/checkProject.ts';
import { pathKind } from '../manifests/paths.ts';
import { problem } from '../manifests/problem.ts';
import type { Problem } from './model.ts';

export const cardFile = '_card.json';
export const projectFile = 'sallyport.json';

/** A card's folder, and where in the project's manifest it was named. */
export interface FoundCard {
  readonly id: string;
  /** Relative to the project, with `/`. */
  readonly path: string;
  readonly folder: string;
  readonly manifestPath: string;
}

export interface FoundCards {
  /** By id, in the order of the patterns and, within one, by name. */
  readonly cards: ReadonlyMap<string, FoundCard>;
  /** Folders whose id another one has: id → the path of the second. */
  readonly duplicates: ReadonlyMap<string, string>;
  /** For the project's manifest. */
  readonly problems: readonly Problem[];
}

/**
 * Finds the folders of cards: those with something at the path of a manifest, which `isCard` says. No link is followed
 * anywhere below the project's folder. More than `most` cards are an error, and the rest is left out.
 */
export function findCards(
  root: string,
  patterns: readonly CardPattern[],
  isCard: (found: FoundCard) => boolean,
  most: number = limits.cardsPerProject,
): FoundCards {
  const cards = new Map<string, FoundCard>();
  const duplicates = new Map<string, string>();
  const problems: Problem[] = [];
  for (const pattern of patterns) {
    for (const found of foldersOf(root, pattern, isCard, (each) => problems.push(each))) {
      const { id, path } = found;
      const known = cards.get(id);
      if (known?.path === path) continue;
      if (known) {
        duplicates.set(id, path);
        problems.push(problem('duplicate-card', pattern.at, [id, path]));
      } else if (cards.size >= most) {
        problems.push(problem('too-many-cards', pattern.at, [most]));
        return { cards, duplicates, problems };
      } else {
        cards.set(id, found);
      }
    }
  }
  return { cards, duplicates, problems };
}

/** The cards that a pattern names, by name. */
function foldersOf(
  root: string,
  pattern: CardPattern,
  isCard: (found: FoundCard) => boolean,
  report: (problem: Problem) => void,
): FoundCard[] {
  const path = pattern.parts.join('/');
  const blocked = blockedAt(root, pattern.parts);
  if (blocked) {
    report(
      blocked.kind === 'link'
        ? problem('folder-is-link', pattern.at, [blocked.path])
        : problem('missing-folder', pattern.at, [blocked.path]),
    );
    return [];
  }
  const base = path === '' ? root : join(root, path);
  if (!pattern.every) {
    const found = foundCard(dirname(base), pattern.parts.slice(0, -1).join('/'), basename(base));
    if (isCard(found)) return [found];
    report(problem('no-manifest', pattern.at, [path]));
    return [];
  }
  try {
    const cards: FoundCard[] = [];
    for (const entry of readdirSync(base, { withFileTypes: true })) {
      if (isIgnored(entry.name)) continue;
      const found = foundCard(base, path, entry.name);
      if (entry.isSymbolicLink()) reportLink(found, pattern, report);
      else if (entry.isDirectory() && isCard(found)) cards.push(found);
    }
    return cards.sort((a, b) => (a.id < b.id ? -1 : 1));
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    report(problem('folder-unreadable', pattern.at, [path === '' ? '.' : path, reason]));
    return [];
  }
}

/** Put together by hand: this runs for every card at every look, and its parts are normal paths already. */
function foundCard(base: string, parent: string, id: string): FoundCard {
  const folder = `${base}${sep}${id}`;
  return {
    id,
    path: parent === '' ? id : `${parent}/${id}`,
    folder,
    manifestPath: `${folder}${sep}${cardFile}`,
  };
}

/** True for folders that never hold cards: dependencies and hidden ones. */
export function isIgnored(name: string): boolean {
  return name === 'node_modules' || name.startsWith('.');
}

function blockedAt(root: string, parts: readonly string[]): { kind: string; path: string } | undefined {
  for (let count = 1; count <= parts.length; count++) {
    const path = parts.slice(0, count).join('/');
    const kind = pathKind(join(root, path));
    if (kind !== 'folder') return { kind, path };
  }
  return undefined;
}

/** Links to files are common and no cards; only one that would have been a card is worth a word. */
function reportLink(
  { folder, path }: FoundCard,
  pattern: CardPattern,
  report: (problem: Problem) => void,
): void {
  try {
    if (statSync(folder).isDirectory()) report(problem('folder-is-link', pattern.at, [path]));
  } catch {
    // A link to nothing, or in a circle, is no card either.
  }
}
