import assert from 'node:assert/strict';
import fc from 'fast-check';
import { NotPlain, parsePlainJson, toPlainJson } from '../../../../protocol/src/plainJson.ts';

describe('plainJson', () => {
  it('[PLUG-06] objects have no prototype, and __proto__ is a key like any other', () => {
    const value = parsePlainJson(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
      8,
    );
    assert.equal(Object.getPrototypeOf(value), null);
    assert.deepEqual(Object.keys(value as object), ['__proto__', 'constructor']);
    const merged = Object.assign({}, JSON.parse(JSON.stringify(value))) as Record<string, unknown>;
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
    assert.ok(merged['constructor']);
  });

  it('[PLUG-06] control: what JSON.parse gives hands its prototype to a careless copy', () => {
    const careless = (value: object): Record<string, unknown> => {
      const copy: Record<string, unknown> = {};
      for (const [key, member] of Object.entries(value)) copy[key] = member;
      return copy;
    };
    const text = '{"__proto__":{"admin":true}}';
    assert.equal(careless(JSON.parse(text) as object)['admin'], true, 'the attack works on a plain object');
    const copy = toPlainJson(JSON.parse(text), 8) as Record<string, unknown>;
    assert.equal(copy['admin'], undefined);
  });

  const refused: readonly (readonly [string, unknown])[] = [
    ['a function', () => 1],
    ['undefined', undefined],
    ['a bigint', 1n],
    ['a symbol', Symbol('x')],
    ['an endless number', JSON.parse('1e999')],
    ['not a number', Number.NaN],
    ['a circle', circle()],
  ];
  for (const [what, value] of refused)
    it(`[PLUG-06] does not take ${what}`, () => assert.throws(() => toPlainJson(value, 32), NotPlain));

  const broken = [
    '',
    '{',
    "{'a':1}",
    '1 2',
    'NaN',
    '[1,]',
    '1e999',
    '['.repeat(33) + ']'.repeat(33),
    '{"a":'.repeat(100_000),
  ];
  for (const text of broken)
    it(`[PLUG-06] refuses the text ${text.slice(0, 20)}`, () =>
      assert.throws(() => parsePlainJson(text, 32), NotPlain));

  it('brackets within texts are not depth', () => {
    const text = JSON.stringify({ a: '[[[[{{{{"\\' });
    assert.deepEqual({ ...(parsePlainJson(text, 1) as object) }, { a: '[[[[{{{{"\\' });
  });

  it('gives what JSON.parse gives', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const text = JSON.stringify(value);
        assert.equal(JSON.stringify(parsePlainJson(text, 32)), text);
      }),
    );
  });
});

function circle(): unknown {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}
