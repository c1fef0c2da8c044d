import type { Node } from 'jsonc-parser';
import { addKeyFix, removeFix, replaceFix, rewriteFix } from './edits.ts';
import { nearest } from './nearest.ts';
import { itemsOf, membersOf, spanOf, valueOf, type Member } from './nodes.ts';
import { reservedKeys } from './parseText.ts';
import { checkPattern } from './patterns.ts';
import { placeholder } from './placeholders.ts';
import { problem, type Report } from './problem.ts';
import { hasType, isDiscriminated, memberSchema, optionFor, optionsOf, type Schema } from './schema.ts';

/**
 * Compares a tree with a schema and says what differs, in the words of the manifests. It explains only: zod judges, and
 * refuses whatever is reported here.
 */
export function checkShape(text: string, node: Node, schema: Schema, report: Report): void {
  const option = optionFor(schema, node);
  if (!option) return reportNoOption(text, node, schema, report);
  if (option.const !== undefined) return checkConstant(node, option.const, report);
  if (!hasType(node, option)) return reportType(node, [option], report);
  switch (option.type) {
    case 'object':
      return checkObject(text, node, option, report);
    case 'array':
      return checkArray(text, node, option, report);
    case 'string':
      return checkString(node, option, report);
    case 'integer':
    case 'number':
      return checkNumber(node, option, report);
    case 'boolean':
    case 'null':
    case undefined:
      return undefined;
  }
}

function checkObject(text: string, node: Node, schema: Schema, report: Report): void {
  const members = membersOf(node);
  const present = new Set(members.map((member) => member.key));
  for (const key of schema.required ?? []) {
    if (present.has(key)) continue;
    const { start } = spanOf(node);
    const fix = addKeyFix(text, node, key, placeholder(key, memberSchema(schema, key)));
    report(problem('missing-key', { start, end: start + 1 }, [key], fix));
  }
  for (const member of members) {
    const expected = checkKey(text, member, schema, present, report);
    if (expected && member.value) checkShape(text, member.value, expected, report);
  }
}

/** The schema of a member's value, where its key is one. */
function checkKey(
  text: string,
  { key, keyNode, property }: Member,
  schema: Schema,
  present: ReadonlySet<string>,
  report: Report,
): Schema | undefined {
  if (reservedKeys.has(key)) return undefined;
  const expected = memberSchema(schema, key);
  if (expected) {
    if (schema.propertyNames?.pattern) checkPattern(keyNode, key, schema.propertyNames.pattern, report);
    return expected;
  }
  const free = Object.keys(schema.properties ?? {}).filter((known) => !present.has(known));
  const sameLetters = Object.keys(schema.properties ?? {}).find(
    (known) => known.toLowerCase() === key.toLowerCase(),
  );
  const meant = sameLetters ?? nearest(key, free);
  const fix =
    meant === undefined || present.has(meant)
      ? removeFix(text, spanOf(property), 'it')
      : replaceFix(spanOf(keyNode), meant);
  report(
    sameLetters === undefined
      ? problem('unknown-key', spanOf(keyNode), [key, meant], fix)
      : problem('key-case', spanOf(keyNode), [key, sameLetters], fix),
  );
  return undefined;
}

function checkArray(text: string, node: Node, schema: Schema, report: Report): void {
  const items = itemsOf(node);
  if (items.length < (schema.minItems ?? 0)) report(problem('too-short', spanOf(node), []));
  if (items.length > (schema.maxItems ?? Infinity)) {
    report(problem('too-many-entries', spanOf(node), [items.length, schema.maxItems ?? 0]));
  }
  if (schema.items) for (const item of items) checkShape(text, item, schema.items, report);
}

function checkString(node: Node, schema: Schema, report: Report): void {
  const value = String(valueOf(node));
  const span = spanOf(node);
  if (schema.enum && !schema.enum.includes(value)) return reportNotOneOf(node, schema.enum, report);
  if (value.length < (schema.minLength ?? 0)) return report(problem('too-short', span, []));
  if (schema.maxLength !== undefined && value.length > schema.maxLength) {
    return report(problem('too-long', span, [value.length, schema.maxLength]));
  }
  if (schema.pattern) checkPattern(node, value, schema.pattern, report);
}

