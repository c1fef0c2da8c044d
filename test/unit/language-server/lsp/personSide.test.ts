import assert from 'node:assert/strict';
import { LSPErrorCodes, ResponseError, type CancellationToken } from 'vscode-languageserver';
import { UserError } from '../../../../protocol/src/errors.ts';
import { createPersonSide } from '../../../../language-server/src/lsp/personSide.ts';

/** A person's side whose extension answers with this. */
function sideOf(answer: (params: unknown, token: CancellationToken) => unknown) {
  return createPersonSide({
    sendRequest: async (_, params, token) => answer(params, token),
  });
}

const read = { stream: 's' };

describe('the person’s side over LSP', () => {
  it('gives what the contract allows and refuses the rest', async () => {
    const bytes = { base64: 'AA==', done: true };
    assert.deepEqual(await sideOf(() => bytes).ask('provider/read', read), bytes);
    await assert.rejects(
      sideOf(() => ({ ...bytes, key: 'x' })).ask('provider/read', read),
      (error) => error instanceof UserError && error.code === 'bad-message',
    );
  });

  it('throws the error that was thrown there', async () => {
    const cases: readonly (readonly [unknown, string])[] = [
      [
        new ResponseError(LSPErrorCodes.RequestFailed, 'No key', { code: 'not-found', data: { a: 1 } }),
        'not-found',
      ],
      [new ResponseError(LSPErrorCodes.RequestCancelled, 'Gone'), 'cancelled'],
      [new Error('The pipe broke'), 'closed'],
      [new ResponseError(1, 'Odd', { code: 'made-up' }), 'closed'],
    ];
    for (const [thrown, code] of cases) {
      const side = sideOf(() => {
        throw thrown;
      });
      await assert.rejects(
        side.ask('provider/read', read),
        (error) => error instanceof UserError && error.code === code,
      );
    }
  });

  it('cancels over there what is aborted here', async () => {
    const controller = new AbortController();
    let cancelled = 0;
    const side = sideOf(
      (_, token) =>
        new Promise((_done, fail) => {
          token.onCancellationRequested(() => {
            cancelled++;
            fail(new ResponseError(LSPErrorCodes.RequestCancelled, 'Cancelled'));
          });
        }),
    );
    const asked = side.ask('provider/read', read, controller.signal);
    controller.abort();
    await assert.rejects(asked, (error) => error instanceof UserError && error.code === 'cancelled');
    assert.equal(cancelled, 1);
    await assert.rejects(side.ask('provider/read', read, controller.signal), /cancelled/);
    assert.equal(cancelled, 1, 'nothing is asked that was aborted before');
  });
});
