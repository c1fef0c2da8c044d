import * as z from 'zod/mini';
import type { Node } from 'jsonc-parser';
import {
  appManifest,
  cardManifest,
  pluginManifest,
  projectManifest,
} from '../../../protocol/src/manifests.ts';
import { at, membersOf, valueOf } from './nodes.ts';

/** The part of JSON Schema (draft 2020-12) that the manifests' schemas come out as. */
export interface Schema {
  readonly type?: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null' | undefined;
  readonly description?: string | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
  readonly required?: readonly string[] | undefined;
  /** `false` for a fixed set of keys, a schema for a record. */
  readonly additionalProperties?: boolean | Schema | undefined;
  readonly propertyNames?: Schema | undefined;
  readonly items?: Schema | undefined;
  readonly anyOf?: readonly Schema[] | undefined;
  readonly oneOf?: readonly Schema[] | undefined;
  readonly enum?: readonly string[] | undefined;
  readonly const?: string | number | undefined;
  readonly pattern?: string | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly minimum?: number | undefined;
  readonly exclusiveMinimum?: number | undefined;
  readonly maximum?: number | undefined;
  /** A usual value (protocol/src/about.ts). */
  readonly examples?: readonly (string | number)[] | undefined;
  /** What the values of `enum` mean (protocol/src/about.ts). */
  readonly meanings?: Readonly<Record<string, string>> | undefined;
}

export type ManifestKind = 'project' | 'card' | 'app' | 'plugin';

/** The schemas of the manifests, each derived once from protocol/src/manifests.ts when it is first needed. */
export const schemas: Readonly<Record<ManifestKind, Schema>> = {
  get project() {
    return (derived.project ??= z.toJSONSchema(projectManifest, { io: 'input' }) as Schema);
  },
  get card() {
    return (derived.card ??= z.toJSONSchema(cardManifest, { io: 'input' }) as Schema);
  },
  get app() {
    return (derived.app ??= z.toJSONSchema(appManifest, { io: 'input' }) as Schema);
  },
  get plugin() {
    // The schemas of functions are parsed in two steps, of which the second one knows the keywords.
    return (derived.plugin ??= withoutReferences(z.toJSONSchema(pluginManifest, { io: 'output' })));
  },
};

const derived: Partial<Record<ManifestKind, Schema>> = {};

/** Puts what `$ref` names in its place: a schema that holds itself becomes a circle, and a text's depth is its bound. */
function withoutReferences(root: object): Schema {
  const { $defs = {} } = root as { $defs?: Readonly<Record<string, object>> };
  const seen = new Set<object>();
  const resolve = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...own } = value as { $ref?: string };
    const target = $ref === undefined ? undefined : $defs[$ref.replace('#/$defs/', '')];
    if (target) {
      resolve(target);
      return Object.keys(own).length === 0 ? target : { ...target, ...own };
    }
    if (seen.has(value)) return value;
    seen.add(value);
    const members = value as Record<string, unknown>;
    for (const key of Object.keys(members)) members[key] = resolve(members[key]);
    return value;
  };
  return resolve(root) as Schema;
}

/** The alternatives of a union, or the schema itself. */
export function optionsOf(schema: Schema): readonly Schema[] {
  return schema.anyOf ?? schema.oneOf ?? [schema];
}

/** True for a union whose members are told apart by a constant `type`. */
export function isDiscriminated(schema: Schema): boolean {
  return (
    optionsOf(schema).length > 1 &&
    optionsOf(schema).every((option) => option.properties?.['type']?.const !== undefined)
  );
}

/** The alternative that a value is meant as, by its `type` member or its JSON type; undefined where none fits. */
export function optionFor(schema: Schema, node: Node | undefined): Schema | undefined {
  const options = optionsOf(schema);
  if (options.length === 1) return options[0];
  if (isDiscriminated(schema)) {
    const type = at(node, 'type');
    return type && options.find((option) => option.properties?.['type']?.const === valueOf(type));
  }
  return options.find((option) => node !== undefined && hasType(node, option));
}

/** True where the JSON type of a value is the schema's. */
export function hasType(node: Node, schema: Schema): boolean {
  switch (schema.type) {
    case 'integer':
      // A number too large to be held is no fraction: the bounds refuse it.
      return node.type === 'number' && (Number.isInteger(valueOf(node)) || !Number.isFinite(valueOf(node)));
    case undefined:
      return true;
    default:
      return node.type === schema.type;
  }
}

/**
 * The schema at a path below `root`, which says which alternative is meant where there are several. Undefined where
 * the format has nothing.
 */
export function schemaAt(
  schema: Schema,
  root: Node | undefined,
  path: readonly (string | number)[],
): Schema | undefined {
  let current: Schema | undefined = schema;
  let node = root;
  for (const segment of path) {
    if (!current) return undefined;
    const option: Schema = optionFor(current, node) ?? merged(current);
    if (typeof segment === 'number') {
      current = option.items;
      node = node?.type === 'array' ? node.children?.[segment] : undefined;
    } else {
      current = memberSchema(option, segment);
      node = membersOf(node).find((member) => member.key === segment)?.value;
    }
  }
  return current;
}

/** The schema of a member, known by name or by the record's value. */
export function memberSchema(schema: Schema, key: string): Schema | undefined {
  if (schema.properties && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

/** All alternatives of a union at once, for help while nothing says yet which is meant. */
export function merged(schema: Schema): Schema {
  const options = optionsOf(schema);
  if (options.length === 1) return schema;
  const types = options.flatMap((option) => option.properties?.['type']?.const ?? []).map(String);
  const properties = Object.assign({}, ...options.map((option) => option.properties ?? {})) as Record<
    string,
    Schema
  >;
  if (types.length > 0)
    properties['type'] = { ...properties['type'], const: undefined, type: 'string', enum: types };
  return { ...schema, properties, items: options.find((option) => option.items)?.items };
}
