import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { serveVsock } from '../../../../remote-agent/src/guest/vsockPorts.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

const python = '/usr/bin/python3';

/** The relay that accepts the host's connections is the one of a VM; Unix sockets stand in for vsock's. */
describe('ports of a VM to which the host connects', function () {
  const folder = useTemporaryFolder();
  const open: Socket[] = [];
  const stop: (() => void)[] = [];

  before(function () {
    if (existsSync(python)) return;
    console.log('      skipped: no /usr/bin/python3 on this machine');
    this.skip();
  });
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy();
    for (const each of stop.splice(0)) each();
  });

  async function serve() {
    const stopped = new AbortController();
    stop.push(() => stopped.abort());
    const lines: string[] = [];
    const ended = serveVsock(
      (['control', 'bulk'] as const).map((kind) => ({
        kind,
        accept: (line: string) => {
          lines.push(line);
          return Promise.resolve(line.startsWith('open') ? `opened ${kind}\n` : undefined);
        },
        onStream: (stream) => void stream.pipe(stream),
      })),
      {
        folder: join(folder(), 'ports'),
        placeOf: (kind) => join(folder(), `host-${kind}`),
        python,
        stop: stopped.signal,
      },
    ).catch((error: unknown) => error);
    await until(() => existsSync(join(folder(), 'host-bulk')));
    return { lines, ended, end: () => stopped.abort() };
  }
  async function use(kind: string, text: string): Promise<Socket> {
    const socket = connect(join(folder(), `host-${kind}`));
    open.push(socket);
    socket.on('error', () => undefined);
    socket.write(text);
    return Promise.resolve(socket);
  }
  async function all(socket: Socket): Promise<string> {
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await once(socket, 'close');
    return text;
  }

  it('answers the opening of each connection, and then passes bytes both ways to the end', async () => {
    const { lines } = await serve();
    const bulk = await use('bulk', 'open bulk\nfirst ');
    bulk.end('x'.repeat(1_000_000));
    const text = await all(bulk);
    assert.equal(text.slice(0, 18), 'opened bulk\nfirst ');
    assert.equal(text.length, 18 + 1_000_000);
    const control = await use('control', 'open control\n');
    control.end('again');
    assert.equal(await all(control), 'opened control\nagain');
    assert.deepEqual(lines, ['open bulk', 'open control']);
  });

  for (const [what, text] of [
    ['something else', 'GET / HTTP/1.0\n\n'],
    ['a line without an end', 'x'.repeat(5000)],
  ] as const)
    it(`closes a connection that begins with ${what}`, async () => {
      await serve();
      assert.equal(await all(await use('control', text)), '');
    });

  it('ends with its relay', async () => {
    const { ended, end } = await serve();
    end();
    assert.match(String(await ended), /relay/);
  });
});
