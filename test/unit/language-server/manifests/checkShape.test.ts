import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as z from 'zod/mini';
import { cardManifest } from '../../../../protocol/src/manifests.ts';
import { checkCardText } from '../../../../language-server/src/manifests/checkManifest.ts';

const sound = {
  version: 1,
  title: 'Monthly means',
  runtime: 'python',
  entry: 'main.py',
  inputs: { weather: { type: 'table', from: 'load/weather' }, more: { type: 'json', optional: true } },
  outputs: { monthly: { type: 'table' }, chart: { type: 'vega-lite', description: 'x' } },
  params: {
    year: { type: 'integer', default: 2012, minimum: 2012, maximum: 2015 },
    share: { type: 'number', default: 0.5 },
    name: { type: 'string', default: 'x', maxLength: 3 },
    on: { type: 'boolean', default: true },
    pick: { type: 'choice', default: 'a', choices: ['a', 'b'] },
  },
  limits: { seconds: 60, memoryMB: 512 },
  permissions: {
    network: ['api.example.org:443'],
    sandbox: true,
    hostFolders: [{ path: '~/data', name: 'data', write: false }],
    environmentSources: ['tools'],
    executionService: 'local',
    vault: [{ item: 'db', field: 'password', env: 'DB_PASSWORD' }],
  },
  view: { output: 'chart' },
};

/** Every path of an object or list inside a value, with `path` itself. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, member]) => pathsOf(member, [...path, key]))];
}

function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === key ? replaced(item, rest, by) : (item as unknown)));
  const record = value as Readonly<Record<string, unknown>>;
  return { ...record, [key]: replaced(record[key], rest, by) };
}

describe('checkShape', () => {
  const words = fc.constantFrom(
    'version',
    'type',
    'table',
    'a/b',
    'A',
    '1',
    '',
    'true',
    'x'.repeat(300),
    'API.example.org',
    '*.com',
  );
  const change = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    words,
    fc.dictionary(words, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
  );

  it('finds an explanation of its own for whatever the schema refuses [MAN-07]', () => {
    fc.assert(
      fc.property(fc.constantFrom(...pathsOf(sound)), change, (path, by) => {
        const text = JSON.stringify(replaced(sound, path, by));
        const fits = z.safeParse(cardManifest, JSON.parse(text)).success;
        const { manifest, problems } = checkCardText(text);
        const errors = problems.filter((each) => each.severity === 'error');
        if (!fits) {
          assert.equal(manifest, null);
          assert.ok(errors.length > 0, text);
          assert.deepEqual(
            errors.filter((each) => each.code === 'does-not-fit'),
            [],
            text,
          );
        } else {
          assert.deepEqual(manifest, JSON.parse(text));
          const shape = errors.filter((each) =>
            [
              'unknown-key',
              'missing-key',
              'wrong-type',
              'out-of-range',
              'bad-id',
              'not-one-of',
              'too-short',
              'bad-wire',
            ].includes(each.code),
          );
          assert.deepEqual(shape, [], text);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('places every problem inside the text', () => {
    fc.assert(
      fc.property(fc.constantFrom(...pathsOf(sound)), change, fc.nat(8), (path, by, indent) => {
        const text = JSON.stringify(replaced(sound, path, by), null, indent);
        for (const { start, end, fix } of checkCardText(text).problems) {
          assert.ok(start >= 0 && start <= end && end <= text.length);
          if (fix) assert.ok(fix.start >= 0 && fix.start <= fix.end && fix.end <= text.length);
        }
      }),
    );
  });

  it('leaves JSON after every quick fix [MAN-03]', () => {
    fc.assert(
      fc.property(fc.constantFrom(...pathsOf(sound)), change, fc.constantFrom(0, 2), (path, by, indent) => {
        const text = JSON.stringify(replaced(sound, path, by), null, indent);
        for (const { fix, code } of checkCardText(text).problems) {
          if (!fix) continue;
          const mended = text.slice(0, fix.start) + fix.text + text.slice(fix.end);
          assert.doesNotThrow(() => JSON.parse(mended) as unknown, `${code}: ${mended}`);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
