import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { schemas, type Schema } from '../../../../language-server/src/manifests/schema.ts';

const repository = resolve(import.meta.dirname, '../../../..');

/** Every schema below one, with the way to it; one that holds itself is entered once. */
function below(schema: Schema, path = '', above: readonly Schema[] = []): (readonly [string, Schema])[] {
  if (above.some(({ properties }) => properties && properties === schema.properties)) return [];
  const inside = [...above, schema];
  const members = Object.entries(schema.properties ?? {}).flatMap(([key, each]) =>
    below(each, `${path}/${key}`, inside),
  );
  const record =
    typeof schema.additionalProperties === 'object'
      ? below(schema.additionalProperties, `${path}/*`, inside)
      : [];
  const items = schema.items ? below(schema.items, `${path}[]`, inside) : [];
  const options = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((each) =>
    below(each, `${path}|`, inside),
  );
  return [[path, schema], ...members, ...record, ...items, ...options];
}

describe('the schemas', () => {
  it('in extension/schemas are those of protocol/src/manifests.ts', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/schemas.mjs', '--check'], {
      cwd: repository,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
  });

  for (const kind of ['project', 'card', 'app', 'plugin'] as const) {
    it(`describe every key of a ${kind} in a sentence`, () => {
      const keys = below(schemas[kind]).filter(([path]) => /\/[a-zA-Z$]+$/.test(path));
      assert.ok(keys.length > 5);
      for (const [path, { description }] of keys) assert.match(description ?? '', /^[A-Z`].*[.*`]$/, path);
    });

    it(`refuse unknown keys everywhere in a ${kind}`, () => {
      const text = readFileSync(resolve(repository, `extension/schemas/${kind}.schema.json`), 'utf8');
      for (const [path, each] of [...below(schemas[kind]), ...below(JSON.parse(text) as Schema)]) {
        if (each.type === 'object') assert.notEqual(each.additionalProperties ?? true, true, path);
      }
    });
  }
});
