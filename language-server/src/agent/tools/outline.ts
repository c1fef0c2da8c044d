/** A name that a file defines. */
export interface OutlineName {
  readonly name: string;
  readonly kind: string;
  readonly line: number;
}

/** By the end of a file's name. Each expression names the kind and the name, and is anchored at the line's beginning. */
const languages: readonly (readonly [RegExp, readonly (readonly [kind: string, RegExp])[]])[] = [
  [
    /\.(ts|tsx|js|jsx|mjs|cjs|mts|cts)$/,
    [
      ['class', /^\s*(?:export )?(?:default )?(?:abstract )?class ([\w$]+)/],
      ['interface', /^\s*(?:export )?interface ([\w$]+)/],
      ['type', /^\s*(?:export )?type ([\w$]+)/],
      ['enum', /^\s*(?:export )?(?:const )?enum ([\w$]+)/],
      ['function', /^\s*(?:export )?(?:default )?(?:async )?function\*? ([\w$]+)/],
      ['constant', /^(?:export )?const ([\w$]+)/],
    ],
  ],
  [
    /\.pyi?$/,
    [
      ['class', /^\s*class (\w+)/],
      ['function', /^\s*(?:async )?def (\w+)/],
      ['constant', /^([A-Z][A-Z0-9_]+)\s*(?::[^=]+)?=/],
    ],
  ],
  [
    /\.(go)$/,
    [
      ['type', /^type (\w+)/],
      ['function', /^func (?:\([^)]{1,100}\) )?(\w+)/],
    ],
  ],
  [
    /\.rs$/,
    [
      ['type', /^\s*(?:pub )?(?:struct|enum|trait|type|union) (\w+)/],
      ['function', /^\s*(?:pub )?(?:async )?(?:unsafe )?fn (\w+)/],
    ],
  ],
  [/\.(r|R)$/, [['function', /^\s*([\w.]+)\s*(?:<-|=)\s*function\b/]]],
  [/\.md$/, [['heading', /^#{1,6} +(.{1,200})$/]]],
  [/\.(sh|bash)$/, [['function', /^(?:function )?([\w-]+) ?\(\)/]]],
  [/\.sql$/i, [['table', /^\s*create (?:table|view) (?:if not exists )?([\w."]+)/i]]],
];

const mostNames = 500;
const longestLine = 500;

/** Names at the beginnings of lines, by pattern: no parser, so it may miss some and take some in comments for real. */
export function outlineOf(path: string, text: string): OutlineName[] {
  const patterns = languages.find(([ending]) => ending.test(path))?.[1] ?? [];
  const found: OutlineName[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (found.length >= mostNames) break;
    if (line.length > longestLine) continue;
    for (const [kind, pattern] of patterns) {
      const name = pattern.exec(line)?.[1];
      if (name === undefined) continue;
      found.push({ name, kind, line: index + 1 });
      break;
    }
  }
  return found;
}
