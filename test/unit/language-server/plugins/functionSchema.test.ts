import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Json } from '../../../../protocol/src/canonicalJson.ts';
import {
  findMismatch,
  functionSchema,
  type FunctionSchema,
} from '../../../../protocol/src/functionSchema.ts';
import { toPlainJson } from '../../../../protocol/src/plainJson.ts';

const person: FunctionSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 5 },
    age: { type: 'integer', minimum: 0, exclusiveMaximum: 150 },
    tags: { type: 'array', items: { enum: ['a', 'b', 1, null] }, minItems: 1, maxItems: 2 },
    more: { anyOf: [{ type: 'null' }, { const: 'x' }] },
  },
  required: ['name'],
  additionalProperties: false,
};

describe('functionSchema', () => {
  const table: readonly (readonly [FunctionSchema, Json, RegExp | undefined])[] = [
    [{}, { any: ['thing', null] }, undefined],
    [person, { name: 'Ada' }, undefined],
    [person, { name: 'Ada', age: 36, tags: ['a', null], more: 'x' }, undefined],
    [person, {}, /^input: "name" is missing$/],
    [person, { name: '' }, /^input\.name: has 0 characters, at least 1/],
    [person, { name: 'abcdef' }, /^input\.name: has 6 characters, at most 5/],
    [person, { name: '😀😀😀😀😀' }, undefined],
    [person, { name: 'Ada', age: 1.5 }, /^input\.age: is number, not integer$/],
    [person, { name: 'Ada', age: -1 }, /at least 0/],
    [person, { name: 'Ada', age: 150 }, /less than 150/],
    [person, { name: 'Ada', tags: [] }, /has 0 items/],
    [person, { name: 'Ada', tags: ['a', 'b', 'a'] }, /has 3 items/],
    [person, { name: 'Ada', tags: ['a', 'c'] }, /^input\.tags\[1\]: is none of/],
    [person, { name: 'Ada', more: 'y' }, /^input\.more: fits none of 2 shapes$/],
    [person, { name: 'Ada', constructor: 1 }, /^input\.constructor: is not known here$/],
    [person, JSON.parse('{"name":"Ada","__proto__":{}}') as Json, /^input\.__proto__: is not known here$/],
    [person, [], /^input: is array, not object$/],
    [person, null, /^input: is null, not object$/],
    [{ type: ['string', 'null'] }, null, undefined],
    [{ type: ['string', 'null'] }, 1, /is number, not string or null/],
    [{ type: 'number' }, 1e308, undefined],
    [{ exclusiveMinimum: 1 }, 1, /more than 1/],
    [{ maximum: 1 }, 2, /at most 1/],
    [{ additionalProperties: { type: 'number' } }, { a: 1, b: 'x' }, /^input\.b: is string/],
    [{ required: ['toString'] }, {}, /"toString" is missing/],
    [{ anyOf: [{ type: 'string' }], minLength: 2 }, 'x', /at least 2/],
  ];
  for (const [schema, value, wrong] of table)
    it(`[PLUG-07] ${JSON.stringify(value).slice(0, 60)} against ${JSON.stringify(schema).slice(0, 40)}: ${wrong?.source ?? 'fits'}`, () => {
      const parsed = functionSchema.parse(schema);
      const found = findMismatch(parsed, toPlainJson(value, 10), 'input');
      if (wrong === undefined) assert.equal(found, undefined);
      else assert.match(found ?? '(fits)', wrong);
    });

  const refused: readonly unknown[] = [
    { pattern: '(a+)+$' },
    { format: 'email' },
    { $ref: '#' },
    { $ref: 'https://example.org/schema.json' },
    { allOf: [{}] },
    { oneOf: [{}] },
    { not: {} },
    { default: 1 },
    { patternProperties: { '^x': {} } },
    { type: 'date' },
    { type: [] },
    { enum: [] },
    { enum: [{}] },
    { minLength: -1 },
    { items: [{}] },
    { items: { properties: { a: { pattern: 'x' } } } },
    { anyOf: [] },
    { additionalProperties: 'no' },
    true,
    [],
    null,
    'object',
    nested(17),
    nested(100_000),
    JSON.parse('{"properties":{"__proto__":{}}}'),
    { properties: Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`p${at}`, {}])) },
  ];
  for (const schema of refused)
    it(`[PLUG-07] is not: ${describeSchema(schema)}`, () =>
      assert.equal(functionSchema.safeParse(schema).success, false));

  it('[PLUG-07] takes a schema that is as deep as allowed', () =>
    assert.equal(functionSchema.safeParse(nested(15)).success, true));

  it('[PLUG-07] gives up on a value that would take too long, and refuses it', () => {
    const list = (rows: number): Json =>
      Array.from({ length: rows }, () => Array.from({ length: 1000 }, () => 1));
    const schema: FunctionSchema = { items: { items: {} } };
    assert.equal(findMismatch(schema, list(500), 'input'), undefined);
    assert.equal(findMismatch(schema, list(1500), 'input'), 'input: has too many parts to be checked');
    assert.equal(
      findMismatch({}, list(1500), 'input'),
      undefined,
      'nothing is looked at where anything fits',
    );
  });

  it('[PLUG-07] never throws and always ends, for any schema and any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (schema, value) => {
        const parsed = functionSchema.safeParse(schema);
        if (parsed.success) findMismatch(parsed.data, toPlainJson(value, 1000), 'input');
      }),
    );
  });
});

function nested(levels: number): unknown {
  let schema: unknown = {};
  for (let level = 0; level < levels; level++) schema = { items: schema };
  return schema;
}

function describeSchema(schema: unknown): string {
  try {
    return JSON.stringify(schema).slice(0, 60);
  } catch {
    return '(too deep to show)';
  }
}
