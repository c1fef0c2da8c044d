import { findNodeAtOffset, getNodePath, type Node } from 'jsonc-parser';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DocumentLink, Location } from 'vscode-languageserver';
import { insideParts, pathKind } from './paths.ts';
import type { ManifestContext } from './manifestContext.ts';
import { at, itemsOf, spanOf, textOf } from './nodes.ts';
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

/** The entry file as a link, and the manifests of an app's plugins, where they are there. */
export function documentLinks(context: ManifestContext): DocumentLink[] {
  if (context.kind === 'project') return [];
  const { root } = context.parsed;
  const plugins = context.kind === 'app' ? itemsOf(at(root, 'plugins')) : [];
  return [
    ...linkTo(context, at(root, 'entry'), (path) => path),
    ...plugins.flatMap((item) => linkTo(context, item, (id) => `plugins/${id}/plugin.json`)),
  ];
}

function linkTo(
  context: ManifestContext,
  node: Node | undefined,
  pathOf: (text: string) => string,
): DocumentLink[] {
  const text = textOf(node);
  const parts = text === undefined ? undefined : insideParts(pathOf(text));
  if (!node || !parts) return [];
  const file = join(dirname(context.path), ...parts);
  if (pathKind(file) !== 'file') return [];
  const { start, end } = spanOf(node);
  return [
    { range: rangeOf(context.lines, { start: start + 1, end: end - 1 }), target: pathToFileURL(file).href },
  ];
}
