import { findNodeAtOffset, getNodePath } from 'jsonc-parser';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DocumentLink, Location } from 'vscode-languageserver';
import { insideParts, pathKind } from './paths.ts';
import type { ManifestContext } from './manifestContext.ts';
import { at, spanOf, textOf } from './nodes.ts';
import { rangeOf } from './positions.ts';

/** Where a wire comes from: the output in the other card's manifest. For the view, the own output. */
export function definition(context: ManifestContext, offset: number): Location | undefined {
  const { root } = context.parsed;
  const node = root && findNodeAtOffset(root, offset);
  const value = textOf(node);
  if (!node || value === undefined || context.kind !== 'card') return undefined;
  const [first, second, third] = getNodePath(node);
  if (first === 'view' && second === 'output') return outputOf(context, context.card?.id, value);
  if (first !== 'inputs' || third !== 'from') return undefined;
  const [card, port = ''] = value.split('/');
  return outputOf(context, card, port);
}

function outputOf(
  { state, project }: ManifestContext,
  id: string | undefined,
  port: string,
): Location | undefined {
  const card = id === undefined ? undefined : project?.cards.get(id);
  const lines = card && state?.linesOf(card.manifestPath);
  if (!card || !state || !lines) return undefined;
  const span = state.factsOf(card.id)?.outputs.get(port)?.idAt ?? { start: 0, end: 0 };
  return { uri: pathToFileURL(card.manifestPath).href, range: rangeOf(lines, span) };
}

/** The entry file as a link, where there is one. */
export function documentLinks(context: ManifestContext): DocumentLink[] {
  const entry = context.kind === 'card' ? at(context.parsed.root, 'entry') : undefined;
  const path = textOf(entry);
  const parts = path === undefined ? undefined : insideParts(path);
  if (!entry || !parts) return [];
  const file = join(dirname(context.path), ...parts);
  if (pathKind(file) !== 'file') return [];
  const { start, end } = spanOf(entry);
  return [
    { range: rangeOf(context.lines, { start: start + 1, end: end - 1 }), target: pathToFileURL(file).href },
  ];
}
