import assert from 'node:assert/strict';
import {
  CancellationTokenSource,
  LSPErrorCodes,
  ResponseError,
  type CancellationToken,
} from 'vscode-languageserver';
import { engineRequests, engineTold } from '../../../../protocol/src/engineContract.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { bindEngine, type EngineRequestHandlers } from '../../../../language-server/src/lsp/lspBinding.ts';

type Answer = (params: unknown, token: CancellationToken) => Promise<unknown>;

/** A connection that only remembers what was bound to it. */
function bind(handlers: Partial<EngineRequestHandlers>) {
  const requests = new Map<string, Answer>();
  const notifications = new Map<string, (params: unknown) => void>();
  const bad: string[] = [];
  const internal: string[] = [];
  const trusted: boolean[] = [];
  bindEngine({
    connection: {
      onRequest: (method, handler) => requests.set(method, handler),
      onNotification: (method, handler) => notifications.set(method, handler),
    },
    requests: () => Promise.resolve(handlers as EngineRequestHandlers),
    notifications: {
      'trust/set': (params) => void trusted.push(params.trusted),
      'connections/set': () => undefined,
      'vault/changed': () => undefined,
    },
    onBadMessage: (method) => bad.push(method),
    onInternalError: (method) => internal.push(method),
  });
  const ask = (method: string, params: unknown, token = new CancellationTokenSource().token) => {
    const handler = requests.get(method);
    assert.ok(handler, method);
    return handler(params, token);
  };
  return { ask, requests, notifications, bad, internal, trusted };
}

describe('bindEngine', () => {
  it('answers every request of the contract', () => {
    const { requests, notifications } = bind({});
    assert.deepEqual([...requests.keys()], Object.keys(engineRequests));
    assert.deepEqual([...notifications.keys()], Object.keys(engineTold));
  });

  it('parses before a handler sees anything', async () => {
    let calls = 0;
    const { ask, bad } = bind({ 'run/cancel': () => ({ found: ++calls > 0 }) });
    assert.deepEqual(await ask('run/cancel', { runId: 'r' }), { found: true });
    for (const params of [
      {},
      null,
      [],
      'r',
      { runId: 1 },
      { runId: 'r', more: 1 },
      JSON.parse('{ "__proto__": { "runId": "r" } }') as unknown,
    ]) {
      const answer = await ask('run/cancel', params);
      assert.ok(answer instanceof ResponseError);
      assert.deepEqual(answer.data, { code: 'bad-message', data: { method: 'run/cancel' } });
    }
    assert.equal(calls, 1);
    assert.equal(bad.length, 7);
  });

  it('carries a UserError across whole, and the rest as internal', async () => {
    const { ask, internal } = bind({
      'run/get': () => {
        throw new UserError('not-found', 'No such run', { runId: 'r' });
      },
      'run/why': () => Promise.reject(new Error('secret detail')),
    });
    const known = await ask('run/get', { runId: 'r' });
    assert.ok(known instanceof ResponseError);
    assert.deepEqual(
      [known.message, known.data],
      ['No such run', { code: 'not-found', data: { runId: 'r' } }],
    );
    const unknown = await ask('run/why', { runId: 'r', card: 'c' });
    assert.ok(unknown instanceof ResponseError);
    assert.deepEqual(unknown.data, { code: 'internal', data: {} });
    assert.deepEqual(internal, ['run/why']);
  });

  it('hands a cancellation on as an AbortSignal, also one that came before', async () => {
    const { ask } = bind({
      'run/dryRun': (_params, signal) =>
        new Promise((_done, fail) => {
          const stop = () => fail(new UserError('cancelled', 'Cancelled'));
          if (signal.aborted) stop();
          else signal.addEventListener('abort', stop, { once: true });
        }),
    });
    const source = new CancellationTokenSource();
    const answer = ask('run/dryRun', { root: '/x' }, source.token);
    source.cancel();
    for (const each of [answer, ask('run/dryRun', { root: '/x' }, source.token)]) {
      const error = await each;
      assert.ok(error instanceof ResponseError);
      assert.equal(error.code, LSPErrorCodes.RequestCancelled);
    }
  });

  it('hears good notifications only', () => {
    const { notifications, trusted, bad } = bind({});
    const hear = notifications.get('trust/set');
    for (const params of [{ trusted: true }, { trusted: 'true' }, null, { trusted: true, root: '/' }])
      hear?.(params);
    assert.deepEqual(trusted, [true]);
    assert.equal(bad.length, 3);
  });
});
