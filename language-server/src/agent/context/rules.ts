import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { hasHidden, showHiddenLines } from '../../../../protocol/src/text.ts';
import { resolvePath } from '../../gate/paths.ts';
import { readBounded } from './boundedFile.ts';

/** A rules file as it is sent: hidden characters are escaped, so that what a person reads is what the model reads. */
export interface RulesFile {
  /** Relative to the project. */
  readonly path: string;
  readonly text: string;
  readonly sizeBytes: number;
  readonly hiddenCharacters: number;
  readonly isCut: boolean;
}

/** Rules files of coding agents, in the order in which they are sent. */
const files: readonly string[] = [
  'AGENTS.md',
  'AGENT.md',
  'CLAUDE.md',
  'GEMINI.md',
  '.github/copilot-instructions.md',
  '.cursorrules',
  '.clinerules',
  '.roorules',
  '.windsurfrules',
  '.rules',
];
/** Folders of which every file with one of these endings is one. */
const folders: readonly string[] = [
  '.cursor/rules',
  '.clinerules',
  '.roo/rules',
  '.kilocode/rules',
  '.windsurf/rules',
  '.github/instructions',
];
const endings = ['.md', '.mdc', '.txt'];

const fileBytes = 32 * 1024;
const allBytes = 96 * 1024;
const filesOfFolder = 50;

/** The rules files of a project. One that leads outside it, or to another one, is left out. Reads, and never throws. */
export function findRules(root: string): RulesFile[] {
  const seen = new Set<string>();
  const found: RulesFile[] = [];
  let left = allBytes;
  for (const path of [...files, ...folders.flatMap((folder) => listFolder(root, folder))]) {
    const real = realInside(root, path);
    if (real === null || seen.has(real) || left <= 0) continue;
    seen.add(real);
    const read = readBounded(real, Math.min(fileBytes, left));
    if (!read) continue;
    left -= Math.min(read.sizeBytes, fileBytes);
    found.push({
      path,
      text: showHiddenLines(read.text.replaceAll('\r\n', '\n')),
      sizeBytes: read.sizeBytes,
      hiddenCharacters: countHidden(read.text.replaceAll('\r\n', '\n')),
      isCut: read.isCut || read.sizeBytes > fileBytes,
    });
  }
  return found;
}

/** Number of characters that show nothing or turn the direction of reading. */
function countHidden(text: string): number {
  if (!hasHidden(text)) return 0;
  let count = 0;
  for (const character of text) if (hasHidden(character)) count++;
  return count;
}

function listFolder(root: string, folder: string): string[] {
  const real = realInside(root, folder);
  if (real === null) return [];
  try {
    return readdirSync(real)
      .filter((name) => endings.some((ending) => name.endsWith(ending)))
      .sort()
      .slice(0, filesOfFolder)
      .map((name) => join(folder, name).replaceAll('\\', '/'));
  } catch {
    return [];
  }
}

function realInside(root: string, path: string): string | null {
  try {
    const resolved = resolvePath(root, path);
    return resolved.exists && !resolved.isOutside ? resolved.real : null;
  } catch {
    return null;
  }
}
