import assert from 'node:assert/strict';
import {
  failureKinds,
  failureText,
  parseRetryAfter,
  ProviderFailure,
  toFailure,
  toStatusFailure,
} from '../../../../../language-server/src/agent/providers/failures.ts';

const now = () => Date.parse('2026-01-01T00:00:00Z');

describe('failures of a provider', () => {
  it('have words of their own', () => {
    const texts = failureKinds.map((kind) => failureText(new ProviderFailure(kind, ''), 'Name'));
    assert.equal(new Set(texts).size, failureKinds.length);
    for (const text of texts) assert.match(text, /Name|conversation/);
  });

  const waits: readonly (readonly [Record<string, string>, number | null])[] = [
    [{}, null],
    [{ 'retry-after': '3' }, 3000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:10 GMT' }, 10_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '-5' }, null],
    [{ 'retry-after-ms': '120', 'retry-after': '3' }, 120],
  ];
  for (const [headers, ms] of waits) {
    it(`reads ${JSON.stringify(headers)} as ${ms}`, () => {
      const parsed = parseRetryAfter(headers, now);
      if (headers['retry-after'] === '-5') assert.ok(parsed === null || parsed === 0);
      else assert.equal(parsed, ms);
    });
  }

  it('are told by their status', () => {
    const kinds = [401, 403, 404, 413, 429, 500, 502, 503, 529, 302].map(
      (status) => toStatusFailure(status, {}, '').kind,
    );
    assert.deepEqual(kinds, [
      'key',
      'key',
      'rejected',
      'too-long',
      'rate-limit',
      'server',
      'server',
      'overloaded',
      'overloaded',
      'not-an-api',
    ]);
  });

  it('are told by what a stream says', () => {
    assert.equal(
      toFailure({ type: 'error', error: { type: 'overloaded_error', message: 'x' } }).kind,
      'overloaded',
    );
    assert.equal(toFailure({ type: 'rate_limit_error', message: 'x' }).kind, 'rate-limit');
    assert.equal(toFailure({ error: { type: 'api_error', message: 'x' } }).kind, 'server');
    assert.equal(toFailure(new Error('x', { cause: new ProviderFailure('cut', '') })).kind, 'cut');
    assert.equal(toFailure('nonsense').kind, 'malformed');
  });

  it('show what a provider says short and escaped', () => {
    const { detail } = toStatusFailure(400, {}, JSON.stringify({ message: `\u001B[31m${'x'.repeat(5000)}` }));
    assert.ok(detail.length <= 300);
    assert.match(detail, /^\\u\{1B\}\[31mxxx/);
  });
});
