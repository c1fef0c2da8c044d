import * as z from 'zod/mini';
import { about } from './about.ts';
import type { Json } from './canonicalJson.ts';

/**
 * The schemas of a plugin's functions: a closed part of JSON Schema (draft 2020-12) that is checked by walking it, in
 * time that is bounded by a count of steps. There are no references, patterns or formats, so a schema from a stranger
 * can neither run code nor keep the engine busy. A keyword that is not listed here makes the manifest wrong: nothing is
 * silently left unchecked.
 */
export interface FunctionSchema {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly type?: SchemaType | readonly SchemaType[] | undefined;
  readonly enum?: readonly Scalar[] | undefined;
  readonly const?: Scalar | undefined;
  readonly properties?: Readonly<Record<string, FunctionSchema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly additionalProperties?: boolean | FunctionSchema | undefined;
  readonly items?: FunctionSchema | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMinimum?: number | undefined;
  readonly exclusiveMaximum?: number | undefined;
  readonly anyOf?: readonly FunctionSchema[] | undefined;
}

const schemaTypes = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'] as const;
export type SchemaType = (typeof schemaTypes)[number];
type Scalar = null | boolean | number | string;

/** Schemas within schemas, and schemas of one function's input or output together. */
const deepestSchema = 16;
const mostSchemas = 500;
/** Schemas met by values while one value is checked: some tens of milliseconds at most. */
const mostSteps = 1_000_000;
const longestPathShown = 200;

const name = z.string().check(z.maxLength(200));
const text = z.optional(z.string().check(z.maxLength(2000)));
const scalar = z.union([z.null(), z.boolean(), z.number(), name]);
const count = (description: string) => about(description, z.optional(z.int().check(z.nonnegative())));
const bound = (description: string) => about(description, z.optional(z.number()));
const type = z.enum(schemaTypes);

const schemaObject: z.ZodMiniType<FunctionSchema, Record<string, unknown>> = z.lazy(() =>
  z.strictObject({
    title: about('A name of the value, for people.', text.check()),
    description: about('What the value means, for people.', text.check()),
    type: about(
      'The type that the value has, or a list of types that it may have.',
      z.optional(z.union([type, z.array(type).check(z.minLength(1), z.maxLength(schemaTypes.length))])),
    ),
    enum: about('The values allowed.', z.optional(z.array(scalar).check(z.minLength(1), z.maxLength(200)))),
    const: about('The only value allowed.', z.optional(scalar)),
    properties: about('The members of an object by name.', z.optional(z.record(name, schemaObject))),
    required: about(
      'The names of members that must be there.',
      z.optional(z.array(name).check(z.maxLength(mostSchemas))),
    ),
    additionalProperties: about(
      'What other members are like. `false` allows none.',
      z.optional(z.union([z.boolean(), schemaObject])),
    ),
    items: about('What each entry of a list is like.', z.optional(schemaObject)),
    minItems: count('The smallest number of entries of a list.'),
    maxItems: count('The largest number of entries of a list.'),
    minLength: count('The smallest number of characters of a text.'),
    maxLength: count('The largest number of characters of a text.'),
    minimum: bound('The smallest number allowed.'),
    maximum: bound('The largest number allowed.'),
    exclusiveMinimum: bound('A number that the value is above.'),
    exclusiveMaximum: bound('A number that the value is below.'),
    anyOf: about(
      'Schemas of which at least one fits.',
      z.optional(z.array(schemaObject).check(z.minLength(1), z.maxLength(16))),
    ),
  }),
);

/** What stands at `input` and `output` of a function in `plugin.json`. `{}` takes any JSON. */
export const functionSchema = z.pipe(
  z.record(z.string(), z.unknown()).check(
    z.refine((value) => isSmall(value), {
      error: `A schema holds at most ${mostSchemas} schemas, ${deepestSchema} deep`,
    }),
  ),
  schemaObject,
);

