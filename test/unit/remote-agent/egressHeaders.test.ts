import assert from 'node:assert/strict';
import { endToEndHeaders, headerFault } from '../../../remote-agent/src/egressHeaders.ts';

const target = { host: 'allowed.com', isAddress: false, port: 80 };

describe('egressHeaders', () => {
  const fine: string[][] = [
    [],
    ['Host', 'allowed.com'],
    ['host', 'ALLOWED.com:80'],
    ['Host', 'allowed.com', 'Content-Length', '12'],
    ['Host', 'allowed.com', 'Transfer-Encoding', 'Chunked'],
  ];
  for (const raw of fine) {
    it(`takes ${raw.join(' ') || 'none'}`, () => assert.equal(headerFault(raw, target), undefined));
  }

  const unsafe: [title: string, raw: string[]][] = [
    ['another host', ['Host', 'evil.com']],
    ['another port', ['Host', 'allowed.com:8080']],
    ['a host below the target', ['Host', 'a.allowed.com']],
    ['an empty host', ['Host', '']],
    ['two hosts', ['Host', 'allowed.com', 'host', 'evil.com']],
    ['the same host twice', ['Host', 'allowed.com', 'Host', 'allowed.com']],
    ['a host with a user name', ['Host', 'evil.com@allowed.com']],
    ['two lengths', ['Content-Length', '1', 'content-length', '2']],
    ['the same length twice', ['Content-Length', '1', 'Content-Length', '1']],
    ['a list of lengths', ['Content-Length', '1, 1']],
    ['a signed length', ['Content-Length', '+1']],
    ['a hexadecimal length', ['Content-Length', '0x1']],
    ['a length and chunks', ['Content-Length', '1', 'Transfer-Encoding', 'chunked']],
    ['two encodings', ['Transfer-Encoding', 'gzip, chunked']],
    ['an unknown encoding', ['Transfer-Encoding', 'identity']],
    ['an encoding that is hidden', ['Transfer-Encoding', 'xchunked']],
    ['the same encoding twice', ['Transfer-Encoding', 'chunked', 'Transfer-Encoding', 'chunked']],
    ['a WebSocket', ['Connection', 'Upgrade', 'Upgrade', 'websocket']],
    ['HTTP/2 in the clear', ['Upgrade', 'h2c']],
  ];
  for (const [title, raw] of unsafe) {
    it(`[EGRESS-05] refuses ${title}`, () => assert.equal(typeof headerFault(raw, target), 'string'));
  }

  it('[EGRESS-05] passes on what belongs to the message and nothing of the connection', () => {
    const raw = [
      ...[
        'Host',
        'allowed.com',
        'Connection',
        'close, X-Mine',
        'X-Mine',
        'secret',
        'Proxy-Authorization',
        'Basic x',
      ],
      ...[
        'Proxy-Connection',
        'keep-alive',
        'Keep-Alive',
        '5',
        'TE',
        'trailers',
        'Trailer',
        'X',
        'Expect',
        '100-continue',
      ],
      ...[
        'Transfer-Encoding',
        'chunked',
        'Upgrade',
        'x',
        'Accept',
        'a',
        'accept',
        'b',
        'Authorization',
        'Bearer y',
      ],
    ];
    assert.deepEqual(endToEndHeaders(raw), [
      ['Host', 'allowed.com'],
      ['Accept', 'a'],
      ['accept', 'b'],
      ['Authorization', 'Bearer y'],
    ]);
  });

  it('[EGRESS-05] keeps the length that frames a body whatever Connection names', () => {
    assert.deepEqual(endToEndHeaders(['Connection', 'Content-Length', 'Content-Length', '5']), [
      ['Content-Length', '5'],
    ]);
  });
});
