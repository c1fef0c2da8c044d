import assert from 'node:assert/strict';
import { toErrorData } from '../../../protocol/src/errors.ts';

describe('toErrorData', () => {
  it('keeps what an error may carry, and nothing else of what a peer sends', () => {
    const data = { path: 'a', count: 1, isLocked: true, paths: ['a', 'b'] };
    assert.deepEqual(toErrorData(data), data);
    assert.deepEqual(toErrorData({ ...data, deep: { a: 1 }, none: null, mixed: ['a', 1] }), data);
    for (const value of [undefined, null, 'text', 1]) assert.deepEqual(toErrorData(value), {});
  });
});
