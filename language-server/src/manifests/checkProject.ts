import type { Node } from 'jsonc-parser';
import { removeFix } from './edits.ts';
import { at, itemsOf, membersOf, spanOf, textOf } from './nodes.ts';
import { insideParts } from './paths.ts';
import { problem, type Report, type Span } from './problem.ts';

/** One entry of `cards` that is sound: the folders below the project, `*` standing for every folder of the last one. */
export interface CardPattern {
  readonly parts: readonly string[];
  readonly every: boolean;
  readonly at: Span;
}

/** A file of the project that an environment source names. */
export interface SourceFile {
  readonly parts: readonly string[];
  readonly path: string;
  readonly at: Span;
}

export interface ProjectFacts {
  readonly patterns: readonly CardPattern[];
  readonly sources: readonly SourceFile[];
}

/** Entries of one list that are looked at; a longer one is refused by the schema. */
const mostEntries = 100;

/** The rules of a project that its schema can't say and that need nothing but its own text. */
export function checkProject(text: string, root: Node, report: Report): ProjectFacts {
  checkPatterns(text, at(root, 'apps'), report);
  const sources = membersOf(at(root, 'environmentSources'))
    .slice(0, mostEntries)
    .flatMap(({ value }) => {
      const file = at(value, 'file');
      const path = textOf(file);
      if (!file || !path) return [];
      const parts = insideParts(path);
      if (parts) return [{ parts, path, at: spanOf(file) }];
      report(problem('outside-folder', spanOf(file), [path]));
      return [];
    });
  return { patterns: checkPatterns(text, at(root, 'cards'), report), sources };
}

function checkPatterns(text: string, list: Node | undefined, report: Report): CardPattern[] {
  const patterns: CardPattern[] = [];
  const seen = new Set<string>();
  for (const item of itemsOf(list).slice(0, mostEntries)) {
    const pattern = textOf(item);
    if (!pattern) continue;
    const every = /(^|\/)\*\/?$/.test(pattern);
    const folder = every ? pattern.replace(/\/?\*\/?$/, '') : pattern;
    const parts = folder === '' || folder === '.' ? [] : insideParts(folder);
    const key = `${parts?.join('/')}${every ? '/*' : ''}`;
    if (/[*?[\]{}]/.test(folder) && !folder.split('/').includes('..')) {
      report(problem('bad-pattern', spanOf(item), [pattern]));
    } else if (!parts || (parts.length === 0 && !every)) {
      report(problem('outside-folder', spanOf(item), [pattern]));
    } else if (seen.has(key)) {
      report(problem('listed-twice', spanOf(item), [pattern], removeFix(text, spanOf(item), 'this one')));
    } else {
      patterns.push({ parts, every, at: spanOf(item) });
    }
    seen.add(key);
  }
  return patterns;
}
