import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isIgnored, projectFile } from './findCards.ts';

const deepest = 4;
const mostFolders = 5000;

/**
 * The folders at or below `top` that hold a `sallyport.json`, breadth first, at most four levels down and over at most
 * 5,000 folders. Links, hidden folders and dependencies are not entered, nor are the folders below a project.
 */
export function findProjects(top: string): string[] {
  const found: string[] = [];
  const queue = [{ folder: top, depth: 0 }];
  for (let next = 0; next < queue.length && next < mostFolders; next++) {
    const { folder, depth } = queue[next] ?? { folder: top, depth: 0 };
    const entries = entriesOf(folder);
    if (entries.some((entry) => entry.name === projectFile)) {
      found.push(folder);
    } else if (depth < deepest) {
      for (const entry of entries) {
        if (entry.isDirectory() && !isIgnored(entry.name))
          queue.push({ folder: join(folder, entry.name), depth: depth + 1 });
      }
    }
  }
  return found;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
