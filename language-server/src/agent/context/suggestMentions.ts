import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Mention } from '../../../../protocol/src/agent.ts';
import type { LoadedProject } from '../../project/model.ts';

export interface Suggestion {
  readonly mention: Mention;
  readonly label: string;
  readonly detail: string;
}

const mostSuggestions = 40;
/** Folder entries that are looked at for one query, so that a large folder does not slow typing. */
const mostEntries = 20_000;
const skipped: ReadonlySet<string> = new Set(['node_modules', '.git', '.hg', '.svn', '__pycache__', '.venv']);

/** Cards and files whose name or path has the letters of `query`, best first. Links are not followed. */
export function suggestMentions(project: LoadedProject, query: string): Suggestion[] {
  const wanted = query.toLowerCase();
  const cards = [...project.cards.values()]
    .map(({ id, manifest }) => ({ id, title: manifest?.title ?? id }))
    .filter(({ id, title }) => `${id} ${title}`.toLowerCase().includes(wanted))
    .map(({ id, title }) => ({
      mention: { kind: 'card' as const, card: id },
      label: id,
      detail: `Card: ${title}`,
      rank: rankOf(id, wanted),
    }));
  const files = listFiles(project.root)
    .filter((path) => path.toLowerCase().includes(wanted))
    .map((path) => ({
      mention: { kind: 'file' as const, path },
      label: path.slice(path.lastIndexOf('/') + 1),
      detail: path,
      rank: rankOf(path, wanted),
    }));
  return [...cards, ...files]
    .sort((a, b) => a.rank - b.rank || a.detail.length - b.detail.length)
    .slice(0, mostSuggestions)
    .map(({ mention, label, detail }) => ({ mention, label, detail }));
}

/** Lower is better: the whole name, its beginning, somewhere in it, somewhere in the path. */
function rankOf(path: string, wanted: string): number {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  if (name === wanted) return 0;
  if (name.startsWith(wanted)) return 1;
  return name.includes(wanted) ? 2 : 3;
}

function listFiles(root: string): string[] {
  const found: string[] = [];
  const folders = [''];
  let left = mostEntries;
  for (let folder = folders.shift(); folder !== undefined && left > 0; folder = folders.shift()) {
    let entries;
    try {
      entries = readdirSync(join(root, folder), { withFileTypes: true });
    } catch {
      continue;
    }
    for (const entry of entries) {
      if (--left < 0) break;
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !skipped.has(entry.name)) folders.push(path);
      else if (entry.isFile()) found.push(path);
    }
  }
  return found;
}