function checkNumber(node: Node, schema: Schema, report: Report): void {
  const value = Number(valueOf(node));
  const least =
    schema.minimum ?? (schema.exclusiveMinimum === undefined ? -Infinity : schema.exclusiveMinimum + 1);
  const greatest = schema.maximum ?? Infinity;
  if (Number.isFinite(value) && value >= least && value <= greatest) return;
  const bound = value < least ? least : greatest;
  const fix = Number.isFinite(bound) ? rewriteFix(spanOf(node), String(bound)) : undefined;
  report(problem('out-of-range', spanOf(node), [String(value), rangeWords(least, greatest)], fix));
}

/** `1 to 10`, `at least 1`, `at most 10`. */
export function rangeWords(least: number, greatest: number): string {
  if (least === -Infinity) return greatest === Infinity ? 'a finite number' : `at most ${greatest}`;
  return greatest === Infinity ? `at least ${least}` : `${least} to ${greatest}`;
}

function checkConstant(node: Node, constant: string | number, report: Report): void {
  if (valueOf(node) === constant) return;
  if (typeof constant === 'number') {
    report(problem('bad-version', spanOf(node), [constant], rewriteFix(spanOf(node), String(constant))));
  }
}

function reportNoOption(text: string, node: Node, schema: Schema, report: Report): void {
  const options = optionsOf(schema);
  if (!isDiscriminated(schema)) return reportType(node, options, report);
  if (node.type !== 'object') return reportType(node, options.slice(0, 1), report);
  const types = options.map((option) => String(option.properties?.['type']?.const));
  const type = membersOf(node).find((member) => member.key === 'type');
  if (type?.value) return reportNotOneOf(type.value, types, report);
  const { start } = spanOf(node);
  const fix = addKeyFix(text, node, 'type', JSON.stringify(types[0]));
  report(problem('missing-key', { start, end: start + 1 }, ['type'], fix));
}

function reportNotOneOf(node: Node, allowed: readonly string[], report: Report): void {
  const value = String(valueOf(node));
  const meant = node.type === 'string' ? nearest(value, allowed) : undefined;
  const fix = meant === undefined ? undefined : replaceFix(spanOf(node), meant);
  report(problem('not-one-of', spanOf(node), [value, allowed, meant], fix));
}

function reportType(node: Node, options: readonly Schema[], report: Report): void {
  const expected = options.map((option) => typeWords[option.type ?? 'object'] ?? '').join(' or ');
  const found =
    node.type === 'number' && options[0]?.type === 'integer'
      ? 'a number with a fraction'
      : typeWords[node.type];
  const rewritten = rewrite(node, options);
  const fix = rewritten === undefined ? undefined : rewriteFix(spanOf(node), rewritten);
  report(problem('wrong-type', spanOf(node), [expected, found ?? node.type], fix));
}

/** The same value in the type that is wanted, where that is plain: `"60"` as `60`, `"a"` as `["a"]`. */
function rewrite(node: Node, options: readonly Schema[]): string | undefined {
  const value = valueOf(node);
  for (const { type, items } of options) {
    if (typeof value === 'string' && type === 'integer' && /^-?(0|[1-9][0-9]{0,14})$/.test(value))
      return value;
    if (typeof value === 'string' && type === 'boolean' && /^(true|false)$/.test(value)) return value;
    if (typeof value === 'string' && type === 'array' && items?.type === 'string')
      return `[${JSON.stringify(value)}]`;
    if (typeof value === 'number' && type === 'integer' && Number.isFinite(value))
      return String(Math.round(value));
    if ((typeof value === 'number' || typeof value === 'boolean') && type === 'string')
      return JSON.stringify(String(value));
  }
  return undefined;
}

const typeWords: Readonly<Record<string, string>> = {
  object: 'an object { }',
  array: 'a list [ ]',
  string: 'text in double quotes',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'null',
};
