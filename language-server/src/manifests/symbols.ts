import { SymbolKind, type DocumentSymbol } from 'vscode-languageserver';
import type { Node } from 'jsonc-parser';
import type { ManifestContext } from './manifestContext.ts';
import { membersOf, spanOf, textOf, at, valueOf } from './nodes.ts';
import { rangeOf } from './positions.ts';

const kinds: Readonly<Record<string, SymbolKind>> = {
  object: SymbolKind.Module,
  array: SymbolKind.Array,
  string: SymbolKind.String,
  number: SymbolKind.Number,
  boolean: SymbolKind.Boolean,
  null: SymbolKind.Null,
};
const deepest = 3;
const mostSymbols = 2000;

/** The outline of a manifest: its keys, and the ports and parameters below them. */
export function documentSymbols(context: ManifestContext): DocumentSymbol[] {
  let left = mostSymbols;
  const below = (node: Node | undefined, depth: number): DocumentSymbol[] =>
    membersOf(node).flatMap(({ key, keyNode, property, value }) => {
      if (left-- <= 0) return [];
      const detail = textOf(at(value, 'type')) ?? shortValue(value);
      return [
        {
          name: key === '' ? '""' : key,
          ...(detail === undefined ? {} : { detail }),
          kind: kinds[value?.type ?? 'null'] ?? SymbolKind.Null,
          range: rangeOf(context.lines, spanOf(property)),
          selectionRange: rangeOf(context.lines, spanOf(keyNode)),
          children: depth < deepest ? below(value, depth + 1) : [],
        },
      ];
    });
  return below(context.parsed.root, 1);
}

function shortValue(node: Node | undefined): string | undefined {
  if (!node || node.type === 'object' || node.type === 'array') return undefined;
  return String(valueOf(node)).slice(0, 80);
}
