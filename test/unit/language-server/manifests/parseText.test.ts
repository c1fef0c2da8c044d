import assert from 'node:assert/strict';
import fc from 'fast-check';
import { checkCardText } from '../../../../language-server/src/manifests/checkManifest.ts';
import { deepestNesting, parseText } from '../../../../language-server/src/manifests/parseText.ts';
import { mostProblems } from '../../../../language-server/src/manifests/problem.ts';

const codesOf = (text: string) => parseText(text).problems.map((each) => each.code);

describe('parseText', () => {
  it('gives the value of JSON that every parser reads alike', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom('', '\n', '\r\n\t '), (json, space) => {
        const { value, problems } = parseText(space + json + space);
        if (problems.length === 0) assert.deepEqual(value, JSON.parse(json));
        else assert.equal(value, undefined);
      }),
    );
  });

  it('never throws, and takes nothing for sound that JSON.parse refuses', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '1',
      '01',
      '-',
      'null',
      'tru',
      '//',
      '/*',
      '*/',
      ' ',
      '\n',
      '\\',
      '\u2028',
      '\u00a0',
      '\0',
      '\ud800',
      "'",
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        const text = parts.join('');
        const { problems, value } = parseText(text);
        if (problems.length > 0) return;
        assert.deepEqual(value, JSON.parse(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('finds a key that comes twice under another spelling', () => {
    assert.deepEqual(codesOf('{ "a": 1, "\\u0061": 2 }'), ['duplicate-key']);
  });

  it('bounds nesting, also where a comment would hide it', () => {
    const within = '['.repeat(deepestNesting) + ']'.repeat(deepestNesting);
    assert.deepEqual(codesOf(within), []);
    assert.deepEqual(codesOf(`[${within}]`), ['too-deep']);
    for (const text of [
      '['.repeat(500_000),
      '{"a":'.repeat(200_000),
      `/*"*/${'['.repeat(200_000)}`,
      `//"\n${'[{"a":'.repeat(100_000)}`,
    ]) {
      assert.deepEqual(codesOf(text), ['too-deep']);
    }
  });

  it('stays within its bounds for a hundred thousand keys, problems and strings', () => {
    const keys = Array.from({ length: 100_000 }, (_, index) => `"key${index}":${index}`).join(',');
    const { problems, manifest } = checkCardText(`{${keys}}`);
    assert.equal(manifest, null);
    assert.equal(problems.length, mostProblems + 1);
    assert.equal(problems.at(-1)?.code, 'too-many-problems');
    assert.equal(checkCardText(`{${'"a":1,'.repeat(100_000)}"a":1}`).problems.length, mostProblems + 1);
    assert.equal(checkCardText(`{${','.repeat(100_000)}}`).manifest, null);
    assert.equal(checkCardText(`{"title":"${'\\u0000'.repeat(100_000)}"}`).manifest, null);
    assert.equal(checkCardText('/**/'.repeat(100_000)).manifest, null);
    const choices = Array.from({ length: 100_000 }, (_, index) => `c${index}`);
    const pick = { type: 'choice', default: 'x', choices };
    assert.equal(checkCardText(JSON.stringify({ params: { pick } })).manifest, null);
  });

  it('does not let a key of a prototype through, wherever it stands', () => {
    for (const key of ['__proto__', 'constructor', 'prototype', '\\u005f_proto__']) {
      for (const text of [
        `{"${key}":{"network":true}}`,
        `{"version":1,"title":"a","runtime":"js","entry":"a.js","inputs":{"${key}":{"type":"json","optional":true}}}`,
        `{"version":1,"title":"a","runtime":"js","entry":"a.js","permissions":{"${key}":{"network":true}}}`,
      ]) {
        const { problems } = checkCardText(text);
        assert.ok(
          problems.some((each) => each.severity === 'error' && each.code === 'reserved-key'),
          text,
        );
      }
    }
    assert.equal(({} as { network?: unknown }).network, undefined);
  });
});
