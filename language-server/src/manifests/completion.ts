import { getLocation, type Location, type Node } from 'jsonc-parser';
import {
  CompletionItemKind,
  InsertTextFormat,
  type CompletionItem,
  type CompletionList,
  type MarkupContent,
} from 'vscode-languageserver';
import { valueTexts } from '../messages.ts';
import { knownValues, type KnownValue } from './knownValues.ts';
import type { ManifestContext } from './manifestContext.ts';
import { at, membersOf, spanOf } from './nodes.ts';
import { placeholder } from './placeholders.ts';
import { rangeOf } from './positions.ts';
import type { Span } from './problem.ts';
import { memberSchema, merged, optionFor, schemaAt, schemas, type Schema } from './schema.ts';

/** The most proposals that are sent at once; an editor asks again while a person types. */
const mostItems = 500;

/** Keys, values and names of the project that fit at an offset. Hosts are never proposed. */
export function completion(context: ManifestContext, offset: number): CompletionList {
  const empty = { isIncomplete: false, items: [] };
  if (context.text.trim() !== '' && !context.parsed.root) return empty;
  const location = getLocation(context.text, offset);
  const items = location.isAtPropertyKey
    ? keyItems(context, location, offset)
    : valueItems(context, location, offset);
  return { isIncomplete: items.length > mostItems, items: items.slice(0, mostItems) };
}

function keyItems(context: ManifestContext, location: Location, offset: number): CompletionItem[] {
  const path = location.path.slice(0, -1);
  const { root } = context.parsed;
  const object = path.length === 0 ? root : at(root, ...path);
  const schema = schemaAt(schemas[context.kind], root, path);
  if (!schema || object?.type !== 'object') return [];
  const option = optionFor(schema, object) ?? merged(schema);
  const written = location.previousNode;
  const present = new Set(
    membersOf(object)
      .filter((each) => each.keyNode.offset !== written?.offset)
      .map((each) => each.key),
  );
  const span = written ? spanOf(written) : { start: offset, end: offset };
  const rest = context.text.slice(span.end, span.end + 1000);
  const hasValue = /^\s*:/.test(rest);
  const needsComma = !hasValue && /^\s*["{[]/.test(rest);
  return Object.entries(option.properties ?? {})
    .filter(([key]) => !present.has(key) && key !== '$schema')
    .map(([key, member], index) => ({
      label: key,
      kind: CompletionItemKind.Property,
      sortText: String(index).padStart(3, '0'),
      filterText: JSON.stringify(key),
      ...(option.required?.includes(key) ? { labelDetails: { description: 'required' } } : {}),
      ...documented(member.description),
      insertTextFormat: InsertTextFormat.Snippet,
      textEdit: {
        range: rangeOf(context.lines, span),
        newText: hasValue
          ? snippetText(JSON.stringify(key))
          : `${snippetText(JSON.stringify(key))}: ${valueSnippet(key, member)}${needsComma ? ',' : ''}`,
      },
    }));
}

function valueItems(context: ManifestContext, location: Location, offset: number): CompletionItem[] {
  const { root } = context.parsed;
  const schema = schemaAt(schemas[context.kind], root, location.path);
  const written = valueNodeAt(context, location, offset);
  const span = written ? spanOf(written) : { start: offset, end: offset };
  return [...knownValues(context, location.path), ...schemaValues(schema)].map((value, index) =>
    valueItem(context, value, span, index),
  );
}

/** The literal under the cursor, which a proposal replaces. */
function valueNodeAt(context: ManifestContext, location: Location, offset: number): Node | undefined {
  const node = at(context.parsed.root, ...location.path);
  const isLiteral = node && node.type !== 'object' && node.type !== 'array';
  return isLiteral && node.offset <= offset && offset <= spanOf(node).end ? node : undefined;
}

function schemaValues(schema: Schema | undefined): KnownValue[] {
  if (!schema) return [];
  const values: readonly (string | number | boolean)[] =
    schema.enum ??
    (schema.const !== undefined ? [schema.const] : schema.type === 'boolean' ? [true, false] : []);
  const own = values.map((value) => ({
    json: JSON.stringify(value),
    documentation: (schema.meanings ?? valueTexts)[String(value)],
  }));
  return [...own, ...(schema.anyOf ?? []).flatMap(schemaValues)];
}

function valueItem(context: ManifestContext, value: KnownValue, span: Span, index: number): CompletionItem {
  return {
    label: value.json.startsWith('"') ? String(JSON.parse(value.json)) : value.json,
    kind: value.isReference ? CompletionItemKind.Reference : CompletionItemKind.Value,
    sortText: String(index).padStart(5, '0'),
    filterText: value.json,
    ...(value.detail === undefined ? {} : { detail: value.detail }),
    ...documented(value.documentation),
    insertTextFormat: InsertTextFormat.PlainText,
    textEdit: { range: rangeOf(context.lines, span), newText: value.json },
  };
}

function documented(text: string | undefined): { documentation?: MarkupContent } {
  return text === undefined ? {} : { documentation: { kind: 'markdown', value: text } };
}

/** The usual value of a key with its text selected, or an empty object or list with the cursor inside. */
function valueSnippet(key: string, schema: Schema): string {
  const usual = placeholder(key, memberSchema({ properties: { [key]: schema } }, key));
  if (usual === '{}' || usual === '[]') return `${usual.charAt(0)}$0${usual.charAt(1)}`;
  return usual.startsWith('"') ? `"\${1:${snippetText(usual.slice(1, -1))}}"` : `\${1:${snippetText(usual)}}`;
}

function snippetText(text: string): string {
  return text.replace(/[\\$}]/g, '\\$&');
}
