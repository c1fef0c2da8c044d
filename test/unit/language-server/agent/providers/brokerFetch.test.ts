import assert from 'node:assert/strict';
import { UserError } from '../../../../../protocol/src/errors.ts';
import {
  createBrokerFetch,
  placeholderOrigin,
  type BrokerWatch,
} from '../../../../../language-server/src/agent/providers/brokerFetch.ts';
import { ProviderFailure } from '../../../../../language-server/src/agent/providers/failures.ts';
import type { PersonSide } from '../../../../../language-server/src/agent/providers/personSide.ts';

interface Wire {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly pieces?: readonly (string | Error)[];
  readonly open?: Error;
}

/** A person's side that answers one request with these pieces and counts what is asked of it. */
function wireOf({ status = 200, headers = {}, pieces = [], open }: Wire) {
  const asked: { method: string; params: unknown }[] = [];
  const left = [...pieces];
  const person = {
    ask: async (method: string, params: unknown) => {
      asked.push({ method, params });
      if (method === 'provider/open') {
        if (open) throw open;
        return { stream: 's', status, headers };
      }
      if (method === 'provider/close') return null;
      const piece = left.shift();
      if (piece instanceof Error) throw piece;
      return { base64: Buffer.from(piece ?? '').toString('base64'), done: piece === undefined };
    },
  } as unknown as PersonSide;
  const seen = { sent: [] as unknown[], status: 0, bytes: 0, tail: null as string | null };
  const watch: BrokerWatch = {
    sent: (request) => seen.sent.push(request),
    answered: (given) => {
      seen.status = given;
    },
    received: (bytes) => {
      seen.bytes += bytes;
    },
    ended: (tail) => {
      seen.tail = tail;
    },
  };
  const count = (method: string) => asked.filter((each) => each.method === method).length;
  return { fetch: createBrokerFetch(person, 'c', watch), asked, seen, count };
}

const address = `${placeholderOrigin}/chat/completions`;

describe('the fetch that asks the person’s side', () => {
  it('sends the path and a short list of headers, never a key', async () => {
    const { fetch, asked, seen } = wireOf({ pieces: ['ok'] });
    const response = await fetch(address, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        authorization: 'Bearer placeholder',
        'x-api-key': 'placeholder',
        'api-key': 'placeholder',
        cookie: 'a=b',
        'user-agent': 'ai-sdk/1',
        'anthropic-version': '2023-06-01',
      },
      body: '{"a":1}',
    });
    assert.equal(await response.text(), 'ok');
    assert.deepEqual(asked[0]!.params, {
      connection: 'c',
      path: 'chat/completions',
      headers: { 'anthropic-version': '2023-06-01', 'content-type': 'application/json' },
      body: '{"a":1}',
    });
    assert.deepEqual(seen, {
      sent: [{ path: 'chat/completions', body: '{"a":1}' }],
      status: 200,
      bytes: 2,
      tail: 'ok',
    });
  });

  it('goes to no other address', async () => {
    const { fetch, count } = wireOf({});
    for (const url of ['https://api.example/messages', 'http://connection.invalid/messages'])
      await assert.rejects(fetch(url, { method: 'POST', body: '' }), /not the connection’s/);
    assert.equal(count('provider/open'), 0);
  });

  it('pulls one piece at a time, and none that nobody reads', async () => {
    const { fetch, count } = wireOf({ pieces: ['a', 'b', 'c'] });
    const reader = (await fetch(address, { method: 'POST', body: '' })).body!.getReader();
    assert.equal(count('provider/read'), 0);
    assert.equal(Buffer.from((await reader.read()).value!).toString(), 'a');
    assert.equal(count('provider/read'), 1);
    await reader.cancel();
    assert.equal(count('provider/close'), 1);
    assert.equal(count('provider/read'), 1);
  });

  it('refuses a body that fits no message', async () => {
    const { fetch, count } = wireOf({});
    await assert.rejects(
      fetch(address, { method: 'POST', body: 'x'.repeat(8 * 1024 * 1024) }),
      (error) => error instanceof ProviderFailure && error.kind === 'too-long',
    );
    assert.equal(count('provider/open'), 0);
  });

  const failures: readonly (readonly [string, Wire, string, RegExp])[] = [
    [
      'an error in JSON',
      { status: 400, pieces: ['{"error":{"message":"Bad model\u202E"}}'] },
      'rejected',
      /Bad model\\u\{202E\}/,
    ],
    ['an error in words', { status: 502, pieces: ['Bad gateway'] }, 'server', /Bad gateway/],
    ['a page', { headers: { 'content-type': 'text/html' } }, 'not-an-api', /^$/],
    [
      'a context that is full',
      { status: 400, pieces: ['{"error":"prompt is too long"}'] },
      'too-long',
      /too long/,
    ],
    [
      'no connection',
      { open: new UserError('not-found', 'No key is saved') },
      'connection',
      /No key is saved/,
    ],
    ['no network', { open: new UserError('closed', 'ENOTFOUND') }, 'network', /ENOTFOUND/],
  ];
  for (const [name, wire, kind, detail] of failures) {
    it(`tells ${name} apart and leaves nothing open`, async () => {
      const { fetch, count } = wireOf(wire);
      await assert.rejects(fetch(address, { method: 'POST', body: '' }), (error) => {
        assert.ok(error instanceof ProviderFailure);
        assert.equal(error.kind, kind);
        assert.match(error.detail, detail);
        return true;
      });
      assert.ok(wire.open || count('provider/close') === 1 || count('provider/read') > 0);
    });
  }

  it('calls a stream that breaks cut', async () => {
    const { fetch } = wireOf({ pieces: ['a', new UserError('closed', 'gone')] });
    const response = await fetch(address, { method: 'POST', body: '' });
    await assert.rejects(
      response.text(),
      (error) => error instanceof ProviderFailure && error.kind === 'cut',
    );
  });
});