/** Bounds the recursion of what parses it. Whatever else is wrong with it is left to that. */
function isSmall(root: unknown): boolean {
  let left = mostSchemas;
  const visit = (schema: unknown, depth: number): boolean => {
    if (!isObject(schema)) return true;
    if (depth > deepestSchema || --left < 0) return false;
    const { properties, items, additionalProperties, anyOf } = schema;
    const named = isObject(properties) ? properties : {};
    if (Object.hasOwn(named, '__proto__')) return false;
    const options: readonly unknown[] = Array.isArray(anyOf) ? anyOf : [];
    return [...Object.values(named), items, additionalProperties, ...options].every((inner) =>
      visit(inner, depth + 1),
    );
  };
  return visit(root, 1);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/**
 * The first thing of `value` that `schema` does not allow, as `place: what is wrong`; undefined where it fits. `root`
 * names the value in that text. The text holds keys of the value: it is data, shown escaped. A value that would take
 * too long to check does not fit.
 */
export function findMismatch(schema: FunctionSchema, value: Json, root: string): string | undefined {
  const check = new Check();
  const found = check.visit(schema, value, root);
  if (check.isSpent) return `${root}: has too many parts to be checked`;
  return found;
}

class Check {
  #left = mostSteps;

  get isSpent(): boolean {
    return this.#left < 0;
  }

  visit(schema: FunctionSchema, value: Json, place: string): string | undefined {
    if (--this.#left < 0) return 'spent';
    const wrong = wrongType(schema, value) ?? wrongScalar(schema, value);
    if (wrong !== undefined) return `${place.slice(0, longestPathShown)}: ${wrong}`;
    return (
      (isList(value) ? this.#list(schema, value, place) : undefined) ??
      (isRecord(value) ? this.#record(schema, value, place) : undefined) ??
      this.#anyOf(schema, value, place)
    );
  }

  #list(schema: FunctionSchema, value: readonly Json[], place: string): string | undefined {
    const { minItems = 0, maxItems = Infinity, items } = schema;
    if (value.length < minItems)
      return `${place}: has ${value.length} items, at least ${minItems} are needed`;
    if (value.length > maxItems)
      return `${place}: has ${value.length} items, at most ${maxItems} are allowed`;
    if (items === undefined) return undefined;
    for (const [at, item] of value.entries()) {
      const found = this.visit(items, item, `${place}[${at}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #record(schema: FunctionSchema, value: JsonRecord, place: string): string | undefined {
    const { properties = {}, required = [], additionalProperties = true } = schema;
    const missing = required.find((key) => !Object.hasOwn(value, key));
    if (missing !== undefined) return `${place}: "${missing}" is missing`;
    for (const key of Object.keys(value)) {
      const known = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
      if (known === true) continue;
      const member = `${place}.${key.slice(0, longestPathShown)}`;
      if (known === undefined || known === false) return `${member}: is not known here`;
      const found = this.visit(known, value[key] ?? null, member);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #anyOf(schema: FunctionSchema, value: Json, place: string): string | undefined {
    if (schema.anyOf === undefined) return undefined;
    let first: string | undefined;
    for (const option of schema.anyOf) {
      const found = this.visit(option, value, place);
      if (found === undefined) return undefined;
      first ??= found;
    }
    return schema.anyOf.length === 1 ? first : `${place}: fits none of ${schema.anyOf.length} shapes`;
  }
}

type JsonRecord = { readonly [key: string]: Json };

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isRecord(value: Json): value is JsonRecord {
  return typeof value === 'object' && value !== null && !isList(value);
}

function typeOf(value: Json): SchemaType {
  if (value === null) return 'null';
  if (isList(value)) return 'array';
  const kind = typeof value;
  return kind as 'boolean' | 'number' | 'string' | 'object';
}

function wrongType({ type: wanted }: FunctionSchema, value: Json): string | undefined {
  if (wanted === undefined) return undefined;
  const types = typeof wanted === 'string' ? [wanted] : wanted;
  const own = typeOf(value);
  const fits = types.some((each) => each === own || (each === 'integer' && Number.isInteger(value)));
  return fits ? undefined : `is ${own}, not ${types.join(' or ')}`;
}

function wrongScalar(schema: FunctionSchema, value: Json): string | undefined {
  if (schema.const !== undefined && value !== schema.const) return `is not ${JSON.stringify(schema.const)}`;
  if (schema.enum !== undefined && !schema.enum.some((each) => each === value)) {
    return `is none of ${JSON.stringify(schema.enum).slice(0, longestPathShown)}`;
  }
  if (typeof value === 'number') return wrongNumber(schema, value);
  return typeof value === 'string' ? wrongLength(schema, value) : undefined;
}

function wrongNumber(schema: FunctionSchema, value: number): string | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (!Number.isFinite(value)) return 'is not a finite number';
  if (minimum !== undefined && value < minimum) return `is ${value}, at least ${minimum} is needed`;
  if (maximum !== undefined && value > maximum) return `is ${value}, at most ${maximum} is allowed`;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    return `is ${value}, more than ${exclusiveMinimum} is needed`;
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    return `is ${value}, less than ${exclusiveMaximum} is needed`;
  return undefined;
}

/** JSON Schema counts code points. */
function wrongLength(
  { minLength = 0, maxLength = Infinity }: FunctionSchema,
  value: string,
): string | undefined {
  // No more code points than code units: most texts need no count.
  if (value.length <= maxLength && minLength === 0) return undefined;
  let length = 0;
  for (let at = 0; at < value.length; at += (value.codePointAt(at) ?? 0) > 0xffff ? 2 : 1) length++;
  if (length < minLength) return `has ${length} characters, at least ${minLength} are needed`;
  if (length > maxLength) return `has ${length} characters, at most ${maxLength} are allowed`;
  return undefined;
}
