import { matchesName } from './globLine.ts';

/** One line of a `.gitignore`. */
interface Rule {
  readonly parts: readonly string[];
  readonly isAnchored: boolean;
  readonly foldersOnly: boolean;
  readonly isNegated: boolean;
}

/** The rules of one folder's `.gitignore`, for paths below that folder. */
export type IgnoreRules = readonly Rule[];

const mostRules = 2000;

/** Parses a `.gitignore` (gitignore(5)). Lines beyond 2,000 are passed over. */
export function parseIgnore(text: string): IgnoreRules {
  return text
    .split(/\r?\n/)
    .slice(0, mostRules)
    .flatMap((raw): Rule[] => {
      let line = raw.replace(/(?<!\\) +$/, '');
      if (line === '' || line.startsWith('#')) return [];
      const isNegated = line.startsWith('!');
      if (isNegated) line = line.slice(1);
      const foldersOnly = line.endsWith('/');
      if (foldersOnly) line = line.slice(0, -1);
      const isAnchored = line.includes('/');
      const parts = line.replace(/^\//, '').split('/');
      return parts.some((part) => part === '') ? [] : [{ parts, isAnchored, foldersOnly, isNegated }];
    });
}

/** What the rules say of a path relative to their folder: ignored, taken back, or nothing. The last that matches counts. */
export function judge(rules: IgnoreRules, path: string, isFolder: boolean): 'ignored' | 'kept' | null {
  const parts = path.split('/');
  const rule = rules.findLast(
    (each) =>
      (!each.foldersOnly || isFolder) &&
      (each.isAnchored
        ? matchesParts(each.parts, 0, parts, 0)
        : matchesName(each.parts[0] ?? '', parts.at(-1) ?? '')),
  );
  if (!rule) return null;
  return rule.isNegated ? 'kept' : 'ignored';
}

/** `**` stands for any number of folders. Backtracks only over the last one, which is enough. */
function matchesParts(
  rule: readonly string[],
  ruleFrom: number,
  path: readonly string[],
  pathFrom: number,
): boolean {
  let at = pathFrom;
  let part = ruleFrom;
  let star = -1;
  let starAt = 0;
  while (at < path.length) {
    if (rule[part] === '**') {
      if (part === rule.length - 1) return true;
      star = ++part;
      starAt = at;
    } else if (part < rule.length && matchesName(rule[part] ?? '', path[at] ?? '')) {
      at++;
      part++;
    } else if (star >= 0) {
      at = ++starAt;
      part = star;
    } else return false;
  }
  return part === rule.length;
}
