import assert from 'node:assert/strict';
import { toUserError } from '../../../extension/src/engineErrors.ts';
import type { ErrorCode, ErrorData } from '../../../protocol/src/errors.ts';

describe('an error from the engine', () => {
  const rows: [what: string, error: unknown, code: ErrorCode, data?: ErrorData][] = [
    [
      'of ours',
      { code: -32000, message: 'm', data: { code: 'bad-project', data: { path: '/p' } } },
      'bad-project',
      { path: '/p' },
    ],
    ['of ours without data', { code: -32000, message: 'm', data: { code: 'conflict' } }, 'conflict'],
    ['with a code that is none', { code: -32000, message: 'm', data: { code: 'fine' } }, 'internal'],
    [
      'with data of other kinds',
      { code: -32000, message: 'm', data: { code: 'conflict', data: { a: {} } } },
      'internal',
    ],
    ['of JSON-RPC', { code: -32603, message: 'm' }, 'internal'],
    ['of a cancelled request', { code: -32800, message: 'm' }, 'cancelled'],
    ['of a lost process', { code: -32097, message: 'm' }, 'closed'],
    ['of a client that is not running', { code: -32096, message: 'm' }, 'closed'],
    ['of the stream', new Error('write EPIPE'), 'closed'],
    ['that is a text', 'x', 'closed'],
  ];
  for (const [what, error, code, data = {}] of rows) {
    it(`${what} becomes ${code}`, () => {
      const made = toUserError('run/start', error);
      assert.equal(made.code, code);
      assert.deepEqual(made.data, data);
    });
  }
});
