import type { Schema } from './schema.ts';

const byKey: Readonly<Record<string, string>> = {
  title: '"Untitled"',
  name: '"untitled"',
  runtime: '"python"',
  entry: '"main.py"',
  cards: '["cards/*"]',
  file: '"sources/file"',
  path: '"~/folder"',
  item: '"item"',
  field: '"field"',
  env: '"VARIABLE"',
};

/** JSON text for a key that a person is about to fill in: the only value, the usual one, or an empty one. */
export function placeholder(key: string, schema: Schema | undefined): string {
  const [example] = schema?.examples ?? [];
  if (example !== undefined) return JSON.stringify(example);
  const usual = byKey[key];
  if (usual !== undefined && Object.hasOwn(byKey, key)) return usual;
  if (schema?.const !== undefined) return JSON.stringify(schema.const);
  if (schema?.enum) return JSON.stringify(schema.enum[0]);
  switch (schema?.type) {
    case 'object':
      return '{}';
    case 'array':
      return '[]';
    case 'integer':
    case 'number':
      return String(Math.max(schema.minimum ?? 0, (schema.exclusiveMinimum ?? -1) + 1, 0));
    case 'boolean':
      return 'false';
    default: {
      const [first] = schema?.anyOf ?? schema?.oneOf ?? [];
      return first ? placeholder(key, first) : '""';
    }
  }
}
