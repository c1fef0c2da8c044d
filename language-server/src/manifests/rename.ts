import { findNodeAtOffset, getNodePath, type Node } from 'jsonc-parser';
import { pathToFileURL } from 'node:url';
import type { Range, TextEdit, WorkspaceEdit } from 'vscode-languageserver';
import type { ManifestContext } from './manifestContext.ts';
import { spanOf, textOf } from './nodes.ts';
import { rangeOf } from './positions.ts';
import type { Span } from './problem.ts';

/** An output port, by the card that has it; `at` is the id under the cursor, without quotes. */
interface NamedPort {
  readonly card: string;
  readonly port: string;
  readonly at: Span;
}

/** The id of an output port under the cursor, for the editor to begin a rename with. */
export function renameRange(
  context: ManifestContext,
  offset: number,
): { range: Range; placeholder: string } | undefined {
  const found = portAt(context, offset);
  return found && { range: rangeOf(context.lines, found.at), placeholder: found.port };
}

/** Renames an output port: its key, the view that shows it, and every wire that comes from it, in all manifests. */
export function rename(context: ManifestContext, offset: number, newId: string): WorkspaceEdit | undefined {
  const found = portAt(context, offset);
  const { project, state } = context;
  if (!found || !project || !state) return undefined;
  const changes: Record<string, TextEdit[]> = {};
  for (const { id, manifestPath } of project.cards.values()) {
    const facts = state.factsOf(id);
    const lines = state.linesOf(manifestPath);
    if (!facts || !lines) continue;
    const edits: TextEdit[] = [];
    const change = (span: Span, text: string) =>
      edits.push({ range: rangeOf(lines, span), newText: JSON.stringify(text) });
    for (const input of facts.inputs.values()) {
      if (input.from === `${found.card}/${found.port}`) change(input.at, `${found.card}/${newId}`);
    }
    if (id === found.card) {
      const output = facts.outputs.get(found.port);
      if (output) change(output.idAt, newId);
      if (facts.view?.port === found.port) change(facts.view.at, newId);
    }
    if (edits.length > 0) changes[pathToFileURL(manifestPath).href] = edits;
  }
  return { changes };
}

function portAt(context: ManifestContext, offset: number): NamedPort | undefined {
  const { root } = context.parsed;
  const node = root && findNodeAtOffset(root, offset, true);
  const value = textOf(node);
  const own = context.card?.id;
  if (!node || value === undefined || own === undefined) return undefined;
  const inside = { start: node.offset + 1, end: spanOf(node).end - 1 };
  if (isKeyOf(node, 'outputs')) return { card: own, port: value, at: inside };
  const path = getNodePath(node);
  if (path[0] === 'view' && path[1] === 'output') return { card: own, port: value, at: inside };
  if (path[0] !== 'inputs' || path[2] !== 'from') return undefined;
  const [card = '', port = ''] = value.split('/');
  return { card, port, at: { start: inside.end - port.length, end: inside.end } };
}

function isKeyOf(node: Node, key: string): boolean {
  if (node.parent?.type !== 'property' || node.parent.children?.[0] !== node) return false;
  const path = getNodePath(node);
  return path.length === 2 && path[0] === key;
}
